package cli

import (
	"bytes"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"

	"rehome/cmd/internal/console"
	"rehome/convert"
	"rehome/convert/sessions"
	"rehome/formats/all"
	"rehome/internal/shell"
)

// TestContinueInOpenCode: what is written for OpenCode waits until it imports that. A second run
// finds the file, or writes it again, and what OpenCode continued is not touched.
func TestContinueInOpenCode(t *testing.T) {
	a, home := homeApp(t)
	src, err := resolve(a, "flaky login", false)
	if err != nil {
		t.Fatal(err)
	}
	exe := map[bool]string{true: ".exe"}[runtime.GOOS == "windows"]
	if err := os.WriteFile(filepath.Join(home, "bin", "opencode"+exe), nil, 0o755); err != nil {
		t.Fatal(err)
	}
	prepare := func() launch {
		t.Helper()
		l, err := prepareContinue(a, src, continueOptions{In: "opencode"})
		if err != nil {
			t.Fatal(err)
		}
		return l
	}
	first := prepare()
	file, id := first.Migrated.File, first.Migrated.Session
	want := [][]string{{"opencode", "import", file}}
	if first.Migrated.Status != convert.Placed || !slices.EqualFunc(first.Import, want, slices.Equal) ||
		!slices.Equal(first.Argv, []string{"opencode", "--session", id}) || filepath.Base(file) != id+".json" {
		t.Fatalf("%+v", first)
	}
	if got := prepare(); got.Migrated.Status != convert.Same || !slices.EqualFunc(got.Import, want, slices.Equal) {
		t.Errorf("%+v", got)
	}
	written, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.Remove(file); err != nil {
		t.Fatal(err)
	}
	if got := prepare(); got.Migrated.Status != convert.Placed || got.Migrated.Session != id {
		t.Errorf("%+v: the file was removed", got)
	}
	if listed, err := listAll(a, false); err != nil || slices.ContainsFunc(listed.All(), func(s *sessions.Listed) bool { return s.ID == id }) {
		t.Errorf("%v: what waits is no session of the client yet", err)
	}
	// OpenCode has it, and more.
	const prompt = `,{"info":{"id":"msg_9","sessionID":"ID","role":"user","time":{"created":1900000000000}},` +
		`"parts":[{"id":"prt_9","type":"text","text":"go on"}]}`
	at := bytes.LastIndex(written, []byte(`],"rehome"`))
	grown := slices.Concat(written[:at], []byte(strings.ReplaceAll(prompt, "ID", id)), []byte("]}"))
	own := filepath.Join(home, ".local", "share", "opencode", "own.json")
	if err := os.MkdirAll(filepath.Dir(own), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(own, grown, 0o600); err != nil {
		t.Fatal(err)
	}
	if got := prepare(); !strings.Contains(got.Note, "--again") || got.Argv[2] != id {
		t.Errorf("%+v: it was continued there", got)
	}
}

// TestMigrateToOpenCode: a session is imported and continued by one line. Undoing takes the file
// back, and says what it cannot undo.
func TestMigrateToOpenCode(t *testing.T) {
	home, app, _ := oldHome(t)
	t.Chdir(app)
	res, code := migrating(t, home, chatID(0), "--to", "opencode")
	if code != 0 || len(res.Migrated) != 1 {
		t.Fatal(code, res)
	}
	got := res.Migrated[0]
	want := "opencode import " + shell.Word(got.File) + and() + "opencode --session " + got.Session
	if !strings.HasSuffix(got.Continue, want) || !strings.HasPrefix(got.Continue, "cd ") {
		t.Errorf("%s\nwant it to end %s", got.Continue, want)
	}
	stdout, stderr, code := callWith(t, t.Context(), map[string]string{console.HomeVariable(): home}, "undo")
	if code != 0 || !strings.Contains(stdout, "opencode session delete "+got.Session) || console.Exists(got.File) {
		t.Errorf("exit %d: %s%s", code, stdout, stderr)
	}
}

// and is what stands between two commands of a shell.
func and() string {
	if runtime.GOOS == "windows" {
		return "; "
	}
	return " && "
}

// TestOpenCodeCommands: every command of a launch has its environment, and headers of servers are
// told as OpenCode takes them.
func TestOpenCodeCommands(t *testing.T) {
	l := launch{Argv: []string{"opencode", "--session", "ses_1"}, Dir: "/a", Env: []string{"HOME=/b"},
		Import: [][]string{{"opencode", "import", "/b/x y"}}}
	if got, want := l.command("linux"), "cd /a && HOME=/b opencode import '/b/x y' && HOME=/b opencode --session ses_1"; got != want {
		t.Errorf("%s\nwant %s", got, want)
	}
	l.Env, l.Import = nil, nil
	by := all.Registry().Lookup("opencode-export").Home.MCP.Add
	for want, s := range map[string]convert.MCPServer{
		"opencode mcp add db --env A=VALUE -- run it":                {Name: "db", Env: []string{"A"}, Command: []string{"run", "it"}},
		"opencode mcp add db --url https://x/mcp --header X-A=VALUE": {Name: "db", URL: "https://x/mcp", Headers: []string{"X-A"}},
	} {
		if got := newMCPServer(s, by, l, "linux"); got.Add != want {
			t.Errorf("%s\nwant %s", got.Add, want)
		}
	}
}
