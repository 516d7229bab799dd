package cli

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"rehome/cmd/internal/console"
	"rehome/schemas"
)

// migrating runs the command in a folder with a chat in it, for a home folder
// that is empty, and gives the result.
func migrating(t *testing.T, home string, args ...string) (res struct {
	Migrated []struct {
		Status, Session, File, Continue, Cwd string
		Subagents                            int
		Error                                struct{ Message, Hint string }
	}
}, code int) {
	t.Helper()
	stdout, stderr, code := callWith(t, t.Context(), map[string]string{console.HomeVariable(): home},
		append([]string{"migrate", "--json"}, args...)...)
	if err := json.Unmarshal([]byte(stdout), &res); err != nil {
		t.Fatalf("%v: %s%s", err, stdout, stderr)
	}
	if code == 0 {
		if err := schemas.Validate("migrate-result-1", []byte(stdout)); err != nil {
			t.Error(err)
		}
	}
	return res, code
}

func TestMigrate(t *testing.T) {
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	t.Chdir(dir)
	furnish(t, dir)
	app := filepath.Join(dir, "an app")
	if err := os.Mkdir(app, 0o755); err != nil {
		t.Fatal(err)
	}
	one := func(want string, args ...string) string {
		t.Helper()
		res, code := migrating(t, dir, args...)
		if code != 0 || len(res.Migrated) != 1 || res.Migrated[0].Status != want {
			t.Fatalf("%q: exit %d, %+v, want one that is %s", args, code, res.Migrated, want)
		}
		m := res.Migrated[0]
		end := (&launch{Argv: []string{"claude", "--resume", m.Session}, Dir: app}).shell()
		if want == "checked" {
			end = "" // there is nothing to go on with
		}
		if m.Continue != end || m.Cwd != app {
			t.Errorf("%q: goes on with %s, want %s", args, m.Continue, end)
		}
		if _, err := os.Stat(m.File); (err == nil) != (want != "checked") ||
			filepath.Dir(filepath.Dir(m.File)) != filepath.Join(dir, ".claude", "projects") {
			t.Errorf("%q: %s: %v", args, m.File, err)
		}
		return m.File
	}
	one("checked", "chat/store.db", "--cwd", "an app", "--dry-run")
	at := one("placed", "chat/store.db", "--cwd", "an app")
	one("same", "chat/store.db#golden", "--cwd", app)
	one("same", "chat/store.db#golden", "--cwd", app, "--dry-run")
	if _, code := migrating(t, dir, "later/store.db", "--cwd", app); code != 1 {
		t.Errorf("exit %d: an older state stands there", code)
	}
	if again := one("updated", "later/store.db", "--cwd", app, "--update"); again != at {
		t.Errorf("%s is not %s", again, at)
	}
	if again := one("placed", "later/store.db", "--cwd", app, "--again"); again == at {
		t.Errorf("%s is no further session", again)
	}
	f, err := os.OpenFile(at, os.O_APPEND|os.O_WRONLY, 0)
	if err != nil {
		t.Fatal(err)
	}
	_, err = f.WriteString(`{"type":"last-prompt","lastPrompt":"go on"}` + "\n")
	if f.Close(); err != nil {
		t.Fatal(err)
	}
	before, _ := os.ReadFile(at)
	if _, code := migrating(t, dir, "chat/store.db", "--cwd", app, "--update"); code != 1 {
		t.Errorf("exit %d: somebody has gone on with it", code)
	}
	if after, _ := os.ReadFile(at); string(after) != string(before) {
		t.Error("lines that are not ours were touched")
	}
}

// TestMigrateInner: with a session go the subagents that lie inside of it, and
// with one of those its own; not the one whose messages are gone.
func TestMigrateInner(t *testing.T) {
	dir := t.TempDir()
	user := ideCase(t, dir, "subagents")
	for name, want := range map[string]int{"": 2, "#main": 2, "#known": 0, "#bare": 2, "#kid-bare": 1, "#grandkid": 0} {
		res, code := migrating(t, filepath.Join(dir, "home"), user+name, "--cwd", dir, "--dry-run")
		if code != 0 || (len(res.Migrated) == 1) != (name != "") || res.Migrated[0].Subagents != want {
			t.Errorf("%q: exit %d, %+v, want %d subagents", name, code, res.Migrated, want)
		}
	}
}

// Whoever names a config folder has to name it to the client, too.
func TestMigrateFolders(t *testing.T) {
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	t.Chdir(dir)
	furnish(t, dir)
	res, _ := migrating(t, dir, "chat/store.db", "--cwd", ".", "--claude-dir", "config")
	if m := res.Migrated[0]; !strings.HasPrefix(m.File, filepath.Join(dir, "config", "projects")) ||
		!strings.Contains(m.Continue, "CLAUDE_CONFIG_DIR="+filepath.Join(dir, "config")+" claude") {
		t.Errorf("%+v", m)
	}
	env := map[string]string{console.HomeVariable(): dir, "CLAUDE_CONFIG_DIR": filepath.Join(dir, "theirs")}
	if stdout, stderr, code := callWith(t, t.Context(), env, "migrate", "chat/store.db", "--cwd", ".", "-v"); code != 0 ||
		!strings.Contains(stdout, filepath.Join(dir, "theirs", "projects")) || !strings.Contains(stdout, " && claude --resume ") {
		t.Errorf("exit %d: %s%s", code, stdout, stderr)
	}
	if stdout, _, _ := callWith(t, t.Context(), env, "migrate", "chat/store.db", "--cwd", ".", "--home", "home",
		"-v"); !strings.Contains(stdout, filepath.Join(dir, "home", ".claude", "projects")) ||
		!strings.Contains(stdout, "CLAUDE_CONFIG_DIR="+filepath.Join(dir, "home", ".claude")+" claude") {
		t.Errorf("%s: the environment is not that home's", stdout)
	}
}

// TestMigrateUnnamedFolder: of a chat that states no folder, the working directory is
// known by the hash that its client names a folder after.
func TestMigrateUnnamedFolder(t *testing.T) {
	a, home := homeApp(t)
	metas, err := filepath.Glob(filepath.Join(home, ".cursor", "chats", "*", "*", "meta.json"))
	if err != nil || len(metas) != 1 || os.Remove(metas[0]) != nil {
		t.Fatal(metas, err)
	}
	app := filepath.Join(home, "app")
	t.Chdir(app)
	for _, args := range [][]string{{"--last"}, {"--project", ".", "--all"}, {"5d0b2b7e"}} {
		res, code := migrating(t, a.Out.Getenv(console.HomeVariable()), append(args, "--dry-run")...)
		if code != 0 || len(res.Migrated) != 1 || res.Migrated[0].Cwd != app {
			t.Errorf("%q: exit %d, %+v", args, code, res)
		}
	}
}
