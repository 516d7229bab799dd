package cursorsdk

import (
	"errors"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strconv"
	"testing"

	"rehome/formats"
	"rehome/formats/internal/sdkdoc"
	"rehome/formats/store"
)

func TestPlace(t *testing.T) {
	for cwd, want := range map[string]string{
		"/tmp/e2eout/ws": "tmp-e2eout-ws/sdk-agent-store/5734498605caec2da8801a5b40f5caa8", // as the SDK did it
		"/":              "sdk-agent-store/6666cd76f96956469e7be39d750cc7d9",
		"/a//b_é c/":     "a-b-c/sdk-agent-store/0f7a2b1488bbc92f4024c9ea8fa6f96e",
	} {
		got := filepath.ToSlash(ProjectPath("/home/dev", cwd))
		if got != "/home/dev/.cursor/projects/"+want {
			t.Errorf("%q lives in %s, want %s", cwd, got, want)
		}
	}
	if ProjectPath("/h", "/ws") == ProjectPath("/h", "/ws/") {
		t.Error("the SDK tells /ws from /ws/")
	}
}

func text(s string) store.Cell { return store.TextCell([]byte(s)) }

func eventRow(run string, seq int64, offset string, key store.Cell) []store.Cell {
	return []store.Cell{text(run), store.IntCell(seq), text(offset), text("e"), text("null"), {}, key, text("t")}
}

// The books of admission against plain sets of keys.
func TestAdmission(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 1))
	for range 200 {
		a := newAdmission()
		seqs, offsets, keys := map[string]bool{}, map[string]bool{}, map[string]bool{}
		taken := 0
		for range 100 {
			run, seq := "r"+strconv.Itoa(r.IntN(2)), r.Int64N(40)
			if r.IntN(3) > 0 {
				seq = int64(taken)
			}
			offset, k := strconv.FormatInt(seq, 10), store.NullCell()
			if r.IntN(10) == 0 {
				offset = "0" + offset
			}
			id := ""
			if r.IntN(5) == 0 {
				id = strconv.Itoa(r.IntN(20))
				k = text(id)
			}
			s, o, i := run+"#"+strconv.FormatInt(seq, 10), run+"#"+offset, run+"#"+id
			want := !seqs[s] && !offsets[o] && (id == "" || !keys[i])
			if got := a.admit(sdkdoc.Event, eventRow(run, seq, offset, k)); got != want {
				t.Fatalf("%s offset %s key %q: admitted %v, want %v", s, offset, id, got, want)
			}
			if want {
				seqs[s], offsets[o], keys[i] = true, true, true
				taken++
			}
		}
	}
	a := newAdmission()
	agent := []store.Cell{text("a"), text(""), text(""), {}, {}, {}, text("{}"), text(""), text("")}
	run := func(id, of string, turn int64) []store.Cell {
		row := make([]store.Cell, len(sdkdoc.Run.Columns()))
		row[sdkdoc.RunID], row[sdkdoc.RunAgent], row[sdkdoc.RunTurn] = text(id), text(of), store.IntCell(turn)
		return row
	}
	for i, c := range []struct {
		kind sdkdoc.Kind
		row  []store.Cell
		want bool
	}{
		{sdkdoc.Agent, agent, true}, {sdkdoc.Agent, agent, false},
		{sdkdoc.Run, run("r", "a", 1), true}, {sdkdoc.Run, run("r", "a", 2), false}, {sdkdoc.Run, run("s", "a", 1), false}, {sdkdoc.Run, run("s", "b", 1), false}, {sdkdoc.Run, run("s", "a", 2), true},
		{sdkdoc.Event, eventRow("r", -1<<63, "x", store.NullCell()), true}, {sdkdoc.Event, eventRow("r", 1<<63-1, "y", store.NullCell()), true}, {sdkdoc.Event, eventRow("r", -1<<63, "z", store.NullCell()), false},
	} {
		if got := a.admit(c.kind, c.row); got != c.want {
			t.Errorf("row %d: admitted %v, want %v", i, got, c.want)
		}
	}
}

// Leftover is text that lies beside a store: it must not lead out of it, nor
// run what it likes.
func TestHostileLeftover(t *testing.T) {
	item := func(file, set string, row ...store.Cell) store.SidecarItem {
		return store.SidecarItem{At: store.Addr{File: file, Set: set}, Row: row}
	}
	design := func(sql string) store.Cell {
		return text(`{"pragmas":{"page_size":4096,"encoding":"UTF-8","journal_mode":"wal"},"objects":[{"type":"table","name":"x","table":"x","sql":"` + sql + `"}],"tables":[{"Name":"x","Columns":["a"],"RowIDs":true}]}`)
	}
	for name, items := range map[string][]store.SidecarItem{
		"a path that leaves":     {item("../index.db", schemaSet, store.NullCell())},
		"an absolute path":       {item("/tmp/x/index.db", schemaSet, store.NullCell())},
		"a path not clean":       {item("a/../index.db", schemaSet, store.NullCell())},
		"a file that leaves":     {item("../../evil", "", store.BlobCell([]byte("x")))},
		"a schema that is none":  {item("index.db", schemaSet, text("{"))},
		"a statement that runs":  {item("index.db", schemaSet, design("DROP TABLE y"))},
		"a schema without a set": {item("index.db", schemaSet, design("CREATE TABLE x(a)"))},
		"two rows of one id":     {{At: store.Addr{File: "index.db", Set: "agents", RowID: 5, HasID: true}, Row: wide(9)}, {At: store.Addr{File: "index.db", Set: "agents", RowID: 5, HasID: true}, Row: wide(9)}},
		"a file over a database": {item("index.db", "", store.BlobCell([]byte("x")))},
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			err := buildOne(t, filepath.Join(dir, "deep", "db"), items)
			if err == nil {
				t.Fatal("it was taken")
			}
			found, _ := filepath.Glob(filepath.Join(dir, "*"))
			if len(found) != 1 {
				t.Errorf("it left %v", found)
			}
		})
	}
}

func wide(n int) []store.Cell {
	row := make([]store.Cell, n)
	for i := range row {
		row[i] = text("x")
	}
	return row
}

// buildOne writes a store of one agent with this leftover.
func buildOne(t *testing.T, path string, leftover []store.SidecarItem) (err error) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	w, err := createDocuments(t.Context(), formats.Build{Path: path, Schema: sdkdoc.Schema(), Leftover: leftover})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, w.Close()) }()
	b := store.NewBatch(0, 1)
	b.Row(1)
	b.AddText(`{"agentId":"a","cwd":"/w"}`)
	if err := w.Put(t.Context(), b); err != nil {
		return err
	}
	return w.Finish(t.Context())
}
