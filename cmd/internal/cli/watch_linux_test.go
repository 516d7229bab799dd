package cli

import (
	"bufio"
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"rehome/cmd/internal/screen"
	"rehome/convert/watch"
	"rehome/schemas"
)

// TestWatchLines prints every kind of event.
func TestWatchLines(t *testing.T) {
	one, three, none := int64(1), int64(3), int64(0)
	at := time.Date(2026, 11, 1, 12, 3, 4, 0, time.Local)
	for _, c := range []struct {
		e    watch.Event
		want string
	}{
		{watch.Event{Kind: watch.Ready, Target: "agents", Stores: &watch.Stores{Updated: 1, Unchanged: 2, Failed: 1}},
			"12:03:04 4 stores: 1 updated, 2 unchanged, 1 failed -> agents\n"},
		{watch.Event{Kind: watch.Session, Title: "E2E 0", Session: "agent-1", Turns: &three, NewTurns: &one, Target: "agents/agent-1"},
			"12:03:04 E2E 0: 1 new turn -> agents/agent-1\n"},
		{watch.Event{Kind: watch.Session, Session: "agent-1", Turns: &three, NewTurns: &none, Target: "agents"},
			"12:03:04 agent-1: changed, 3 turns -> agents\n"},
		{watch.Event{Kind: watch.Session, Title: "E2E 0", Target: "agents"}, "12:03:04 E2E 0: changed -> agents\n"},
		{watch.Event{Kind: watch.Store, Store: ".", Files: 2, Target: "ide"}, "12:03:04 2 files written -> ide\n"},
		{watch.Event{Kind: watch.Store, Store: "a", Target: "ide/a"}, "12:03:04 a: changed -> ide/a\n"},
		{watch.Event{Kind: watch.Kept, Store: "a", Target: "ide/a"}, "12:03:04 a: no longer in the source, kept -> ide/a\n"},
		{watch.Event{Kind: watch.Recovered}, "12:03:04 resolved\n"},
		{watch.Event{Kind: watch.Problem, Store: "a", Message: "ide: the disk is full", Hint: "free some space", Retry: 4},
			"rehome: 12:03:04 ide: the disk is full (next try in 4s)\n  hint: free some space\n"},
		{watch.Event{Kind: watch.Polling, Message: "limit reached"}, "rehome: 12:03:04 limit reached; looking for changes every 5s\n"},
	} {
		var out bytes.Buffer
		c.e.Time = at
		watchEvent{c.e, &watchCmd{Interval: 5 * time.Second}, "rehome"}.Text(screen.NewPage(&out, false))
		if out.String() != c.want {
			t.Errorf("%q, want %q", out.String(), c.want)
		}
	}
}

// TestWatch runs the program until a signal ends it, which is a success. Its lines
// match their schema.
func TestWatch(t *testing.T) {
	dir := t.TempDir()
	furnish(t, dir)
	cmd := programOf("watch", filepath.Join(dir, "chat", "store.db"), filepath.Join(dir, "text"), "--to", "archive", "--json", "--interval",
		"100ms")
	cmd.Env = append(cmd.Env, "HOME="+dir)
	stdout, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	cmd.Stderr = os.Stderr
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	defer cmd.Process.Kill()
	lines := bufio.NewScanner(stdout)
	next := func() (e watch.Event) {
		if !lines.Scan() {
			t.Fatalf("no line: %v", lines.Err())
		}
		if err := schemas.Validate("watch-event-1", lines.Bytes()); err != nil {
			t.Errorf("%v: %s", err, lines.Bytes())
		}
		if err := json.Unmarshal(lines.Bytes(), &e); err != nil {
			t.Fatal(err)
		}
		return e
	}
	if e := next(); e.Kind != watch.Ready || e.Stores.Added != 1 {
		t.Errorf("%+v", e)
	}
	later, err := os.ReadFile(filepath.Join(dir, "later", "store.db"))
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "chat", "new"), later, 0o666); err != nil {
		t.Fatal(err)
	}
	if err := os.Rename(filepath.Join(dir, "chat", "new"), filepath.Join(dir, "chat", "store.db")); err != nil {
		t.Fatal(err)
	}
	if e := next(); e.Kind != watch.Session || e.Title != "Golden demo" || !strings.HasSuffix(e.Target, "text") {
		t.Errorf("%+v", e)
	}
	if err := cmd.Process.Signal(os.Interrupt); err != nil {
		t.Fatal(err)
	}
	if lines.Scan() {
		t.Errorf("after the signal: %s", lines.Bytes())
	}
	if err := cmd.Wait(); err != nil {
		t.Errorf("exit status of the signal: %v", err)
	}
}
