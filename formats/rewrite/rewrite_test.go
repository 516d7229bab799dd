package rewrite

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"fmt"
	"iter"
	"path"
	"strings"
	"testing"

	"rehome/formats/internal/tally"
	"rehome/formats/loss"
	"rehome/formats/store"
)

// words replaces one word by a longer one, and knows it once it has read it.
type words struct{ learned bool }

const (
	word  = "hidden-word"
	other = "[another word 1]"
)

func (w *words) Learn(_ context.Context, b []byte, _ bool) error {
	w.learned = w.learned || bytes.Contains(b, []byte(word))
	return nil
}

func (w *words) Value(_ context.Context, b []byte, _ bool, onHit func(string)) ([]byte, error) {
	if !w.learned || !bytes.Contains(b, []byte(word)) {
		return b, nil
	}
	if onHit != nil {
		onHit("word")
	}
	return bytes.ReplaceAll(b, []byte(word), []byte(other)), nil
}

func (w *words) Idle() bool { return !w.learned }

// memory is a store in memory: rows of cells for each set.
type memory struct {
	schema store.Schema
	rows   [][][]store.Cell
	sum    store.Summary
	scans  int
}

func (m *memory) Schema() *store.Schema  { return &m.schema }
func (m *memory) Summary() store.Summary { return m.sum }
func (m *memory) Close() error           { return nil }

func (m *memory) Batches(context.Context) iter.Seq2[*store.Batch, error] {
	return func(yield func(*store.Batch, error) bool) {
		m.scans++
		m.sum = tally.Scan(len(m.rows), yield, func(t *tally.Tally) error {
			for n, rows := range m.rows {
				b := store.NewBatch(n, len(m.schema.Sets[n].Columns))
				first := int64(1)
				if m.schema.Sets[n].Kind == store.Plain {
					first = 0
				}
				for i, row := range rows {
					b.Row(first + int64(i))
					for _, c := range row {
						b.Add(c)
					}
					if b.Full() || first == 0 {
						if err := t.Give(b); err != nil {
							return err
						}
						b = store.NewBatch(n, len(row))
					}
				}
				if err := t.Give(b); err != nil {
					return err
				}
			}
			return nil
		})
	}
}

func text(s string) store.Cell { return store.TextCell([]byte(s)) }
func blob(b []byte) store.Cell { return store.BlobCell(b) }

// hashed is a row of a blob that is named by its content.
func hashed(content []byte) (id string, row []store.Cell) {
	sum := sha256.Sum256(content)
	id = hex.EncodeToString(sum[:])
	return id, []store.Cell{text(id), blob(content)}
}

func raw(id string) string {
	b, err := hex.DecodeString(id)
	if err != nil {
		panic(err)
	}
	return string(b)
}

// rewritten returns the rows of each set.
func rewritten(t *testing.T, m *memory, o Options) (*Reader, [][][]store.Cell) {
	t.Helper()
	r, err := New(t.Context(), m, &words{}, o)
	if err != nil {
		t.Fatal(err)
	}
	out, last := make([][][]store.Cell, len(m.rows)), 0
	for rec, err := range store.Records(t.Context(), r) {
		if err != nil {
			t.Fatal(err)
		}
		if last > rec.Set() {
			t.Errorf("set %d comes after set %d", rec.Set(), last)
		}
		last = rec.Set()
		var row []store.Cell
		for c := range rec.Width() {
			row = append(row, rec.Cell(c).Clone())
		}
		out[rec.Set()] = append(out[rec.Set()], row)
	}
	return r, out
}

func table(name string, columns ...string) store.Set {
	return store.Set{Name: name, Kind: store.Table, Columns: columns, RowIDs: true}
}

// TestGraph: a word in the deepest blob renames every blob above it, in every spelling of a
// reference, and no other.
func TestGraph(t *testing.T) {
	const depth = 3000
	m := &memory{schema: store.Schema{Databases: []store.Database{{}}, Sets: []store.Set{table("blobs", "id", "data"), table("meta", "key", "value")}}}
	var blobs [][]store.Cell
	id, row := hashed([]byte("this is the " + word))
	old := []string{id}
	blobs = append(blobs, row)
	for i := range depth {
		refer := []string{
			"\x0a\x20" + raw(id),
			`{"blob":"` + id + `"}`,
			"~" + base64.StdEncoding.EncodeToString([]byte("xy\x0a\x20"+raw(id)+strings.Repeat("z", i%5))),
			hex.EncodeToString([]byte(`{"root":"` + id + `"}`)),
			"/dir/agent-" + id + "/store.db",
		}[i%5]
		id, row = hashed([]byte(fmt.Sprintf("%d %s end", i, refer)))
		old = append(old, id)
		blobs = append(blobs, row)
	}
	still, row := hashed([]byte("nothing to see"))
	blobs = append(blobs, row, []store.Cell{text(strings.Repeat("0a", 32)), blob([]byte("its name is wrong: " + raw(old[0])))})
	m.rows = [][][]store.Cell{blobs, {{text("0"), text(hex.EncodeToString([]byte(`{"latestRootBlobId":"` + id + `","other":"` + still + `"}`)))}}}
	var hits int
	r, out := rewritten(t, m, Options{OnHit: func(kind string, at store.Addr) {
		if hits++; kind != "word" || at.String() != "blobs#1" {
			t.Errorf("%s at %s", kind, at)
		}
	}})
	if hits != 1 {
		t.Errorf("%d replacements", hits)
	}
	known := map[string]bool{}
	for i, row := range out[0] {
		key, content := string(row[0].Bytes()), row[1].Bytes()
		sum := sha256.Sum256(content)
		if right := key == hex.EncodeToString(sum[:]); right != (i != len(out[0])-1) {
			t.Fatalf("blob %d is named wrong", i)
		}
		known[key] = true
	}
	if !known[still] || known[old[0]] || known[old[depth]] || len(known) != len(blobs) {
		t.Errorf("%d names of %d blobs", len(known), len(blobs))
	}
	meta, err := hex.DecodeString(string(out[1][0][1].Bytes()))
	if err != nil || !known[string(meta[21:85])] || !strings.Contains(string(meta), still) {
		t.Errorf("the meta row is %s", meta)
	}
	for set := range out {
		for i, row := range out[set] {
			for _, c := range row {
				for _, o := range old[:20] {
					if bytes.Contains(c.Bytes(), []byte(o)) || bytes.Contains(c.Bytes(), []byte(raw(o))) || bytes.Contains(c.Bytes(), []byte(word)) {
						t.Fatalf("row %d of set %d refers to an old blob", i, set)
					}
				}
			}
		}
	}
	for range r.Batches(t.Context()) { // a second scan counts the same
	}
	if r.Summary().Rows() != int64(len(blobs)+1) {
		t.Errorf("%d rows", r.Summary().Rows())
	}
}

// TestSameBlob: blobs that become the same are one row.
func TestSameBlob(t *testing.T) {
	_, a := hashed([]byte("x " + word))
	_, b := hashed([]byte("x " + other))
	m := &memory{schema: store.Schema{Databases: []store.Database{{}}, Sets: []store.Set{table("blobs", "id", "data")}}, rows: [][][]store.Cell{{a, b}}}
	if _, out := rewritten(t, m, Options{}); len(out[0]) != 1 || !out[0][0][0].Equal(b[0]) {
		t.Errorf("%v", out)
	}
}

// TestUntouched: records without the word are those of the source, to the byte. They are
// read once to learn that, and once to be copied.
func TestUntouched(t *testing.T) {
	_, a := hashed([]byte("a blob"))
	line := []store.Cell{text(`{"type": "thinking", "signature":"s",  "thinking":"t"}`)}
	m := &memory{
		schema: store.Schema{Databases: []store.Database{{}}, Sets: []store.Set{table("blobs", "id", "data"), {File: "a.ndjson", Kind: store.Lines, Columns: []string{"line"}}, {File: "b.txt", Kind: store.Plain, Columns: []string{"bytes"}}}},
		rows:   [][][]store.Cell{{a, {text(""), store.NullCell()}}, {line, {blob(nil)}}, {{blob(bytes.Repeat([]byte("z"), store.PieceBytes))}, {blob([]byte("rest"))}}},
	}
	r, _ := rewritten(t, m, Options{})
	for i, c := range r.Summary() {
		if c != m.Summary()[i] {
			t.Errorf("set %d: %v became %v", i, m.Summary()[i], c)
		}
	}
	if m.scans > 2 {
		t.Errorf("%d scans", m.scans)
	}
}

// TestFinder: an id is found in each spelling, wherever it is in a run of letters and in a
// text.
func TestFinder(t *testing.T) {
	was, is := sha256.Sum256([]byte("was")), sha256.Sum256([]byte("is"))
	f := newFinder(1, func(x id) (id, bool) { return is, x == was })
	f.add(was)
	spell := func(x [32]byte) []string {
		return []string{string(x[:]), hex.EncodeToString(x[:]), base64.StdEncoding.EncodeToString(x[:]), base64.RawURLEncoding.EncodeToString(x[:])}
	}
	for n := range 100 {
		before, after := strings.Repeat("ab c", n)[:n], strings.Repeat(" zz/", n+1)[:n]
		for k, text := range spell(was) {
			want := before + " " + spell(is)[k] + " " + after
			if out, changed := f.replace([]byte(before+" "+text+" "+after), 0); !changed || string(out) != want {
				t.Errorf("%d characters before spelling %d: %q", n, k, out)
			}
			if out, _ := f.replace([]byte(text), 0); string(out) != spell(is)[k] {
				t.Errorf("spelling %d alone: %q", k, out)
			}
		}
	}
}

// TestFiles: plain files are rewritten across their pieces, and get other names.
func TestFiles(t *testing.T) {
	content := strings.Repeat("filler\n", store.PieceBytes/7) + word + "\nend " + word
	var rows [][]store.Cell
	for rest := content; rest != ""; {
		n := min(len(rest), store.PieceBytes)
		rows = append(rows, []store.Cell{blob([]byte(rest[:n]))})
		rest = rest[n:]
	}
	m := &memory{rows: [][][]store.Cell{{}, {{blob([]byte("z"))}}, rows, rows}}
	for _, name := range []string{"empty.txt", "h/a.txt", "h/" + word + "/a.jsonl", "h/" + word + "/a.txt"} {
		m.schema.Sets = append(m.schema.Sets, store.Set{File: name, Kind: store.Plain, Columns: []string{"bytes"}})
	}
	var places []string
	r, out := rewritten(t, m, Options{OnHit: func(_ string, at store.Addr) { places = append(places, path.Base(at.String())) }})
	if got := fmt.Sprint(places); got != fmt.Sprintf("[a.jsonl:%d a.jsonl:%d a.txt]", store.PieceBytes/7+1, store.PieceBytes/7+2) {
		t.Errorf("replaced in %s", got)
	}
	want := strings.ReplaceAll(content, word, other)
	for i, name := range []string{"empty.txt", "h/" + other + "/a.jsonl", "h/" + other + "/a.txt", "h/a.txt"} {
		var got []byte
		for n, row := range out[i] {
			if got = append(got, row[0].Bytes()...); n < len(out[i])-1 && len(row[0].Bytes()) != store.PieceBytes {
				t.Errorf("%s: a piece of %d bytes", name, len(row[0].Bytes()))
			}
		}
		if file := r.Schema().Sets[i].File; file != name {
			t.Errorf("file %d is %s", i, file)
		}
		if strings.Contains(name, other) && string(got) != want {
			t.Errorf("%s: %d bytes, want %d", name, len(got), len(want))
		}
	}
}

// TestUnsigned: reasoning whose text changes is not signed any more; other reasoning is.
func TestUnsigned(t *testing.T) {
	for was, want := range map[string]string{
		`{"message":{"content":[{"type":"thinking","thinking":"a \"W\"","signature":"s"}]}}`:                                                        `{"message":{"content":[{"type":"text","text":"<thinking>\na \"O\"\n</thinking>"}]}}`,
		`{"content":[{"type":"thinking","thinking":"a","signature":"s"},"W"]}`:                                                                      `{"content":[{"type":"thinking","thinking":"a","signature":"s"},"O"]}`,
		`{"role":"assistant","content":[{"type":"reasoning","text":"W","providerOptions":{"cursor":{"signature":"s","x":1}},"signature":"s"},"W"]}`: `{"role":"assistant","content":[{"type":"reasoning","text":"O","providerOptions":{"cursor":{"x":1}}},"O"]}`,
		`{"thinking":{"text":"W","signature":"s"},"n":1}`:                                                                                           `{"thinking":{"text":"O"},"n":1}`,
		`{"torn":"W","signature":"s`: `{"torn":"O","signature":"s`,
	} {
		was, want = strings.ReplaceAll(was, "\n", `\n`), strings.ReplaceAll(want, "\n", `\n`)
		lost := 0
		m := &memory{schema: store.Schema{Sets: []store.Set{{File: "a.ndjson", Kind: store.Lines, Columns: []string{"line"}}}}, rows: [][][]store.Cell{{{text(strings.ReplaceAll(was, "W", word))}}}}
		_, out := rewritten(t, m, Options{OnLoss: func(loss.Loss) { lost++ }})
		if got := strings.ReplaceAll(string(out[0][0][0].Bytes()), other, "O"); got != want {
			t.Errorf("%s became %s, want %s", was, got, want)
		}
		if changed := strings.Count(was, "signature") != strings.Count(want, "signature"); changed != (lost == 1) {
			t.Errorf("%s: %d losses", was, lost)
		}
	}
}

// TestDeltas: a word that is spread over the records of a text is found, and words that are
// not spread leave the records as they are.
func TestDeltas(t *testing.T) {
	event := func(run, kind, text string) []store.Cell {
		message := fmt.Sprintf(`"text":%q`, text)
		if kind == "assistant" {
			message = fmt.Sprintf(`"message":{"role":"assistant","content":[{"type":"text","text":%q}]}`, text)
		}
		return []store.Cell{store.TextCell(fmt.Appendf(nil, `{"runId":%q,"payload":{"type":"sdk_message","runId":%q,"message":{"type":%q,%s}},"n":1}`, run, run, kind, message))}
	}
	half := len(word) / 2
	m := &memory{schema: store.Schema{Sets: []store.Set{{File: "run_events.ndjson", Kind: store.Lines, Columns: []string{"line"}}}}, rows: [][][]store.Cell{{
		event("a", "assistant", "it is "+word[:half]),
		event("b", "thinking", "another run"),
		event("a", "assistant", word[half:]+" ok"),
		event("a", "thinking", "as "+word+" said"),
		event("a", "thinking", " again"),
		event("a", "assistant", word[:half]),
		event("a", "status", ""),
		event("a", "assistant", word[half:]),
	}}}
	_, out := rewritten(t, m, Options{})
	for i, want := range []string{"it is " + other + " ok", "another run", "", "as " + other + " said", " again", word[:half], "", word[half:]} {
		if got := string(out[0][i][0].Bytes()); !strings.Contains(got, `"text":"`+want+`"`) || !strings.HasSuffix(got, `"n":1}`) {
			t.Errorf("%d is %s, want %q", i, got, want)
		}
	}
}

// TestNames: what cannot have another name is refused, and the error has no value.
func TestNames(t *testing.T) {
	for _, m := range []*memory{
		{schema: store.Schema{Databases: []store.Database{{Path: "a.db", Objects: []store.Object{{Name: "t", SQL: "CREATE TABLE t(" + word + ")"}}}}}},
		{schema: store.Schema{Sets: []store.Set{{File: "h/" + other, Kind: store.Plain}, {File: "h/" + word, Kind: store.Plain}}}, rows: make([][][]store.Cell, 2)},
	} {
		if _, err := New(t.Context(), m, &words{}, Options{}); err == nil || strings.Contains(strings.SplitN(err.Error(), ":", 2)[1], word) {
			t.Errorf("%v", err)
		}
	}
}

// numbers replaces one number.
type numbers struct{ words }

func (numbers) Value(_ context.Context, b []byte, _ bool, _ func(string)) ([]byte, error) {
	return bytes.ReplaceAll(b, []byte("4915112345678"), []byte(other)), nil
}

// TestNumbers: a number that would have to change is refused, with its place and without
// its digits; other numbers stay.
func TestNumbers(t *testing.T) {
	for n, cell := range []store.Cell{store.IntCell(4915112345678), store.RealCell(4915112345678), store.IntCell(-4915112345678), store.IntCell(4915112345679), store.RealCell(0.5), store.NullCell()} {
		refused := n < 3
		m := &memory{schema: store.Schema{Databases: []store.Database{{}}, Sets: []store.Set{table("calls", "number")}}, rows: [][][]store.Cell{{{cell}}}}
		r, err := New(t.Context(), m, &numbers{}, Options{})
		if err != nil {
			t.Fatal(err)
		}
		err = store.EachRow(r.Batches(t.Context()), func(b *store.Batch, i int) error {
			if !b.Cell(i, 0).Equal(cell) {
				t.Errorf("%v became %v", cell, b.Cell(i, 0))
			}
			return nil
		})
		if (err != nil) != refused || refused && (!strings.Contains(err.Error(), "calls#1") || strings.Contains(err.Error(), "4915112345678")) {
			t.Errorf("%v: %v", cell, err)
		}
	}
}
