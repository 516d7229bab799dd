package cli

import (
	"encoding/json"
	"path/filepath"
	"strings"
	"testing"

	"rehome/cmd/internal/console"
)

// TestMigrateToCLI: a session becomes a chat where the Cursor CLI looks for those of its
// folder, and lists show which session it is a copy of. The CLI's own chats keep their ids
// and their places.
func TestMigrateToCLI(t *testing.T) {
	home, app, lib := oldHome(t)
	t.Chdir(app)
	res, code := migrating(t, home, chatID(0))
	if code != 0 {
		t.Fatal(res)
	}
	origin := res.Migrated[0].Session
	res, code = migrating(t, home, origin, "--to", "cursor-cli")
	if code != 0 || res.Migrated[0].Status != "placed" || res.Migrated[0].Cwd != app {
		t.Fatal(res)
	}
	copied := res.Migrated[0]
	if want := filepath.Join(home, ".cursor", "chats"); filepath.Dir(filepath.Dir(copied.File)) != want ||
		filepath.Base(copied.File) != copied.Session {
		t.Errorf("placed at %s, want it below %s", copied.File, want)
	}
	if !strings.HasSuffix(copied.Continue, "cursor-agent --resume "+copied.Session) {
		t.Errorf("continue with %q", copied.Continue)
	}
	stdout, stderr, _ := callWith(t, t.Context(), map[string]string{console.HomeVariable(): home}, "ls", "--json")
	var list struct{ Sessions []lsSession }
	if err := json.Unmarshal([]byte(stdout), &list); err != nil {
		t.Fatal(err, stderr)
	}
	found := false
	for _, s := range list.Sessions {
		if s.ID == copied.Session {
			found = true
			if s.Origin != origin || s.Project != app {
				t.Errorf("%+v, want a copy of %s", s, origin)
			}
		}
	}
	if !found {
		t.Errorf("not listed: %s", stdout)
	}
	for _, c := range []struct{ cwd, status string }{{lib, "same"}, {app, "placed"}} {
		res, code = migrating(t, home, chatID(2), "--to", "cursor-cli", "--cwd", c.cwd)
		if code != 0 || res.Migrated[0].Status != c.status || res.Migrated[0].Session != chatID(2) {
			t.Errorf("%s: exit %d, %+v", c.cwd, code, res)
		}
	}
	if res, code = migrating(t, home, origin, "--to", "cursor-cli", "--again"); code != 0 || res.Migrated[0].Session == copied.Session {
		t.Errorf("exit %d, %+v", code, res)
	}
}
