package watch

import (
	"context"
	"errors"
	"fmt"
	"hash/maphash"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"rehome/convert"
	"rehome/formats/all"
	"rehome/formats/loss"
	"rehome/testdata/chat"
)

// TestOnce updates once, through Run: with nothing to report, with invalid options,
// without a source, and with losses beyond the limit.
func TestOnce(t *testing.T) {
	dir := t.TempDir()
	store, err := chat.Stores.ReadFile("before.db")
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "store.db"), store, 0o666); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		src, kinds, want string
		o                convert.Options
	}{
		{"store.db", "ready {1 0 0 0 0}", "", convert.Options{To: "archive"}},
		{"store.db", "ready {0 0 1 0 0}", "", convert.Options{To: "archive"}},
		{"store.db", "problem ready {0 0 0 0 1}", "losses exceed", convert.Options{To: "archive", Allow: loss.Reshaped}},
		{"store.db", "", "unknown format", convert.Options{To: "nope"}},
		{"nothing", "problem", "no such file", convert.Options{To: "archive"}},
	} {
		var kinds []string
		c.o.State = filepath.Join(dir, "state")
		err := Run(t.Context(), Options{Registry: all.Registry(), Source: filepath.Join(dir, c.src), Target: filepath.Join(dir, "text"), Convert: c.o, Once: true, OnEvent: func(e Event) {
			kinds = append(kinds, string(e.Kind))
			if e.Kind == Ready {
				kinds = append(kinds, fmt.Sprint(*e.Stores))
			}
		}})
		if got := strings.Join(kinds, " "); c.want == "" && err != nil || !strings.Contains(fmt.Sprint(err), c.want) || got != c.kinds {
			t.Errorf("%s %+v: %q, %v; want %q, %q", c.src, c.o, got, err, c.kinds, c.want)
		}
	}
	if _, err := os.Stat(filepath.Join(dir, "text", "manifest.json")); err != nil {
		t.Error(err)
	}
}

// TestRunEnds lets Run use the events of the system until its context ends.
func TestRunEnds(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	var kinds []Kind
	err := Run(ctx, Options{Registry: all.Registry(), Source: filepath.Join(t.TempDir(), "nothing"), Target: "text", OnEvent: func(e Event) {
		kinds = append(kinds, e.Kind)
		cancel()
	}})
	if err != nil || len(kinds) != 1 || kinds[0] != Problem {
		t.Errorf("%q, %v", kinds, err)
	}
}

// TestProblemsOfSessions: what is wrong with a session depends on the source alone.
func TestProblemsOfSessions(t *testing.T) {
	r := &convert.Report{Stores: []convert.StoreReport{{Path: "a", Status: convert.Placed, Sessions: []convert.SessionReport{
		{ID: "1", Status: convert.Failed, Error: &convert.ErrorReport{Message: "line 3: not JSON", Hint: "mend it"}},
		{ID: "2", Status: convert.Skipped},
		{ID: "3", Status: convert.Placed},
	}}, {Path: "b", Status: convert.Skipped}}}
	p := problemsOf(r, nil)
	want := "a#1: line 3: not JSON\na#2: losses exceed --allow\nb: losses exceed --allow"
	if got := p.joined(); got == nil || got.Error() != want || !errors.Is(got, ErrLosses) || p.repeat() {
		t.Errorf("%v, repeated: %v", got, p.repeat())
	}
	if n := countStores(r); n.Failed != 1 || n.Added != 1 {
		t.Errorf("%+v", n)
	}
}

// TestLook changes one thing at a time around a source that is a file, or in a folder.
func TestLook(t *testing.T) {
	dir := t.TempDir()
	file := filepath.Join(dir, "session.jsonl")
	write := func(path string) func() error {
		return func() error {
			return errors.Join(os.MkdirAll(filepath.Dir(path), 0o777), os.WriteFile(path, []byte(path), 0o666))
		}
	}
	if err := write(file)(); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		what, src string
		change    func() error
		seen      bool
	}{
		{"the log", file, write(file + "-wal"), true},
		{"the journal", file, write(file + "-journal"), true},
		{"the index of the log", file, write(file + "-shm"), false},
		{"the sidecar", file, write(file + ".sidecar.ndjson"), true},
		{"another file", file, write(filepath.Join(dir, "other.jsonl")), false},
		{"a subagent", file, write(filepath.Join(dir, "session", "subagents", "agent-1.jsonl")), true},
		{"a file in the folder", dir, write(filepath.Join(dir, "other")), true},
		{"a file below it", dir, write(filepath.Join(dir, "a", "b", "c")), true},
		{"a repository", dir, write(filepath.Join(dir, ".git", "index")), false},
		{"what rehome stages", dir, write(filepath.Join(dir, ".text.rehome-0123456789abcdef", "x")), false},
		{"a dangling link", dir, func() error { return os.Symlink("nowhere", filepath.Join(dir, "link")) }, false},
		{"a linked file", dir, func() error { return os.Symlink("other", filepath.Join(dir, "linked")) }, true},
		{"a removed file", dir, func() error { return os.Remove(filepath.Join(dir, "other")) }, true},
	} {
		l := &looker{seed: maphash.MakeSeed(), path: c.src}
		before := l.look(t.Context())
		if err := c.change(); err != nil {
			t.Fatal(err)
		}
		after := l.look(t.Context())
		if before.young != after.young { // it is a part of what is seen
			after.print--
		}
		if (before.print != after.print) != c.seen {
			t.Errorf("%s: seen is %v, want %v", c.what, !c.seen, c.seen)
		}
	}
}

// TestWhereToLook: the folders that changed last are watched first, and above a source
// that is missing the next folder that is not.
func TestWhereToLook(t *testing.T) {
	dir := t.TempDir()
	l := &looker{seed: maphash.MakeSeed(), path: filepath.Join(dir, "no", "such", "store.db")}
	if now := l.look(t.Context()); now.exists || len(now.folders) != 1 || now.folders[0].Path != dir {
		t.Errorf("%+v", now)
	}
	for i, name := range []string{"old", "new", "older"} {
		path := filepath.Join(dir, name)
		if err := os.Mkdir(path, 0o777); err != nil {
			t.Fatal(err)
		}
		at := map[string]int64{"old": 2, "new": 3, "older": 1}[name] * 1000
		for range i {
			os.WriteFile(filepath.Join(path, fmt.Sprint(i)), nil, 0o666)
		}
		for _, p := range []string{filepath.Join(path, fmt.Sprint(i)), path} {
			os.Chtimes(p, time.Unix(at, 0), time.Unix(at, 0))
		}
	}
	os.Chtimes(dir, time.Unix(500, 0), time.Unix(500, 0))
	l.path = dir
	var got []string
	for _, f := range l.look(t.Context()).folders {
		got = append(got, filepath.Base(f.Path))
	}
	if want := "new old older " + filepath.Base(dir); strings.Join(got, " ") != want {
		t.Errorf("%q, want %q", got, want)
	}
}
