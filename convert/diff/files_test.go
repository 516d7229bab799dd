package diff_test

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"rehome/convert"
	"rehome/convert/diff"
	"rehome/formats/all"
)

// exact compares two paths record by record. It returns a line for each record that
// differs, with the names of its cells.
func exact(t *testing.T, a, b string) (*diff.Exact, []string) {
	t.Helper()
	x, err := diff.CompareRecords(t.Context(), all.Registry(), side(a), side(b), diff.Options{})
	if err != nil || len(x.Failed) > 0 {
		t.Fatal(err, x.Failed)
	}
	var out []string
	for _, s := range x.Stores {
		if s.After == nil {
			out = append(out, "removed "+filepath.Base(s.Before.Store))
		}
		for _, r := range s.Rows {
			var names []string
			for _, f := range r.Cells.List {
				names = append(names, f.Name)
			}
			out = append(out, r.Change+" "+r.At+" "+strings.Join(names, ","))
		}
	}
	return x, out
}

// TestFiles: text without records is compared line by line, files whatever they are
// called. Sidecars of unreleased builds are ignored.
func TestFiles(t *testing.T) {
	const head, one, two = `{"type":"session","version":1,"id":"s","agent":"cursor-cli"}`, `{"type":"message","id":"1","role":"user","parts":[]}`, `{"type":"message","id":"2","role":"user","parts":[]}`
	long := func(end string) string {
		return `{"type":"message","id":"1","role":"user","parts":[{"type":"text","text":"` + strings.Repeat("x", 10000) + end + `"}]}`
	}
	user := func(text string) string {
		return `{"type":"user","uuid":"u1","sessionId":"0a000000-0000-4000-8000-000000000001","message":{"role":"user","content":"` + text + `"}}` + "\n"
	}
	for name, c := range map[string]struct {
		a, b map[string]string
		want []string
	}{
		"equal":            {map[string]string{"x/s.jsonl": head}, map[string]string{"x/s.jsonl": head}, nil},
		"a member":         {map[string]string{"x/s.jsonl": head + "\n" + one + "\n"}, map[string]string{"x/s.jsonl": head + "\n" + strings.Replace(one, "user", "system", 1) + "\n"}, []string{"changed s.jsonl:2 line.role"}},
		"a long line":      {map[string]string{"s.jsonl": head + "\n" + long("y")}, map[string]string{"s.jsonl": head + "\n" + long("z")}, []string{"changed s.jsonl:2 line.parts.1.text"}},
		"other messages":   {map[string]string{"x/s.jsonl": head + "\n" + one}, map[string]string{"x/s.jsonl": head + "\n" + two}, []string{"removed s.jsonl:2 line", "added s.jsonl:2 line"}},
		"a newline":        {map[string]string{"x/s.jsonl": head + "\n"}, map[string]string{"x/s.jsonl": head}, []string{"changed s.jsonl:1 line.end"}},
		"a file":           {map[string]string{"x/s.jsonl": head, "x/t.jsonl": head}, map[string]string{"x/s.jsonl": head}, []string{"removed t.jsonl"}},
		"other names":      {map[string]string{"x/s.jsonl": head}, map[string]string{"y/t.jsonl": head + "\n" + one}, []string{"changed t.jsonl:1 line.end", "added t.jsonl:2 line"}},
		"an old sidecar":   {map[string]string{"x/s.jsonl": head, "x/s.jsonl.sidecar.ndjson": "1\n2\n"}, map[string]string{"x/s.jsonl": head, "x/s.jsonl.sidecar.ndjson": "1\n3\n"}, nil},
		"a hidden file":    {map[string]string{"x/s.jsonl": head, ".git": "x"}, map[string]string{"x/s.jsonl": head, ".git": "y"}, nil},
		"files of clients": {map[string]string{"0a000000-0000-4000-8000-000000000001.jsonl": user("a")}, map[string]string{"0a000000-0000-4000-8000-000000000001.jsonl": user("b")}, []string{"changed 0a000000-0000-4000-8000-000000000001.jsonl:1 line.message.content"}},
	} {
		dirs := [2]string{t.TempDir(), t.TempDir()}
		for i, files := range []map[string]string{c.a, c.b} {
			for name, text := range files {
				at := filepath.Join(dirs[i], filepath.FromSlash(name))
				put(t, at, text)
				if len(files) == 1 && !strings.Contains(name, "/") {
					dirs[i] = at // the file itself
				}
			}
		}
		if x, got := exact(t, dirs[0], dirs[1]); !slices.Equal(got, c.want) || (len(x.Stores) == 0) != (c.want == nil) {
			t.Errorf("%s: %q", name, got)
		}
	}
}

// TestSidecars: a sidecar of one text and not of another is a difference; that a store has
// none is only reported.
func TestSidecars(t *testing.T) {
	dir := t.TempDir()
	at := func(name string) string { return filepath.Join(dir, name) }
	if err := os.CopyFS(at("sdk"), os.DirFS("../../testdata/sdk/gen/sqlite")); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"a", "b"} {
		if _, err := convert.Convert(t.Context(), all.Registry(), at("sdk"), at(name), convert.Options{To: "cursor-ndjson"}); err != nil {
			t.Fatal(err)
		}
	}
	parts, err := filepath.Glob(at("a/agent-*/sidecar.ndjson"))
	if err != nil || len(parts) != 2 {
		t.Fatal(err, parts)
	}
	if x, got := exact(t, at("sdk"), at("a")); got != nil || !slices.Equal(x.NotCompared, parts) {
		t.Errorf("%q, %q", got, x.NotCompared)
	}
	if x, got := exact(t, at("a"), at("b")); got != nil || x.NotCompared != nil {
		t.Errorf("%q, %q", got, x.NotCompared)
	}
	if err := os.Remove(filepath.Join(at("b"), filepath.Base(filepath.Dir(parts[0])), "sidecar.ndjson")); err != nil {
		t.Fatal(err)
	}
	if err := os.CopyFS(at("c"), os.DirFS(at("sdk"))); err != nil {
		t.Fatal(err)
	}
	put(t, at("c.sidecar.ndjson"), "{}\n")
	put(t, at("c/index.db.sidecar.ndjson"), "{}\n")
	if x, got := exact(t, at("sdk"), at("c")); got != nil || !slices.Equal(x.NotCompared, []string{at("c.sidecar.ndjson"), at("c/index.db.sidecar.ndjson")}) {
		t.Errorf("%q, %q", got, x.NotCompared)
	}
	x, got := exact(t, at("a"), at("b"))
	if len(got) == 0 || x.NotCompared != nil {
		t.Errorf("%q", got)
	}
	for _, row := range got {
		if !strings.HasPrefix(row, "removed a/agent-") {
			t.Error(row)
		}
	}
}
