package cli

import (
	"bytes"
	"context"
	"encoding/hex"
	"errors"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"rehome/cmd/internal/console"
	"rehome/convert"
	"rehome/formats/all"
)

// homeApp is an app in the home folder of furnishHome.
func homeApp(t *testing.T) (a *console.App, home string) {
	t.Helper()
	home, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	t.Chdir(home)
	furnishHome(t, home)
	vars := map[string]string{console.HomeVariable(): home, "PATH": clientsIn(t, home)}
	env := func(name string) string { return vars[name] }
	return &console.App{Ctx: t.Context(), Reg: all.Registry(), Out: console.NewOutput(io.Discard, io.Discard, env, console.OutputFlags{}),
		Now: time.Now}, home
}

// clientsIn returns a folder in a home folder with programs that are named like clients.
func clientsIn(t *testing.T, home string) string {
	t.Helper()
	bin := filepath.Join(home, "bin")
	for _, client := range []string{"claude", "cursor-agent"} {
		if runtime.GOOS == "windows" {
			client += ".exe"
		}
		if err := errors.Join(os.MkdirAll(bin, 0o755), os.WriteFile(filepath.Join(bin, client), nil, 0o755)); err != nil {
			t.Fatal(err)
		}
	}
	return bin
}

// TestPrepareContinue: a session is continued by its own client where that can find
// it, else as a copy in Claude Code, of which there is one, however often it is asked
// for.
func TestPrepareContinue(t *testing.T) {
	a, home := homeApp(t)
	src, err := resolve(a, "flaky login", false)
	if err != nil {
		t.Fatal(err)
	}
	prepare := func(src source, o continueOptions) launch {
		t.Helper()
		l, err := prepareContinue(a, src, o)
		if err != nil {
			t.Fatal(err)
		}
		return l
	}
	app := filepath.Join(home, "app")
	if l := prepare(src, continueOptions{}); l.Migrated != nil ||
		strings.Join(l.Argv, " ") != "cursor-agent --resume 5d0b2b7e-2222-4000-8000-00000000106e" || l.Dir != app || len(l.Env) != 0 ||
		l.Client != "Cursor CLI" {
		t.Errorf("%+v", l)
	}
	first := prepare(src, continueOptions{In: "claude-code"})
	if m := first.Migrated; m == nil || m.Status != convert.Placed || !slices.Equal(first.Argv, []string{"claude", "--resume", m.Session}) ||
		first.Dir != app || first.Client != "Claude Code" || first.Note != "" {
		t.Fatalf("%+v", first)
	}
	if l := prepare(src, continueOptions{In: "claude-code"}); l.Migrated.Status != convert.Same || l.Argv[2] != first.Argv[2] {
		t.Errorf("%+v", l)
	}
	own, err := resolve(a, first.Migrated.Session, false) // now a session of Claude Code
	if err != nil {
		t.Fatal(err)
	}
	own.session = first.Migrated.Session // soon it is not the only one
	before, err := os.ReadFile(first.Migrated.File)
	if err != nil {
		t.Fatal(err)
	}
	if l := prepare(own, continueOptions{}); l.Migrated.Status != convert.Same || l.Argv[2] != first.Argv[2] || l.Dir != app {
		t.Errorf("%+v", l)
	}
	opened := append(bytes.Clone(before), `{"type":"last-prompt","lastPrompt":"go on"}`+"\n"...)
	if err := os.WriteFile(first.Migrated.File, opened, 0o600); err != nil {
		t.Fatal(err)
	}
	if l := prepare(src, continueOptions{In: "claude-code"}); l.Migrated.Status != convert.Same || l.Note != "" {
		t.Errorf("%+v: it was only opened in the client", l)
	}
	last := before[bytes.LastIndex(before, []byte(`,"uuid":"`))+len(`,"uuid":"`):][:36]
	prompt := `{"parentUuid":"` + string(last) + `","isSidechain":false,"type":"user","message":{"role":"user","content":"go on"},"uuid":"00000000-0000-4000-8000-000000000009","timestamp":"2027-01-01T00:00:00.000Z","cwd":"` + app + `","sessionId":"` + first.Migrated.Session + `"}`
	if err := os.WriteFile(first.Migrated.File, append(opened, prompt+"\n"...), 0o600); err != nil {
		t.Fatal(err)
	}
	if l := prepare(src, continueOptions{In: "claude-code"}); l.Argv[2] != first.Argv[2] || !strings.Contains(l.Note, "--again") {
		t.Errorf("%+v: it was continued in the client", l)
	}
	// A renamed project, for the client's own session, too.
	for name, src := range map[string]source{"renamed": src, "renamed again": own} {
		other := filepath.Join(home, name)
		if err := os.Mkdir(other, 0o755); err != nil {
			t.Fatal(err)
		}
		if l := prepare(src, continueOptions{Cwd: other}); l.Dir != other || l.Argv[0] != "claude" || l.Migrated.Status != convert.Placed {
			t.Errorf("%+v", l)
		}
	}
	if _, err := prepareContinue(a, src, continueOptions{In: "cursor-ide"}); err == nil ||
		!strings.Contains(err.Error(), "cannot be continued in cursor-ide") {
		t.Error(err)
	}
	// A chat that is not where the client looks has to be migrated.
	elsewhere := filepath.Join(home, "backup")
	if err := os.CopyFS(elsewhere, os.DirFS(filepath.Join(home, ".cursor", "chats"))); err != nil {
		t.Fatal(err)
	}
	if l := prepare(source{path: elsewhere}, continueOptions{DryRun: true}); l.Argv[0] != "claude" {
		t.Errorf("%+v", l)
	}
	// The home folder of somebody else.
	useHome(a, &home)
	a.OwnEnv = func(string) string { return "/nobody" }
	if l := prepare(src, continueOptions{}); !slices.Equal(l.Env, []string{console.HomeVariable() + "=" + home}) {
		t.Errorf("%+v", l)
	}
	if l := prepare(src, continueOptions{In: "claude-code", DryRun: true}); !slices.Equal(l.Env,
		[]string{"CLAUDE_CONFIG_DIR=" + filepath.Join(home, ".claude")}) {
		t.Errorf("%+v", l)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	a.Ctx = ctx
	if _, err := prepareContinue(a, src, continueOptions{}); err == nil {
		t.Error("canceled")
	}
}

func TestLaunchCommand(t *testing.T) {
	l := launch{Argv: []string{"claude", "--resume", "1a"}, Dir: "/home/ann/it's", Env: []string{"CLAUDE_CONFIG_DIR=/x y=z"}}
	for goos, want := range map[string]string{
		"linux":   `cd '/home/ann/it'\''s' && CLAUDE_CONFIG_DIR='/x y=z' claude --resume 1a`,
		"windows": `cd "/home/ann/it$([char]0x27)s"; $env:CLAUDE_CONFIG_DIR = '/x y=z'; claude --resume 1a`,
	} {
		if got := l.command(goos); got != want {
			t.Errorf("%s: %s\nwant %s", goos, got, want)
		}
	}
}

// TestContinueIDOfFlag: an id that looks like a flag is not given to a client that
// resumes sessions by id. The session is migrated, which gives it another one.
func TestContinueIDOfFlag(t *testing.T) {
	a, home := homeApp(t)
	const was, id = "5d0b2b7e-2222-4000-8000-00000000106e", "--dangerously-skip-permissions=00001"
	chats, err := filepath.Glob(filepath.Join(home, ".cursor", "chats", "*", was))
	if err != nil || len(chats) != 1 {
		t.Fatal(chats, err)
	}
	at := filepath.Join(filepath.Dir(chats[0]), id)
	if err := os.Rename(chats[0], at); err != nil {
		t.Fatal(err)
	}
	b, err := os.ReadFile(filepath.Join(at, "store.db"))
	if err != nil {
		t.Fatal(err)
	}
	b = bytes.ReplaceAll(b, []byte(hex.EncodeToString([]byte(was))), []byte(hex.EncodeToString([]byte(id))))
	if err := os.WriteFile(filepath.Join(at, "store.db"), b, 0o644); err != nil {
		t.Fatal(err)
	}
	src, err := resolve(a, "flaky login", false)
	if err != nil {
		t.Fatal(err)
	}
	l, err := prepareContinue(a, src, continueOptions{DryRun: true})
	if err != nil || l.Argv[0] != "claude" || slices.Contains(l.Argv, id) {
		t.Errorf("%+v, %v", l, err)
	}
	l, err = prepareContinue(a, src, continueOptions{In: "cursor-cli", DryRun: true}) // as a copy, with an id of its own
	if err != nil || l.Argv[0] != "cursor-agent" || slices.Contains(l.Argv, id) {
		t.Errorf("%+v, %v", l, err)
	}
	var stdout bytes.Buffer
	a.Out.Stdout = &stdout
	if err := welcome(a); err != nil {
		t.Fatal(err)
	}
	want := "rehome show " + filepath.Join(home, ".cursor")
	if got := stdout.String(); !strings.Contains(got, want) || !strings.Contains(got, "#"+id+" ") {
		t.Errorf("suggests\n%s", got)
	}
}
