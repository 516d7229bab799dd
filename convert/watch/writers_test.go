package watch

import (
	"context"
	"database/sql"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"rehome/convert"
	"rehome/formats/all"
	"rehome/internal/fsevents"
	"rehome/testdata/chat"
)

// The loop with real stores, writers and events. Nothing here depends on time: a test
// waits until the target is as it should be, and fails if that takes minutes.

// live is a run of the loop on a source that the test writes to.
type live struct {
	t        *testing.T
	src, dst string
	to       string
	events   chan Event
	seen     []string
}

func watchFolder(t *testing.T, to string, events func() (source, time.Duration, func())) *live {
	dir := t.TempDir()
	l := &live{t: t, src: filepath.Join(dir, "home"), dst: filepath.Join(dir, "text"), to: to, events: make(chan Event, 1000)}
	if err := os.Mkdir(l.src, 0o777); err != nil {
		t.Fatal(err)
	}
	from, interval, end := events()
	w := newWatcher(Options{Registry: all.Registry(), Source: l.src, Target: l.dst, Convert: convert.Options{To: to, State: filepath.Join(dir, "state")}, Interval: interval, OnEvent: func(e Event) { l.events <- e }})
	w.quiet = 10 * time.Millisecond
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan error)
	go func() { done <- w.run(ctx, from) }()
	t.Cleanup(func() {
		cancel()
		if err := <-done; err != nil {
			t.Errorf("the loop ended with %v", err)
		}
		end()
	})
	return l
}

// system returns the events of the system. The loop looks without one once a day.
func system() (source, time.Duration, func()) {
	w, err := fsevents.New()
	if err != nil {
		panic(err)
	}
	return w, 2 * time.Hour, func() { w.Close() }
}

func polled() (source, time.Duration, func()) { return noEvents{}, 20 * time.Millisecond, func() {} }

// upToDate waits until the target is what a new conversion of the source is.
func (l *live) upToDate(step string) {
	l.t.Helper()
	fresh := filepath.Join(l.t.TempDir(), "text")
	if _, err := convert.Convert(l.t.Context(), all.Registry(), l.src, fresh, convert.Options{To: l.to}); err != nil {
		l.t.Fatalf("%s: %v", step, err)
	}
	want := tree(l.t, fresh)
	for end := time.After(2 * time.Minute); tree(l.t, l.dst) != want; {
		select {
		case e := <-l.events:
			l.seen = append(l.seen, fmt.Sprintf("%s %s %s", e.Kind, e.Title, e.Message))
		case <-end:
			l.t.Fatalf("%s: the target is not up to date; events: %q", step, l.seen)
		}
	}
}

// tree is the content of all files below a folder.
func tree(t *testing.T, dir string) string {
	var out strings.Builder
	filepath.WalkDir(dir, func(path string, e os.DirEntry, err error) error {
		if err != nil || e.IsDir() {
			return nil // it is not there yet
		}
		b, err := os.ReadFile(path)
		rel, _ := filepath.Rel(dir, path)
		fmt.Fprintf(&out, "%s %v\n%s\n", rel, err, b)
		return nil
	})
	return out.String()
}

func (l *live) do(err error) {
	l.t.Helper()
	if err != nil {
		l.t.Fatal(err)
	}
}

func (l *live) exec(db *sql.DB, statements ...string) {
	l.t.Helper()
	for _, s := range statements {
		if _, err := db.Exec(s); err != nil {
			l.t.Fatalf("%s: %v", s, err)
		}
	}
}

// TestDatabase writes to a chat as its client does, and as tools do.
func TestDatabase(t *testing.T) {
	for name, events := range map[string]func() (source, time.Duration, func()){"events": system, "polled": polled} {
		t.Run(name, func(t *testing.T) {
			l := watchFolder(t, "archive", events)
			path := filepath.Join(l.src, "chat", "store.db")
			before, err := chat.Stores.ReadFile("before.db")
			l.do(err)
			after, err := chat.Stores.ReadFile("after.db")
			l.do(err)
			l.do(os.Mkdir(filepath.Dir(path), 0o777))
			l.do(os.WriteFile(path, before, 0o666))
			l.upToDate("a new store")

			db, err := sql.Open("sqlite", path)
			l.do(err)
			defer db.Close()
			db.SetMaxOpenConns(1)
			later := filepath.Join(t.TempDir(), "after.db")
			l.do(os.WriteFile(later, after, 0o666))
			l.exec(db, "pragma journal_mode=wal", "pragma wal_autocheckpoint=0", "attach '"+later+"' as later")
			l.exec(db, "insert or replace into blobs select * from later.blobs", "insert or replace into meta select * from later.meta")
			l.upToDate("a turn in the log")
			l.exec(db, "pragma wal_checkpoint(truncate)")
			l.exec(db, "insert into blobs values ('00', x'00')")
			l.upToDate("a row after the checkpoint")
			l.exec(db, "delete from blobs where id = '00'", "vacuum", "pragma wal_checkpoint(restart)", "insert into blobs values ('01', x'01')")
			l.upToDate("a row at the start of the log again")
			l.do(db.Close())
			l.upToDate("no log")

			l.do(os.WriteFile(path+".new", before, 0o666))
			l.do(os.Rename(path+".new", path))
			l.upToDate("another file under its name")
		})
	}
}

// TestLines writes text as clients do: appended to, and written again beside and moved.
func TestLines(t *testing.T) {
	for name, events := range map[string]func() (source, time.Duration, func()){"events": system, "polled": polled} {
		t.Run(name, func(t *testing.T) {
			l := watchFolder(t, "canonical", events)
			project := filepath.Join(l.src, "-home-ann-app")
			path := filepath.Join(project, "11111111-0000-4000-8000-000000000001.jsonl")
			line := func(n int) string {
				id, parent := fmt.Sprintf("22222222-0000-4000-8000-%012d", n), "null"
				if n > 0 {
					parent = fmt.Sprintf(`"22222222-0000-4000-8000-%012d"`, n-1)
				}
				return fmt.Sprintf(`{"parentUuid":%s,"isSidechain":false,"userType":"external","cwd":"/home/ann/app","sessionId":"11111111-0000-4000-8000-000000000001","version":"2.0.0","type":"user","message":{"role":"user","content":"prompt %d"},"uuid":"%s","timestamp":"2026-11-01T10:00:%02d.000Z"}`, parent, n, id, n) + "\n"
			}
			l.do(os.Mkdir(project, 0o777))
			l.do(os.WriteFile(path, []byte(line(0)), 0o666))
			l.upToDate("a new session")
			f, err := os.OpenFile(path, os.O_APPEND|os.O_WRONLY, 0)
			l.do(err)
			defer f.Close()
			for n := 1; n < 4; n++ {
				_, err := f.WriteString(line(n))
				l.do(err)
			}
			l.upToDate("more lines")
			l.do(os.WriteFile(path+".tmp", []byte(line(0)+line(1)), 0o666))
			l.do(os.Rename(path+".tmp", path))
			l.upToDate("another file under its name")
			away := l.src + ".away"
			l.do(os.Rename(l.src, away))
			l.do(os.WriteFile(filepath.Join(away, "-home-ann-app", filepath.Base(path)), []byte(line(0)+line(1)+line(2)), 0o666))
			l.do(os.Rename(away, l.src))
			l.upToDate("the folder came back")
		})
	}
}
