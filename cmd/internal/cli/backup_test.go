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

// TestBackupJSON: results are valid, also those of a machine without sessions and of a
// store that cannot be read.
func TestBackupJSON(t *testing.T) {
	dir := t.TempDir()
	home, backups := filepath.Join(dir, "home"), filepath.Join(dir, "backups")
	env := map[string]string{console.HomeVariable(): home}
	run := func(want int, schema string, args ...string) (res struct{ Stores []struct{ Status string } }) {
		t.Helper()
		stdout, stderr, code := callWith(t, t.Context(), env, append(args, "--json")...)
		if code != want {
			t.Errorf("%q: exit %d, want %d: %s", args, code, want, stderr)
		}
		if err := schemas.Validate(schema, []byte(stdout)); err != nil {
			t.Errorf("%q: %v\n%s", args, err, stdout)
		}
		if err := json.Unmarshal([]byte(stdout), &res); err != nil {
			t.Error(err)
		}
		return res
	}
	if got := run(0, "backup-result-1", "backup", backups); len(got.Stores) > 0 {
		t.Errorf("%+v", got)
	}
	furnishHome(t, home)
	run(0, "backup-result-1", "backup", backups)
	run(0, "backup-list-1", "backup", backups, "--list")
	index, err := filepath.Glob(filepath.Join(backups, "*", "backup.json"))
	if err != nil || len(index) != 1 {
		t.Fatalf("%q %v", index, err)
	}
	doc, err := os.ReadFile(index[0])
	if err != nil {
		t.Fatal(err)
	}
	if err := schemas.Validate("backup-1", doc); err != nil {
		t.Error(err)
	}
	stores, err := filepath.Glob(filepath.Join(home, ".cursor", "chats", "*", "*", "store.db"))
	if err != nil || len(stores) != 1 {
		t.Fatalf("%q %v", stores, err)
	}
	if err := os.Truncate(stores[0], 5000); err != nil {
		t.Fatal(err)
	}
	if got := run(1, "backup-result-1", "backup", backups); len(got.Stores) != 1 || got.Stores[0].Status != "failed" {
		t.Errorf("%+v", got)
	}
	if got := run(1, "restore-result-1", "restore", backups, "--dry-run"); got.Stores[0].Status == "restored" {
		t.Errorf("%+v", got)
	}
	run(1, "restore-result-1", "restore", backups)
	run(0, "restore-result-1", "restore", backups, "--replace")
	run(2, "error-1", "backup", "--keep", "-1")
}

// TestSchedules: what is printed runs this program with the same flags, and is valid
// where it goes.
func TestSchedules(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "my 100% <backups>")
	out := map[string]string{}
	for name := range schedules() {
		stdout, stderr, code := call(t, "backup", dir, "--keep", "30", "--print-schedule", name)
		if code != 0 || stderr != "" {
			t.Errorf("%s: exit %d, %s", name, code, stderr)
		}
		out[name] = stdout
		doc, _, _ := call(t, "backup", dir, "--print-schedule", name, "--json")
		if err := schemas.Validate("schedule-result-1", []byte(doc)); err != nil {
			t.Error(err)
		}
	}
	for name, want := range map[string]string{
		"cron": `my 100\% <backups>' --quiet --keep=30`, "launchd": "my 100% &lt;backups&gt;</string>",
		"windows": `<backups>\" --quiet --keep=30"`, "claude": `<backups>' --quiet --keep=30"`,
	} {
		if !strings.Contains(out[name], want) {
			t.Errorf("%s: no %q in\n%s", name, want, out[name])
		}
	}
	var hook struct {
		Hooks struct {
			SessionEnd []struct {
				Hooks []struct{ Type, Command string }
			}
		}
	}
	if err := json.Unmarshal([]byte(out["claude"]), &hook); err != nil || len(hook.Hooks.SessionEnd) != 1 ||
		!strings.Contains(hook.Hooks.SessionEnd[0].Hooks[0].Command, " backup ") {
		t.Errorf("%v: %s", err, out["claude"])
	}
	if _, err := os.Stat(dir); err == nil {
		t.Error("a backup was made")
	}
}
