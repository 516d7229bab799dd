package jsonl

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path"
	"path/filepath"
	"strings"
	"testing"

	"rehome/formats"
	"rehome/formats/internal/lines"
	"rehome/formats/loss"
	"rehome/formats/session"
	"rehome/formats/store"
)

// tree writes files to a new folder, each with its path as the content.
func tree(t *testing.T, files ...string) string {
	t.Helper()
	dir := t.TempDir()
	for _, f := range files {
		p := filepath.Join(dir, filepath.FromSlash(f))
		if err := os.MkdirAll(filepath.Dir(p), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(p, []byte(f+"\n"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

// layout has sessions in s and s/sub, those of subagents named parent+id, and reads
// the copy in s/sub if there are two.
func layout() Layout {
	return Layout{
		Format: "test",
		Around: func(file string) string {
			if dir := filepath.Dir(file); filepath.Base(dir) != "sub" {
				return filepath.Dir(dir)
			}
			return filepath.Dir(filepath.Dir(filepath.Dir(file)))
		},
		Enter: func(dir string) bool { return dir == "s" || dir == "s/sub" },
		Match: func(p string, named bool) (File, bool) {
			id, ok := strings.CutSuffix(path.Base(p), ".jsonl")
			parent, kid, sub := strings.Cut(id, "+")
			if sub {
				return File{ID: kid, Link: session.Link{Session: parent}}, ok
			}
			return File{ID: id}, ok || named
		},
		Better: func(_ *Store, a, b *File) bool { return path.Dir(a.Path) == "s/sub" },
	}
}

func opened(t *testing.T, path string, y Layout) *Store {
	t.Helper()
	l, err := formats.Locate(path)
	if err != nil {
		t.Fatal(err)
	}
	s, err := Open(l, y)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Close() })
	return s
}

func (f *File) String() string {
	s := f.ID
	for _, o := range f.Older {
		s += " instead of " + o.Path
	}
	for _, k := range f.Kids {
		s += " with " + k.ID
	}
	return s
}

func TestOpen(t *testing.T) {
	dir := tree(t, "s/a.jsonl", "s/a+x.jsonl", "s/b.jsonl", "s/sub/b.jsonl", "s/c+y.jsonl", "s/other", "s/sub/deep/d.jsonl", "elsewhere/e.jsonl")
	for _, c := range []struct{ path, want, others string }{
		{".", "[x a with x y b instead of s/b.jsonl]", "[s/other]"},
		{"s/b.jsonl", "[b instead of s/sub/b.jsonl]", "[s/other]"},
		{"s/a.jsonl", "[a with x]", "[s/other]"},
		{"s/other", "[other]", "[]"},
	} {
		s := opened(t, filepath.Join(dir, c.path), layout())
		if got := fmt.Sprint(s.Wanted()); got != c.want || fmt.Sprint(s.Others) != c.others {
			t.Errorf("%s: %s and %v, want %s and %s", c.path, got, s.Others, c.want, c.others)
		}
	}
	s := opened(t, filepath.Join(dir, "s/a.jsonl"), layout())
	if f := s.Find("y"); f == nil || f.Up != nil || s.Find("e") != nil || s.Find("a").Name != "a.jsonl" || f.Name != "s/c+y.jsonl" {
		t.Errorf("%v, %v, %v", f, s.Find("e"), s.Find("a"))
	}
	alone := layout()
	alone.Around = nil
	if s := opened(t, filepath.Join(dir, "s/a.jsonl"), alone); len(s.Files) != 1 || s.Files[0].ID != "a" {
		t.Errorf("%v", s.Files)
	}
	if s := opened(t, filepath.Join(dir, "elsewhere"), alone); len(s.Files) != 1 {
		t.Errorf("%v", s.Files)
	}
}

// TestSuperseded: a line of another file of a session is superseded if the file that is read
// says the same, in lines of its own. Any other is reported.
func TestSuperseded(t *testing.T) {
	dir := tree(t, "a.jsonl")
	packed := []byte("\x28\xb5\x2f\xfd\x20\x03\x19\x00\x00{}\n")
	for name, text := range map[string][]byte{
		"a.jsonl":     []byte("{\"n\":1,\"text\":\"one\\ntwo\"}\n{\"text\":\"three\"}\n"),
		"b.jsonl.zst": packed,
		"c.jsonl":     []byte("{\"text\":\"two\",\"n\":3}\n\n{\"text\":[{\"a\":\"three\"}]}\n{\"text\":\"three\\nfour\"}\n{\"torn\":\"thr"),
		"d.txt":       []byte("> one\n> three\nfive\n"),
	} {
		if err := os.WriteFile(filepath.Join(dir, name), text, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	y := Layout{Match: func(p string, _ bool) (File, bool) { return File{ID: p}, true }}
	s := opened(t, dir, y)
	for name, want := range map[string]struct {
		account session.Account
		differ  string
	}{
		"a.jsonl":     {session.Account{Read: 2, Superseded: 2}, "[]"},
		"b.jsonl.zst": {session.Account{Read: 1, Superseded: 1}, "[]"},
		"c.jsonl":     {session.Account{Read: 5, Superseded: 3, Unreadable: 2}, "[c.jsonl:4 c.jsonl:5]"},
		"d.txt":       {session.Account{Read: 3, Superseded: 2, Unreadable: 1}, "[d.txt:3]"},
	} {
		var differ []string
		note := func(l loss.Loss) { differ = append(differ, l.At.String()) }
		a, err := s.Superseded(t.Context(), s.Find("a.jsonl"), s.Find(name), note, func(line string) string { return strings.TrimPrefix(line, "> ") })
		if err != nil || a != want.account || fmt.Sprint(differ) != want.differ {
			t.Errorf("%s: %+v, %v, %v", name, a, differ, err)
		}
	}
	for l, err := range s.Lines(t.Context(), s.Find("b.jsonl.zst"), 2) {
		if err != nil || l.Ended || l.Object == nil {
			t.Errorf("%+v, %v", l, err)
		}
	}
}

// TestEach reads until the caller, the reader or the context stops it.
func TestEach(t *testing.T) {
	dir := tree(t, "a.jsonl", "b.jsonl", "c.jsonl")
	l, err := formats.Locate(dir)
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	var got []string
	for id, err := range Each(ctx, l, layout(), func(_ *Store, f *File, yield func(string, error) bool) bool {
		if f.ID == "b" {
			return yield("", formats.Changed("", ""))
		}
		return yield(f.ID, nil)
	}) {
		if got = append(got, fmt.Sprint(id, " ", err)); len(got) == 2 {
			cancel()
		}
	}
	if len(got) != 3 {
		t.Fatalf("%q", got)
	}
	for i, want := range []string{"a <nil>", " test: b.jsonl: in use: it changed while it was read", " context canceled"} {
		if got[i] != want {
			t.Errorf("%q, want %q", got[i], want)
		}
	}
	if !Holds(l, layout()) {
		t.Error("no session found")
	}
	if err := os.RemoveAll(dir); err != nil {
		t.Fatal(err)
	}
	for _, err := range Each(t.Context(), l, layout(), func(*Store, *File, func(int, error) bool) bool { return true }) {
		if e := (*formats.Error)(nil); !errors.As(err, &e) || e.At != dir {
			t.Error(err)
		}
	}
	if Holds(l, layout()) {
		t.Error("a session found in a folder that is gone")
	}
}

func TestLines(t *testing.T) {
	var a session.Account
	var got []string
	note := loss.Sink(func(n loss.Loss) { got = append(got, fmt.Sprint(n.Code, n.At.Line)) })
	for l, err := range lines.Each(t.Context(), strings.NewReader("{}\n\n[]\n{\"a\":\"\xff\"}\n{x}\n {} \n{\"a\""), 20) {
		if err != nil {
			t.Fatal(err)
		}
		p := Parse(l)
		if p.Account(&a, note, store.Addr{Line: l.Number}) {
			a.Converted++
		}
		if got := p.Object != nil; got != (l.Number == 1 || l.Number == 4 || l.Number == 6) {
			t.Errorf("line %d: %q", l.Number, p.Object)
		}
	}
	want := fmt.Sprint(loss.LineNotObject, 3, loss.LineInvalidUTF8, 4, loss.LineNotObject, 5, loss.LineTorn, 7)
	if s := strings.Join(got, ""); s != strings.ReplaceAll(want, " ", "") || !a.Balanced() || a.Read != 7 || a.Unreadable != 3 {
		t.Errorf("%v, want %v; %+v", got, want, a)
	}
	for _, read := range []func(lines.Line) Line{Parse, Text} {
		long := read(lines.Line{Number: 1, Long: true})
		if got = nil; long.Account(&a, note, store.Addr{}) || len(got) != 1 {
			t.Errorf("%v", got)
		}
	}
}

func TestEnds(t *testing.T) {
	dir := t.TempDir()
	for _, n := range []int{0, 5, MaxEnd, MaxEnd + 3, 3 * MaxEnd} {
		text := strings.Repeat("0123456789", n/10+1)[:n]
		if err := os.WriteFile(filepath.Join(dir, "a.jsonl"), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		s := opened(t, dir, Layout{Match: func(string, bool) (File, bool) { return File{ID: "a"}, true }})
		e, err := s.Ends(s.Files[0])
		if err != nil || e.Size != int64(n) || string(e.Head) != text[:min(n, MaxEnd)] || string(e.Tail) != text[max(0, n-MaxEnd):] {
			t.Errorf("%d: %d and %d bytes of %d, %v", n, len(e.Head), len(e.Tail), e.Size, err)
		}
	}
}

func TestFirstText(t *testing.T) {
	for content, want := range map[string]string{`"a"`: "a", `[{"text":""},{"image":1},{"text":"b"},{"text":"c"}]`: "b", `[]`: "", ``: ""} {
		if got := FirstText([]byte(content)); got != want {
			t.Errorf("%s: %q, want %q", content, got, want)
		}
	}
}
