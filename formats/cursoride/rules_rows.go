package cursoride

import (
	"crypto/sha256"
	"encoding/hex"
	"unicode/utf8"

	"rehome/formats/internal/linecheck"
	"rehome/formats/internal/sqlitepages"
	"rehome/formats/rule"
	"rehome/formats/store"
)

// judge looks at rows, for one goroutine.
type judge struct {
	teller
	b       *base
	text    bool // values are asked as text
	reader  linecheck.Values
	schemas map[string]rule.Validator
	buffer  []byte
}

// kindSchemas are the schemas of the rows that have one, by the family of
// their keys.
var kindSchemas = map[string]string{
	composerRow: "cursor-ide-composer-1", bubbleRow: "cursor-ide-bubble-1", checkpointRow: "cursor-ide-checkpoint-1",
	diffRow: "cursor-ide-diff-1", fateRow: "cursor-ide-fates-1", requestRow: "cursor-ide-request-1",
}

func newJudge(q *rule.Pass, b *base) *judge {
	j := &judge{teller: teller{q}, b: b, text: q.Enabled(rule.Container), schemas: map[string]rule.Validator{}}
	if q.Enabled(rule.Schema) {
		for family, name := range kindSchemas {
			j.schemas[family] = q.Schema(name)
		}
	}
	return j
}

func (j *judge) batch(p piled) {
	b := p.batch
	for i := range b.Rows() {
		key, value := b.Cell(i, 0), b.Cell(i, 1)
		at := store.Addr{File: j.b.file, Set: diskTable, RowID: b.RowID(i), HasID: true, Key: key}
		if key.Class != store.Text || !utf8.Valid(key.Bytes()) {
			if j.q.Enabled(rule.Meaning) {
				j.found("RH428", at, "", "")
			}
			continue
		}
		j.row(at, key.Bytes(), value, p.places[i])
	}
}

// row judges one row by the family of its key.
func (j *judge) row(at store.Addr, key []byte, value store.Cell, place sqlitepages.Place) {
	family := familyOf(key)
	switch family {
	case "":
		return
	case blobRow, contentRow:
		if j.q.Enabled(rule.References) {
			j.digest(family, at, key[len(family):], value, place)
		}
		return
	}
	if _, document := kindSchemas[family]; !document {
		return
	}
	doc := value.Bytes()
	if value.Class == store.Null || string(doc) == "null" {
		if j.q.Enabled(rule.References) && (family == composerRow || family == bubbleRow) {
			j.found("RH332", at, "", "")
		}
		return
	}
	if j.text && !j.reader.Ask(doc, at, j.q) {
		return
	}
	if !j.q.Enabled(rule.Schema) || family != bubbleRow && family != composerRow || !j.generation(at, family, doc) {
		j.q.Matches(j.schemas[family], doc, at, "")
	}
	if family == bubbleRow {
		j.bubbleRow(at, key[len(family):], doc)
	}
}

// families are the kinds of rows that are judged one by one.
var families = [...]string{bubbleRow, composerRow, blobRow, contentRow, checkpointRow, diffRow, fateRow, requestRow}

func familyOf(key []byte) string {
	for _, f := range families {
		if len(key) > len(f) && string(key[:len(f)]) == f {
			return f
		}
	}
	return ""
}

// digest holds a row whose key is the SHA-256 of its content against that.
func (j *judge) digest(family string, at store.Addr, id []byte, value store.Cell, place sqlitepages.Place) {
	want, ok := hashOf(id)
	if !ok || value.Class != store.Text && value.Class != store.Blob {
		return // composer.content. of other kinds: nothing is promised of them
	}
	content := value.Bytes()
	if family == contentRow {
		if sha256.Sum256(content) != want {
			j.found("RH340", at, "", "")
		}
		return
	}
	says := ""
	if value.Class == store.Text {
		j.buffer = grown(j.buffer, len(content)/2+1)
		n, err := hex.Decode(j.buffer, content)
		if content = j.buffer[:n]; err != nil {
			says = "not hexadecimal"
		}
	} else if len(content) == 1 && content[0] == 0 && want == sha256.Sum256(nil) {
		content = nil // how the client spells nothing at all
	}
	changed := says != "" || sha256.Sum256(content) != want
	if changed {
		j.found("RH301", at, "", says)
	}
	j.b.named.mu.Lock()
	defer j.b.named.mu.Unlock()
	j.b.blobs.Add(want, uint64(place), content)
	if changed {
		j.b.named.changed[at.RowID] = true
	}
}

func hashOf(id []byte) (sum [sha256.Size]byte, ok bool) {
	if len(id) != 2*len(sum) {
		return sum, false
	}
	_, err := hex.Decode(sum[:], id)
	return sum, err == nil
}

// long judges a value that is too long to be held: only a hash can be taken of
// it.
func (j *judge) long(r *sqlitepages.Row, col int, key store.Cell) {
	family := familyOf(key.Bytes())
	if !j.q.Enabled(rule.References) || family != blobRow && family != contentRow || family == blobRow && r.Class(col) != store.Blob {
		return
	}
	want, ok := hashOf(key.Bytes()[len(family):])
	if !ok {
		return
	}
	sum, id := sha256.New(), "RH340"
	if family == blobRow {
		id = "RH301"
	}
	if err := r.Pour(col, sum); err == nil && [sha256.Size]byte(sum.Sum(nil)) != want {
		j.found(id, store.Addr{File: j.b.file, Set: diskTable, RowID: r.RowID, HasID: true, Key: key}, "", "")
	}
}

func grown(b []byte, n int) []byte {
	if cap(b) < n {
		return make([]byte, n)
	}
	return b[:n]
}
