package catalog

import (
	"context"
	"fmt"
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
)

// TestMain is also the child of TestFileCut: it writes the rows of its first argument to its
// second one, and kills itself at a step, or may write files up to a size.
func TestMain(m *testing.M) {
	if os.Getenv("CATALOG_CHILD") == "" {
		os.Exit(m.Run())
	}
	if max, err := strconv.ParseUint(os.Getenv("CATALOG_MAX"), 10, 64); err == nil {
		signal.Ignore(syscall.SIGXFSZ)
		if err := syscall.Setrlimit(syscall.RLIMIT_FSIZE, &syscall.Rlimit{Cur: max, Max: max}); err != nil {
			panic(err)
		}
	}
	at, _ := strconv.Atoi(os.Getenv("CATALOG_KILL"))
	o := Options{Jobs: 1, OnProgress: func(convert.Progress) {
		if at--; at == 0 {
			_ = syscall.Kill(os.Getpid(), syscall.SIGKILL)
			select {}
		}
	}}
	if _, err := WriteFile(context.Background(), all.Registry(), os.Args[1], os.Args[2], o); err != nil {
		fmt.Println(err)
		os.Exit(1)
	}
	os.Exit(0)
}

// TestFileCut kills a run, and has no room for the rows: nothing appears, and the next run
// removes what was left.
func TestFileCut(t *testing.T) {
	src := t.TempDir()
	for k := range 300 {
		s := &session.Session{Head: session.Head{ID: fmt.Sprint(k), Agent: "codex", Title: strings.Repeat("title ", 20)}}
		if err := os.WriteFile(filepath.Join(src, fmt.Sprint(k, ".jsonl")), append(session.AppendHead(nil, s), '\n'), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for _, c := range []struct {
		env string
		ok  bool
	}{{"CATALOG_KILL=1", false}, {"CATALOG_KILL=2", false}, {"CATALOG_MAX=20000", false}, {"CATALOG_MAX=100000", false}, {"CATALOG_MAX=4000000", true}} {
		dir := t.TempDir()
		child := func(env string) error {
			p := exec.CommandContext(t.Context(), os.Args[0], src, filepath.Join(dir, "rows"))
			p.Env = append(os.Environ(), "CATALOG_CHILD=1", env)
			out, err := p.CombinedOutput()
			t.Logf("%s: %v %s", env, err, out)
			return err
		}
		err := child(c.env)
		if _, missing := os.Lstat(filepath.Join(dir, "rows")); (err == nil) != c.ok || (missing == nil) != c.ok {
			t.Errorf("%s: %v, %v", c.env, err, missing)
		}
		if err := child(""); (err == nil) == c.ok { // it is there already
			t.Errorf("%s: then %v", c.env, err)
		}
		if list, _ := os.ReadDir(dir); len(list) != 1 || list[0].Name() != "rows" {
			t.Errorf("%s: left %v", c.env, list)
		}
	}
}
