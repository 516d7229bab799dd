package all_test

import (
	"bytes"
	"cmp"
	"compress/gzip"
	"encoding/json"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"rehome/convert"
	"rehome/formats/all"
	"rehome/formats/internal/digest"
	"rehome/formats/store"
)

// hostile is an archive that somebody has tampered with.
type hostile struct {
	dir      string
	manifest map[string]any
}

func (h *hostile) write(name, text string) {
	name = filepath.Join(h.dir, name)
	_ = os.MkdirAll(filepath.Dir(name), 0o777)
	_ = os.WriteFile(name, []byte(text), 0o666)
}

func (h *hostile) read(name string) string {
	b, _ := os.ReadFile(filepath.Join(h.dir, name))
	return string(b)
}

func (h *hostile) database() map[string]any {
	return h.manifest["databases"].([]any)[0].(map[string]any)
}

func (h *hostile) table(i int) map[string]any {
	return h.database()["tables"].([]any)[i].(map[string]any)
}

func (h *hostile) pragma(name string, v any) { h.database()["pragmas"].(map[string]any)[name] = v }

// object adds an entry to the schema.
func (h *hostile) object(kind, name, table, sql string) {
	h.database()["objects"] = append(h.database()["objects"].([]any), map[string]any{"type": kind, "name": name, "table": table, "sql": sql})
}

// ddl replaces the CREATE statement of blobs.
func (h *hostile) ddl(sql string) { h.database()["objects"].([]any)[0].(map[string]any)["sql"] = sql }

// blobs replaces the text of table blobs and signs it, as somebody who can
// write to the repository would.
func (h *hostile) blobs(text string) {
	h.write("blobs.ndjson", text)
	var sum store.Digest
	lines := strings.SplitAfter(strings.TrimSuffix(text, "\n"), "\n")
	for i, line := range lines {
		if i == len(lines)-1 {
			line += "\n"
		}
		sum.Add(digest.Bytes([]byte(line)))
	}
	t := h.table(0)
	t["rows"], t["bytes"], t["digest"] = len(lines), len(text), sum.String()
}

// save writes the manifest as rehome spells one: member by member in its order.
func (h *hostile) save(t *testing.T) {
	if h.manifest != nil {
		h.write("manifest.json", h.spelled(t))
	}
}

func (h *hostile) spelled(t testing.TB) string {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	e.SetIndent("", "  ")
	if err := e.Encode(inOrder(h.manifest)); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

// inOrder gives maps the order of the manifest's members, unknown ones last.
func inOrder(v any) any {
	switch v := v.(type) {
	case []any:
		out := make([]any, len(v))
		for i := range v {
			out[i] = inOrder(v[i])
		}
		return out
	case map[string]any:
		return ordered(v)
	}
	return v
}

type ordered map[string]any

func (o ordered) MarshalJSON() ([]byte, error) {
	known := []string{"rehome", "version", "origin", "compress", "databases", "files", "path", "pragmas", "objects", "tables",
		"type", "name", "table", "sql", "columns", "rowids", "rows", "bytes", "digest",
		"page_size", "encoding", "auto_vacuum", "journal_mode", "user_version", "application_id"}
	keys := slices.SortedFunc(maps.Keys(o), func(a, b string) int {
		return cmp.Or(cmp.Compare(rank(known, a), rank(known, b)), cmp.Compare(a, b))
	})
	var b bytes.Buffer
	b.WriteByte('{')
	for i, k := range keys {
		if i > 0 {
			b.WriteByte(',')
		}
		name, _ := json.Marshal(k)
		b.Write(name)
		b.WriteByte(':')
		e := json.NewEncoder(&b)
		e.SetEscapeHTML(false)
		if err := e.Encode(inOrder(o[k])); err != nil {
			return nil, err
		}
	}
	b.WriteByte('}')
	return b.Bytes(), nil
}

func rank(known []string, k string) int {
	if i := slices.Index(known, k); i >= 0 {
		return i
	}
	return len(known)
}

// raw replaces the manifest as it is.
func (h *hostile) raw(text string) {
	h.write("manifest.json", text)
	h.manifest = nil
}

func gz(text string) string {
	var b bytes.Buffer
	w := gzip.NewWriter(&b)
	_, _ = w.Write([]byte(text))
	_ = w.Close()
	return b.String()
}

// tampered lists what was done to a good archive of version 1, and what must be
// said of it. Every answer is another one.
var tampered = []struct {
	name string
	do   func(h *hostile)
	want string
}{
	// schema
	{"attach", func(h *hostile) { h.ddl("ATTACH 'x.db' AS x") }, "blobs"},
	{"drop after create", func(h *hostile) { h.ddl("CREATE TABLE blobs(id, data); DROP TABLE meta") }, "blobs"},
	{"select", func(h *hostile) { h.object("table", "x", "x", "SELECT load_extension('x')") }, "not a CREATE"},
	{"pragma", func(h *hostile) { h.object("table", "x", "x", "PRAGMA writable_schema=ON") }, "not a CREATE"},
	{"comment then drop", func(h *hostile) { h.object("table", "x", "x", "/* */ DROP TABLE meta") }, "not a CREATE"},
	{"create as select", func(h *hostile) { h.object("table", "x", "x", "CREATE TABLE x AS SELECT * FROM meta") }, "x"},
	{"temp table", func(h *hostile) { h.object("table", "x", "x", "CREATE TEMP TABLE x(a)") }, "does not create"},
	{"other schema", func(h *hostile) { h.object("table", "x", "x", "CREATE TABLE temp.x(a)") }, "x"},
	{"two in one", func(h *hostile) { h.object("table", "x", "x", "CREATE TABLE x(a); CREATE TABLE y(a)") }, "x"},
	{"insert behind a trigger", func(h *hostile) {
		h.object("trigger", "x", "blobs", "CREATE TRIGGER x AFTER INSERT ON blobs BEGIN SELECT 1; END; DELETE FROM meta")
	}, "x"},
	{"name is not in the sql", func(h *hostile) { h.object("table", "x", "x", "CREATE TABLE y(a)") }, "x"},
	{"reserved name", func(h *hostile) { h.object("table", "sqlite_master", "sqlite_master", "CREATE TABLE sqlite_master(a)") }, "sqlite_master"},
	{"type is not in the sql", func(h *hostile) { h.object("view", "x", "x", "CREATE TABLE x(a)") }, "x"},
	{"unknown type", func(h *hostile) { h.object("extension", "x", "x", "CREATE TABLE x(a)") }, "extension"},
	{"nul in the sql", func(h *hostile) { h.object("table", "x", "x", "CREATE TABLE x(a)\x00; DROP TABLE meta") }, "x"},
	{"table twice", func(h *hostile) { h.object("table", "BLOBS", "BLOBS", "CREATE TABLE BLOBS(a)") }, "BLOBS"},
	{"broken view", func(h *hostile) { h.object("view", "x", "x", "CREATE VIEW x AS SELECT") }, "x"},
	{"page size", func(h *hostile) { h.pragma("page_size", 1000) }, "page_size"},
	{"encoding", func(h *hostile) { h.pragma("encoding", "UTF-8'; DROP TABLE x; --") }, "encoding"},
	{"journal mode", func(h *hostile) { h.pragma("journal_mode", "memory; ATTACH 'x'") }, "journal"},
	{"column that the table lacks", func(h *hostile) { h.table(0)["columns"] = []string{"id", "nothere"} }, "nothere"},

	// paths
	{"path up", func(h *hostile) { h.database()["path"] = "../x.db"; h.manifest["files"] = []any{} }, `".." component`},
	{"path absolute", func(h *hostile) { h.file("/etc/passwd", "") }, "/etc/passwd"},
	{"path to git", func(h *hostile) { h.file("a/.GIT/config", "") }, ".GIT"},
	{"device", func(h *hostile) { h.file("a/COM1.txt", "") }, "COM1"},
	{"backslash", func(h *hostile) { h.file(`a\..\..\b`, "") }, "characters"},
	{"drive", func(h *hostile) { h.file("C:evil", "") }, "C:evil"},
	{"two files in one place", func(h *hostile) { h.file("Readme", "a"); h.file("README", "a") }, "same path"},
	{"file in a table's folder", func(h *hostile) { h.file("store.db/blobs/aa/x.ndjson", "") }, "inside"},
	{"symbolic link for a table", func(h *hostile) {
		_ = os.Remove(filepath.Join(h.dir, "blobs.ndjson"))
		_ = os.Symlink("/etc/passwd", filepath.Join(h.dir, "blobs.ndjson"))
	}, "regular"},
	{"symbolic link for a folder", func(h *hostile) { _ = os.Symlink("/etc", filepath.Join(h.dir, "blobs")) }, "blobs"},
	{"symbolic link for the manifest", func(h *hostile) {
		_ = os.Rename(filepath.Join(h.dir, "manifest.json"), filepath.Join(h.dir, ".m"))
		_ = os.Symlink(".m", filepath.Join(h.dir, "manifest.json"))
		h.manifest = nil
	}, "manifest.json"},
	{"unknown file", func(h *hostile) { h.write("blobs2.ndjson", "[]\n") }, "blobs2.ndjson"},
	{"file is missing", func(h *hostile) { h.file("gone.json", "x") }, "is missing"},

	// manifest
	{"not json", func(h *hostile) { h.write("manifest.json", `{"rehome": "archive", `); h.manifest = nil }, "not valid JSON"},
	{"duplicate member", func(h *hostile) {
		h.write("manifest.json", strings.Replace(h.read("manifest.json"), `"version": 1,`, `"version": 1, "version": 1,`, 1))
		h.manifest = nil
	}, "duplicate member"},
	{"unknown member", func(h *hostile) { h.manifest["extra"] = 1 }, "extra"},
	{"version", func(h *hostile) { h.manifest["version"] = 3 }, "version 3"},
	{"deep manifest", func(h *hostile) {
		h.write("manifest.json", `{"rehome": "archive", "x":`+strings.Repeat("[", 100000)+strings.Repeat("]", 100000)+"}")
		h.manifest = nil
	}, "deep"},
	{"negative count", func(h *hostile) { h.table(0)["rows"] = -1 }, "negative"},
	{"count beyond 64 bits", func(h *hostile) { h.table(0)["rows"] = json.Number("18446744073709551617") }, "rows"},
	{"malformed digest", func(h *hostile) { h.table(0)["digest"] = "xxh3:zz" }, "32 hexadecimal"},

	{"something follows", func(h *hostile) { h.raw(h.read("manifest.json") + ` {"x":1}`) }, "not written the way"},
	{"blanks follow", func(h *hostile) { h.raw(h.read("manifest.json") + "\n") }, "not written the way"},
	{"a member in capitals", func(h *hostile) { h.raw(strings.Replace(h.read("manifest.json"), `"version"`, `"VERSION"`, 1)) }, "not written the way"},
	{"a member twice but for its case", func(h *hostile) {
		h.raw(strings.Replace(h.read("manifest.json"), `"version": 1,`, `"version": 1, "VERSION": 1,`, 1))
	}, "not written the way"},
	{"a member is missing", func(h *hostile) { delete(h.manifest, "files") }, "not written the way"},
	{"ten million databases", func(h *hostile) {
		h.raw(`{"rehome": "archive", "databases":[` + strings.Repeat("{},", 10_000_000) + "{}]}")
	}, "names and values"},
	{"a table without columns", func(h *hostile) { h.table(0)["columns"] = []string{} }, "no columns"},

	// text
	{"lines swapped", func(h *hostile) {
		lines := strings.SplitAfter(h.read("blobs.ndjson"), "\n")
		lines[3], lines[4] = lines[4], lines[3]
		h.write("blobs.ndjson", strings.Join(lines, ""))
	}, "not sorted by row id"},
	{"a line in another shard", func(h *hostile) {
		lines := strings.SplitAfter(h.read("blobs.ndjson"), "\n")
		h.write("blobs.ndjson", strings.Join(lines[1:], ""))
		h.write("blobs/aa/zz.ndjson", lines[0])
	}, "does not match its digest"},
	{"row count", func(h *hostile) { h.table(0)["rows"] = 3 }, "the manifest lists 3"},
	{"byte count", func(h *hostile) { h.table(0)["bytes"] = 1 << 40 }, "the manifest lists 1099511627776"},
	{"more text than claimed", func(h *hostile) { h.table(0)["bytes"] = 10 }, "text is longer than"},
	{"digest", func(h *hostile) { h.table(1)["digest"] = "xxh3:00000000000000000000000000000000" }, "does not match its digest"},
	{"row missing", func(h *hostile) { _ = os.Remove(filepath.Join(h.dir, "blobs.ndjson")) }, "0 rows"},
	{"row twice", func(h *hostile) { h.blobs("[1,\"a\",null]\n[1,\"b\",null]\n") }, "blobs"},
	{"key twice", func(h *hostile) { h.blobs("[1,\"a\",null]\n[2,\"a\",null]\n") }, "UNIQUE"},
	{"torn line", func(h *hostile) { h.write("blobs.ndjson", h.read("blobs.ndjson")+`[999,"a"`) }, "incomplete last line"},
	{"too few cells", func(h *hostile) { h.blobs("[1,\"a\"]\n") }, "cells"},
	{"not a row", func(h *hostile) { h.blobs("{}\n") }, "not a row of cells"},
	{"other table in a plain file", func(h *hostile) { h.blobs("{\"table\":\"meta\"}\n[1,\"a\",null]\n") }, "not a row"},
	{"deep cell", func(h *hostile) {
		h.blobs("[1,\"a\",{\"blob\":" + strings.Repeat("[", 1000) + strings.Repeat("]", 1000) + "}]\n")
	}, "deep"},
	{"other spelling", func(h *hostile) { h.blobs("[1,\"\\u0061\",null]\n") }, "spelling"},
	{"not base64", func(h *hostile) { h.blobs("[1,\"a\",{\"blob64\":\"####\"}]\n") }, "base64"},
	{"type that the column converts", func(h *hostile) { h.blobs("[1,17,null]\n") }, "id"},
	{"invalid utf-8", func(h *hostile) { h.blobs("[1,\"\xff\",null]\n") }, "UTF-8"},

	// compression
	{"torn stream", func(h *hostile) {
		s := gz(h.read("blobs.ndjson"))
		h.write("blobs.ndjson", s[:len(s)-9])
	}, "unexpected EOF"},
	{"garbage behind a stream", func(h *hostile) { h.write("blobs.ndjson", gz(h.read("blobs.ndjson"))+"garbage!!!!") }, "blobs.ndjson"},
	{"bomb", func(h *hostile) {
		h.table(0)["bytes"] = 1 << 50
		// a zstd frame of 40 KB: each block of four bytes stands for 128 KB
		frame := "\x28\xb5\x2f\xfd\x00\x58" + strings.Repeat("\x02\x00\x10x", 10000)
		h.write("blobs.ndjson", frame)
	}, "more than 1040 times"},
}

func (h *hostile) file(path, text string) {
	f := map[string]any{"path": path, "bytes": len(text), "digest": digest.Bytes([]byte(text)).String()}
	h.manifest["files"] = append(h.manifest["files"].([]any), f)
	h.database()["path"] = "store.db"
	for _, name := range []string{"blobs.ndjson", "meta.ndjson"} {
		if b := h.read(name); b != "" {
			h.write("store.db/"+name, b)
			_ = os.Remove(filepath.Join(h.dir, name))
		}
	}
}

// TestHostile: each is refused with a reason of its own, and nothing is placed.
func TestHostile(t *testing.T) {
	if len(tampered) < 30 {
		t.Fatalf("only %d hostile archives", len(tampered))
	}
	reg := all.Registry()
	good := "../../golden/compat/archive/chat"
	said := map[string]string{} // by error
	for _, c := range tampered {
		t.Run(strings.ReplaceAll(c.name, " ", "-"), func(t *testing.T) {
			work := t.TempDir()
			h := &hostile{dir: filepath.Join(work, "in")}
			if err := os.CopyFS(h.dir, os.DirFS(good)); err != nil {
				t.Fatal(err)
			}
			if err := json.Unmarshal([]byte(h.read("manifest.json")), &h.manifest); err != nil {
				t.Fatal(err)
			}
			c.do(h)
			h.save(t)
			// Made into text again, it must not do harm either; the
			// schema of a database is not run on that way.
			_, _ = convert.Convert(t.Context(), reg, h.dir, filepath.Join(work, "text"), convert.Options{From: "archive", To: "archive"})
			if err := os.RemoveAll(filepath.Join(work, "text")); err != nil {
				t.Fatal(err)
			}
			_, err := convert.Convert(t.Context(), reg, h.dir, filepath.Join(work, "out", "back.db"), convert.Options{From: "archive"})
			if err == nil {
				t.Fatal("it was taken for good")
			}
			text := err.Error()
			if !strings.Contains(text, c.want) {
				t.Errorf("the error does not say %q: %s", c.want, text)
			}
			said[strings.ReplaceAll(text, work, "")] = c.name
			if left := list(t, work); len(left) != 1 {
				t.Errorf("left behind: %v", left)
			}
		})
	}
	if len(said) < len(tampered)*9/10 {
		t.Errorf("%d hostile archives, and only %d different answers", len(tampered), len(said))
	}
}

// list is what a folder holds.
func list(t *testing.T, dir string) (names []string) {
	t.Helper()
	entries, err := fs.ReadDir(os.DirFS(dir), ".")
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		names = append(names, e.Name())
	}
	return names
}

// walkFiles calls f for each file, by its slash path.
func walkFiles(root fs.FS, f func(name string) error) error {
	return fs.WalkDir(root, ".", func(name string, e fs.DirEntry, err error) error {
		if err != nil || e.IsDir() {
			return err
		}
		return f(name)
	})
}
