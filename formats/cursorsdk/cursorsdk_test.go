package cursorsdk

import (
	"errors"
	"os"
	"path/filepath"
	"testing"

	"rehome/formats"
	"rehome/formats/cursorsdk/internal/layout"
	"rehome/formats/internal/sdkdoc"
	"rehome/formats/internal/sdkstore"
	"rehome/formats/store"
)

func TestPlace(t *testing.T) {
	for cwd, want := range map[string]string{
		"/tmp/e2eout/ws": "tmp-e2eout-ws/sdk-agent-store/5734498605caec2da8801a5b40f5caa8", // as the SDK did it
		"/":              "sdk-agent-store/6666cd76f96956469e7be39d750cc7d9",
		"/a//b_é c/":     "a-b-c/sdk-agent-store/0f7a2b1488bbc92f4024c9ea8fa6f96e",
	} {
		got := filepath.ToSlash(layout.ProjectPath("/home/dev", cwd))
		if got != "/home/dev/.cursor/projects/"+want {
			t.Errorf("%q lives in %s, want %s", cwd, got, want)
		}
	}
	if layout.ProjectPath("/h", "/ws") == layout.ProjectPath("/h", "/ws/") {
		t.Error("the SDK tells /ws from /ws/")
	}
}

func text(s string) store.Cell { return store.TextCell([]byte(s)) }

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
		"a path that leaves":     {item("../index.db", sdkstore.SchemaSet, store.NullCell())},
		"an absolute path":       {item("/tmp/x/index.db", sdkstore.SchemaSet, store.NullCell())},
		"a path not clean":       {item("a/../index.db", sdkstore.SchemaSet, store.NullCell())},
		"a file that leaves":     {item("../../evil", "", store.BlobCell([]byte("x")))},
		"a schema that is none":  {item("index.db", sdkstore.SchemaSet, text("{"))},
		"a statement that runs":  {item("index.db", sdkstore.SchemaSet, design("DROP TABLE y"))},
		"a schema without a set": {item("index.db", sdkstore.SchemaSet, design("CREATE TABLE x(a)"))},
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
