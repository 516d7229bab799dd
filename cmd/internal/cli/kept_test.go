package cli

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"rehome/cmd/internal/console"
	"rehome/formats/clients"
	"rehome/schemas"
)

// clientTable lists the clients that are kept and not read, for docs/backup.md.
func clientTable(t *testing.T) string {
	t.Helper()
	text, err := os.ReadFile(filepath.FromSlash("../../../formats/clients/clients.txt"))
	if err != nil {
		t.Fatal(err)
	}
	homes, name := map[string][]string{}, ""
	for line := range strings.Lines(string(text)) {
		key, rest, _ := strings.Cut(strings.TrimSpace(line), " ")
		switch system, at, _ := strings.Cut(rest, " "); {
		case key == "client":
			name = system
		case key == "family":
			name = ""
		case key == "home" && system == "project":
			homes[name] = append(homes[name], "project folders")
		case key == "home" && system == "vscode":
			homes[name] = append(homes[name], "vscode "+code(at))
		case key == "home" && system != "all":
			homes[name] = append(homes[name], code(at)+" ("+strings.NewReplacer("linux", "Linux", "darwin", "macOS", "windows",
				"Windows").Replace(system)+")")
		case key == "home":
			homes[name] = append(homes[name], code(at))
		}
	}
	var out strings.Builder
	out.WriteString("| client, `--client` | where | kept | left out |\n|---|---|---|---|\n")
	for _, c := range clients.All() {
		title := c.Title
		if c.Reported {
			title += " *"
		}
		if c.Encrypted {
			title += "<br>encrypted: only the client can read it"
		}
		if c.Note != "" {
			title += "<br>" + c.Note
		}
		kept := slices.Concat(codes(c.Keep), codes(c.Databases), codes(c.Beside))
		var left []string
		left = append(append(left, codes(c.SecretFiles)...), codes(c.SecretTables)...)
		left = append(left, codes(c.SecretColumns)...)
		fmt.Fprintf(&out, "| %s<br>%s | %s | %s | %s |\n", title, code(c.Name), strings.Join(homes[c.Name], "<br>"), strings.Join(kept, " "),
			strings.Join(left, " "))
	}
	return out.String()
}

func code(s string) string {
	if s == "" {
		return ""
	}
	return "`" + s + "`"
}

func codes(list []string) (out []string) {
	for _, s := range list {
		out = append(out, code(s))
	}
	return out
}

// TestKeptNamed: ls, doctor and the first screen name each client that is kept and not
// read, with its number of sessions, in words and in JSON. The README names all of them.
func TestKeptNamed(t *testing.T) {
	home := t.TempDir()
	for name, text := range map[string]string{
		".qwen/projects/app/chats/1.jsonl": "{}", ".qwen/projects/app/chats/2.jsonl": "{}", ".qwen/oauth_creds.json": "{}",
		".codeium/windsurf/cascade/1.pb": "x", ".local/share/zed/threads/threads.db": "no database", "Library/Application Support/Zed/threads/threads.db": "no database", "AppData/Local/Zed/threads/threads.db": "no database", ".pi/agent/auth.json": "{}",
	} {
		at := filepath.Join(home, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(at), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(at, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	env := map[string]string{console.HomeVariable(): home}
	lines := []string{
		"kept, not read: Qwen Code, 2 sessions", "kept, not read: Zed, sessions that cannot be counted now",
		"kept, encrypted: Windsurf, 1 session; only Windsurf can read them",
	}
	for _, args := range [][]string{{"ls"}, {"doctor"}, {}} {
		stdout, stderr, code := callWith(t, t.Context(), env, args...)
		for _, want := range lines {
			if code != 0 || !strings.Contains(stdout+stderr, want+"\n") {
				t.Errorf("%q: no %q: %d %s%s", args, want, code, stdout, stderr)
			}
		}
		if strings.Contains(stdout+stderr, "Pi,") {
			t.Errorf("%q: a client without sessions is named: %s", args, stdout)
		}
		stdout, stderr, code = callWith(t, t.Context(), env, append(args, "--json")...)
		var got struct{ Kept []keptClient }
		if err := json.Unmarshal([]byte(stdout), &got); err != nil || code != 0 || len(got.Kept) != 3 {
			t.Fatalf("%q: %v %d %s%s", args, err, code, stdout, stderr)
		}
		schema := map[string]string{"ls": "ls-result-1", "doctor": "doctor-result-1", "": "welcome-result-1"}[strings.Join(args, "")]
		if err := schemas.Validate(schema, []byte(stdout)); err != nil {
			t.Errorf("%q: %v", args, err)
		}
		if k := got.Kept[0]; k.Client != "qwen-code" || *k.Sessions != 2 || got.Kept[1].Client != "zed" || got.Kept[1].Sessions != nil ||
			!got.Kept[2].Encrypted {
			t.Errorf("%q: %s", args, stdout)
		}
	}
	_, stderr, code := callWith(t, t.Context(), env, "ls", "--client", "qwen-code")
	if code != 0 || !strings.Contains(stderr, lines[0]) || strings.Contains(stderr, "Windsurf") {
		t.Errorf("ls --client: %d %s", code, stderr)
	}
	if _, stderr, code = callWith(t, t.Context(), env, "ls", home); strings.Contains(stderr, "kept,") {
		t.Errorf("ls of a folder: %d %s", code, stderr)
	}
	readme, err := os.ReadFile(filepath.FromSlash("../../../README.md"))
	if err != nil {
		t.Fatal(err)
	}
	text := strings.Join(strings.Fields(string(readme)), " ")
	for _, c := range clients.All() {
		if !strings.Contains(text, c.Title) {
			t.Errorf("the README does not name %s", c.Title)
		}
	}
}
