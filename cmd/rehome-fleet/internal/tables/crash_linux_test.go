package tables

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"rehome/convert"
	"rehome/formats/all"
	"rehome/formats/session"
	"rehome/internal/fsx"
)

// TestMain is also the child of the tests below: it writes the tables of its first
// argument to its second one, and kills itself at a step, or may write files up to a size.
func TestMain(m *testing.M) {
	if os.Getenv("TABLES_CHILD") == "" {
		os.Exit(m.Run())
	}
	at, _ := strconv.Atoi(os.Getenv("TABLES_KILL"))
	step := func() {
		if at--; at == 0 {
			_ = syscall.Kill(os.Getpid(), syscall.SIGKILL)
			select {}
		}
	}
	if max, err := strconv.ParseUint(os.Getenv("TABLES_MAX"), 10, 64); err == nil {
		signal.Ignore(syscall.SIGXFSZ)
		if err := syscall.Setrlimit(syscall.RLIMIT_FSIZE, &syscall.Rlimit{Cur: max, Max: max}); err != nil {
			panic(err)
		}
	}
	progress := 0
	o := Options{Replace: true, Jobs: 1, OnProgress: func(convert.Progress) {
		if progress++; progress <= 2 {
			step()
		}
	}}
	_, err := writeWith(context.Background(), all.Registry(), os.Args[1], os.Args[2], Meta{}, o, func(from, to string) error {
		step()
		err := fsx.Move(from, to)
		step()
		return err
	})
	if err != nil {
		fmt.Println(err)
		os.Exit(1)
	}
	os.Exit(0)
}

// child runs TestMain as a child, and returns how it ended.
func child(t *testing.T, src, dir string, env ...string) (string, error) {
	t.Helper()
	c := exec.CommandContext(t.Context(), os.Args[0], src, dir)
	c.Env = append(os.Environ(), append(env, "TABLES_CHILD=1")...)
	out, err := c.CombinedOutput()
	return string(out), err
}

// many writes folders of canonical sessions with texts that cannot be compressed.
func many(t *testing.T, sessions int) string {
	dir, random := t.TempDir(), rand.New(rand.NewPCG(1, 2))
	for i := range sessions {
		text := ""
		for len(text) < 1000 {
			text += strconv.FormatUint(random.Uint64(), 36)
		}
		s := &session.Session{Head: session.Head{ID: fmt.Sprint("s", i), Agent: "codex"}}
		m := &session.Message{ID: "m", Role: session.User, Parts: []session.Part{&session.Text{Text: text}}}
		if err := os.Rename(lines(t, s, m), filepath.Join(dir, fmt.Sprint(i, ".jsonl"))); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

// TestKilled kills a run at each step: there are the old tables, also under the name of
// the backup, or the new ones; and the next run removes what was left.
func TestKilled(t *testing.T) {
	src, old := many(t, 3), many(t, 1)
	seen := map[string]bool{}
	for at := 1; ; at++ {
		parent := t.TempDir()
		dir := filepath.Join(parent, "tables")
		if out, err := child(t, old, dir); err != nil {
			t.Fatal(out, err)
		}
		_, err := child(t, src, dir, fmt.Sprint("TABLES_KILL=", at))
		rows := func(dir string) int {
			if _, err := os.Stat(dir); errors.Is(err, fs.ErrNotExist) {
				return 0
			}
			return len(read[Session](t, dir, "sessions"))
		}
		state := fmt.Sprint(rows(dir), rows(dir+".bak-1"))
		if seen[state] = true; state != "1 0" && state != "0 1" && state != "3 1" {
			t.Errorf("killed at %d: %s sessions in the tables and the backup", at, state)
		}
		if err == nil {
			break
		}
		if out, err := child(t, src, dir); err != nil {
			t.Fatal(out, err)
		}
		left, _ := os.ReadDir(parent)
		for _, e := range left {
			if rows(dir) != 3 || !strings.HasPrefix(e.Name(), "tables") {
				t.Errorf("killed at %d: then %d sessions, and %s", at, rows(dir), e.Name())
			}
		}
	}
	if len(seen) != 3 {
		t.Errorf("only seen: %v", seen)
	}
}

// TestFull has no room for the canonical text, or for the tables: nothing appears.
func TestFull(t *testing.T) {
	src := many(t, 100)
	for size, ok := range map[int]bool{500: false, 20_000: false, 200_000: true} {
		parent := t.TempDir()
		out, err := child(t, src, filepath.Join(parent, "tables"), fmt.Sprint("TABLES_MAX=", size))
		left, _ := os.ReadDir(parent)
		if (err == nil) != ok || (len(left) > 0) != ok || !ok && !strings.Contains(out, "the disk is full") && !strings.Contains(out, "too large") {
			t.Errorf("%d bytes: %v, %s; left: %v", size, err, out, left)
		}
	}
}
