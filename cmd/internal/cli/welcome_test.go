package cli

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"rehome/cmd/internal/console"
	"rehome/formats/all"
)

// TestWelcomeInEmptyHome: where there are no sessions, rehome says where it
// looked, and its suggestions work.
func TestWelcomeInEmptyHome(t *testing.T) {
	env := map[string]string{console.HomeVariable(): t.TempDir(), "TMPDIR": t.TempDir()}
	stdout, stderr, code := callWith(t, t.Context(), env)
	if code != 0 || stderr != "" || !strings.Contains(stdout, "\n  ~/.claude (does not exist)\n") ||
		!strings.Contains(stdout, "\n  rehome demo ") {
		t.Errorf("exit %d: %s%s", code, stdout, stderr)
	}
	if n := strings.Count(stdout, "\n"); n >= 20 {
		t.Errorf("%d lines", n)
	}
	for _, suggested := range []string{"help", "ls"} {
		if stdout, stderr, code := callWith(t, t.Context(), env, suggested); code != 0 {
			t.Errorf("%s: exit %d: %s%s", suggested, code, stdout, stderr)
		}
	}
	stdout, _, _ = callWith(t, t.Context(), env, "--json")
	checkJSON(t, []string{"--json"}, []byte(stdout))
	if !strings.Contains(stdout, `"sessions": 0`) || !strings.Contains(stdout, `.claude"`) {
		t.Error(stdout)
	}
}

// TestWelcomeExample: the example is a session of the working directory, if it
// has one, and can be shown.
func TestWelcomeExample(t *testing.T) {
	home := t.TempDir()
	furnishAnn(t, home)
	env := map[string]string{console.HomeVariable(): home}
	t.Chdir(filepath.Join(home, "app"))
	stdout, stderr, code := callWith(t, t.Context(), env)
	_, rest, _ := strings.Cut(stdout, "  rehome show ")
	id, _, ok := strings.Cut(rest, " ")
	if code != 0 || stderr != "" || !ok {
		t.Fatalf("exit %d: %s%s", code, stdout, stderr)
	}
	if doc, _, _ := callWith(t, t.Context(), env, "--json"); strings.Contains(doc, `"sessions": 0`) {
		t.Error(doc)
	} else {
		checkJSON(t, []string{"--json"}, []byte(doc))
	}
	if out, stderr, code := callWith(t, t.Context(), env, "show", id); code != 0 || !strings.Contains(out, filepath.Join(home, "app")) {
		t.Errorf("show %s: exit %d: %s%s", id, code, out, stderr)
	}
}

// TestWelcomeDoesNotWait: the screen does not wait for a home that takes long to list,
// and who leaves it does not either.
func TestWelcomeDoesNotWait(t *testing.T) {
	slow := make(chan struct{})
	release := sync.OnceFunc(func() { close(slow) })
	defer release()
	home := t.TempDir()
	if err := os.MkdirAll(filepath.Join(home, ".cursor", "chats"), 0o755); err != nil {
		t.Fatal(err)
	}
	a := &console.App{Ctx: t.Context(), Reg: all.Registry(), Now: time.Now,
		Out: &console.Output{Getenv: func(name string) string {
			<-slow
			return map[string]string{console.HomeVariable(): home}[name]
		}}}
	l := startListing(a, 0)
	gone, leave := context.WithCancel(t.Context())
	leave()
	if _, err := l.wait(gone); l.complete() || l.empty() || !errors.Is(err, context.Canceled) {
		t.Errorf("complete: %v, empty: %v, error %v", l.complete(), l.empty(), err)
	}
	release()
	if got, err := l.wait(t.Context()); err != nil || len(got.Sessions) > 0 || !l.complete() || !l.empty() {
		t.Errorf("%v, error %v", got, err)
	}
}
