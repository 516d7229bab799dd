package audit

import (
	"crypto/sha256"
	"encoding/hex"
	"unicode/utf8"

	"rehome/formats/cursoride/internal/lists"
	"rehome/formats/internal/linecheck"
	"rehome/formats/internal/sqlitepages"
	"rehome/formats/rule"
	"rehome/formats/store"
)

// judge checks rows, for one goroutine.
type judge struct {
	teller
	b       *base
	text    bool // values are checked as text
	reader  linecheck.Values
	schemas map[string]rule.Validator
	buffer  []byte
}

func newJudge(q *rule.Pass, b *base) *judge {
	j := &judge{teller: teller{q}, b: b, text: q.Enabled(rule.Container), schemas: map[string]rule.Validator{}}
	if q.Enabled(rule.Schema) {
		for _, f := range lists.Families() {
			if f.Schema != "" {
				j.schemas[f.Prefix] = q.Schema(f.Schema)
			}
		}
	}
	return j
}

func (j *judge) batch(p piled) {
	b := p.batch
	for i := range b.Rows() {
		key, value := b.Cell(i, 0), b.Cell(i, 1)
		at := store.Addr{File: j.b.File, Set: lists.DiskTable, RowID: b.RowID(i), HasID: true, Key: key}
		if key.Class != store.Text || !utf8.Valid(key.Bytes()) {
			if j.q.Enabled(rule.Meaning) {
				j.found("RH428", at, "", "")
			}
			continue
		}
		j.row(at, key.Bytes(), value, p.places[i])
	}
}

// row checks one row by the family of its key.
func (j *judge) row(at store.Addr, key []byte, value store.Cell, place sqlitepages.Place) {
	f := judged(key)
	if f.Prefix == "" {
		return
	}
	family := f.Prefix
	if f.Shard != "" {
		if j.q.Enabled(rule.References) {
			j.digest(family, at, key[len(family):], value, place)
		}
		return
	}
	doc := value.Bytes()
	if value.Class == store.Null || string(doc) == "null" {
		if j.q.Enabled(rule.References) && (family == lists.ComposerRow || family == lists.BubbleRow) {
			j.found("RH332", at, "", "")
		}
		return
	}
	if j.text && !j.reader.Ask(doc, at, j.q) {
		return
	}
	if !j.q.Enabled(rule.Schema) || family != lists.BubbleRow && family != lists.ComposerRow || !j.generation(at, family, doc) {
		j.q.Matches(j.schemas[family], doc, at, "")
	}
	if family == lists.BubbleRow {
		j.bubbleRow(at, key[len(family):], doc)
	}
}

// judged returns the family of a row that is checked on its own; otherwise the zero
// Family.
func judged(key []byte) lists.Family {
	f := lists.FamilyOf(key)
	if f.Shard == "" && f.Schema == "" || len(key) == len(f.Prefix) {
		return lists.Family{}
	}
	return f
}

// digest checks a row whose key is the SHA-256 of its content.
func (j *judge) digest(family string, at store.Addr, id []byte, value store.Cell, place sqlitepages.Place) {
	want, ok := hashOf(id)
	if !ok || value.Class != store.Text && value.Class != store.Blob {
		return // composer.content. of other kinds
	}
	content := value.Bytes()
	if family == lists.ContentRow {
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
		content = nil // how the client stores empty content
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

// long checks a value that is too long for memory: only its hash can be computed.
func (j *judge) long(r *sqlitepages.Row, col int, key store.Cell) {
	f := judged(key.Bytes())
	if !j.q.Enabled(rule.References) || f.Shard == "" || f.Prefix == lists.BlobRow && r.Class(col) != store.Blob {
		return
	}
	want, ok := hashOf(key.Bytes()[len(f.Prefix):])
	if !ok {
		return
	}
	sum, id := sha256.New(), "RH340"
	if f.Prefix == lists.BlobRow {
		id = "RH301"
	}
	if err := r.Pour(col, sum); err == nil && [sha256.Size]byte(sum.Sum(nil)) != want {
		j.found(id, store.Addr{File: j.b.File, Set: lists.DiskTable, RowID: r.RowID, HasID: true, Key: key}, "", "")
	}
}

func grown(b []byte, n int) []byte {
	if cap(b) < n {
		return make([]byte, n)
	}
	return b[:n]
}
