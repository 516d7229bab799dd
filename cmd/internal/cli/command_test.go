package cli

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"rehome/cmd/internal/console"
	"rehome/golden"
	"rehome/schemas"
	"rehome/testdata/chat"
	"rehome/testdata/sdk"
)

// TestCommands runs the transcripts under golden/cmd. Each begins in a folder
// with two stores: chat/store.db, and the same chat one turn later in
// later/store.db. Those about agents of the Cursor SDK have another, project,
// and those about the IDE the user dirs User, other/User and lost/User.
func TestCommands(t *testing.T) {
	golden.Scripts(t, "cmd/*.txt", map[string]golden.Command{"rehome": rehomeCommand(t)}, func(t *testing.T, dir string) {
		if strings.Contains(t.Name(), "/sdk-") {
			project, err := fs.Sub(sdk.Stores, sdk.Project)
			if err != nil {
				t.Fatal(err)
			}
			if err := os.CopyFS(filepath.Join(dir, "project"), project); err != nil {
				t.Fatal(err)
			}
		}
		if strings.Contains(t.Name(), "/ide") {
			ideCase(t, dir, "subagents")
			ideCase(t, filepath.Join(dir, "other"), "storage")
			ideCase(t, filepath.Join(dir, "lost"), "prompts")
		}
		if strings.Contains(t.Name(), "/show") {
			furnishSession(t, dir)
		}
		if strings.Contains(t.Name(), "/continue") || strings.Contains(t.Name(), "/backup") || strings.Contains(t.Name(), "/undo") ||
			strings.HasSuffix(t.Name(), "/mv") || strings.Contains(t.Name(), "/check-skip") {
			furnishHome(t, filepath.Join(dir, "home"))
		}
		furnish(t, dir)
	})
}

func furnish(t *testing.T, dir string) {
	t.Helper()
	t.Setenv("COLUMNS", "80") // kong asks the process, not us
	for sample, place := range map[string]string{"before.db": "chat/store.db", "after.db": "later/store.db"} {
		b, err := chat.Stores.ReadFile(sample)
		if err != nil {
			t.Fatal(err)
		}
		path := filepath.Join(dir, filepath.FromSlash(place))
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, b, 0o644); err != nil {
			t.Fatal(err)
		}
	}
}

// withoutVariables replaces what depends on the time and on the length of the path of
// the case's folder: names of snapshots, their sizes, and hashes of paths.
func withoutVariables(out string) string {
	for _, v := range [][2]string{{`\d{4}-\d\d-\d\dT\d{6}Z`, "$$TIME"}, {`( files?), [0-9.]+ kB`, "$1, $$SIZE"}, {`/chats/[0-9a-f]{32}/5d0b2b7e`, "/chats/$$HASH/5d0b2b7e"},
		{`home/\.cursor/projects/[^/]+/sdk-agent-store/[0-9a-f]{32}`, "home/.cursor/projects/$$SLUG/sdk-agent-store/$$HASH"},
		{`\d{4}-\d\d-\d\d \d\d:\d\d  (Cursor|Claude) `, "$$TIME  $1 "}, {`"made": "[^"]*"`, `"made": "$$TIME"`}} {
		out = regexp.MustCompile(v[0]).ReplaceAllString(out, v[1])
	}
	return out
}

// rehomeCommand runs the program in this process. Every --json it prints must
// be one object that its schema accepts.
func rehomeCommand(t *testing.T) golden.Command {
	return func(c golden.Call) int {
		var stdout, stderr bytes.Buffer
		code := run(t.Context(), c.Args, &stdout, &stderr, func(name string) string { return c.Env[name] })
		io.WriteString(c.Stdout, withoutVariables(stdout.String()))
		io.WriteString(c.Stderr, withoutVariables(stderr.String()))
		if wantsJSON(c.Args) && !slices.Contains(c.Args, "--help") {
			checkJSON(t, c.Args, stdout.Bytes())
		}
		return code
	}
}

func checkJSON(t *testing.T, args []string, doc []byte) {
	t.Helper()
	if bytes.HasPrefix(doc, []byte(`{"type":"session"`)) {
		checkLines(t, doc)
		return
	}
	if bytes.HasPrefix(doc, []byte(`{"time":`)) {
		for line := range bytes.Lines(doc) {
			if err := schemas.Validate("watch-event-1", line); err != nil {
				t.Errorf("%q: not a watch-event-1: %v\n%s", args, err, line)
			}
		}
		return
	}
	var top map[string]json.RawMessage
	if err := json.Unmarshal(doc, &top); err != nil {
		t.Errorf("%q: stdout is not one JSON object: %v\n%s", args, err, doc)
		return
	}
	name := "error-1"
	if top["error"] == nil {
		name = map[string]string{
			"paths": "detect-result-1", "drift": "doctor-result-1", "stores": "convert-result-1", "formats": "formats-result-1",
			"schemas": "schema-result-1", "folder": "demo-result-2", "unread": "ls-result-1", "migrated": "migrate-result-1",
			"argv": "continue-result-1", "code": "continue-result-1", "searched": "backup-result-1", "snapshots": "backup-list-1",
			"from": "restore-result-1", "schedule": "schedule-result-1", "checked": "check-result-1", "rules": "check-rules-1",
			"go": "version-result-1", "total": "search-result-1", "try": "welcome-result-1", "kept": "undo-result-1", "compared": "diff-result-1",
			"pairs": "diff-records-1", "changes": "git-result-1", "redacted": "redact-result-1", "repaired": "repair-result-1",
			"repairs": "repair-list-1", "remarks": "merge-result-1", "records": "undo-list-result-1", "old": "mv-result-1",
		}[markOf(top)]
	}
	if top["$schema"] != nil {
		return // a schema, printed as it is
	}
	if err := schemas.Validate(name, doc); err != nil {
		t.Errorf("%q: not a %s: %v\n%s", args, name, err, doc)
	}
}

// markOf finds the member that tells results apart.
func markOf(top map[string]json.RawMessage) string {
	for _, key := range slices.Sorted(maps.Keys(top)) {
		if slices.Contains([]string{"paths", "drift", "stores", "formats", "schemas", "folder", "unread", "migrated", "argv", "code", "searched",
			"from", "schedule", "checked", "rules", "go", "total", "try", "kept", "records", "compared", "pairs", "changes", "redacted", "old",
			"repaired", "repairs", "remarks"}, key) {
			return key
		}
	}
	return ""
}

// call runs the program once with no environment.
func call(t *testing.T, args ...string) (stdout, stderr string, code int) {
	t.Helper()
	return callWith(t, t.Context(), nil, args...)
}

func callWith(t *testing.T, ctx context.Context, env map[string]string, args ...string) (stdout, stderr string, code int) {
	t.Helper()
	var out, talk strings.Builder
	code = run(ctx, args, &out, &talk, func(name string) string { return env[name] })
	return out.String(), talk.String(), code
}

// TestInterrupted: nothing is placed, and the code says why.
func TestInterrupted(t *testing.T) {
	dir := t.TempDir()
	t.Chdir(dir)
	furnish(t, dir)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	_, stderr, code := callWith(t, ctx, nil, "convert", "chat/store.db", "text", "--to", "archive")
	if code != 130 || stderr != "rehome: interrupted: nothing was written\n" {
		t.Errorf("exit %d, stderr %q", code, stderr)
	}
	left, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	if len(left) != 2 { // the two stores
		t.Errorf("left behind: %v", left)
	}
}

// TestEveryHelp: each command is explained with examples and its own exit
// codes, on lines that fit a terminal. Without --help-all it fits one screen and
// shows a dozen flags at most.
func TestEveryHelp(t *testing.T) {
	names := []string{""}
	for _, n := range commands(Rehome().cliModel()) {
		names = append(names, n.Name)
	}
	for _, command := range names {
		for _, flag := range []string{"--help", "--help-all"} {
			args := []string{flag}
			if command != "" {
				args = []string{command, flag}
			}
			stdout, stderr, code := call(t, args...)
			if code != 0 || stderr != "" {
				t.Errorf("%q: exit %d, stderr %q", args, code, stderr)
			}
			if command != "" && (!strings.Contains(stdout, "Examples:\n") || !strings.Contains(stdout, "  rehome "+command)) {
				t.Errorf("%q shows no example", args)
			}
			_, codes, _ := strings.Cut(strings.ReplaceAll(stdout, "\n  ", " "), "\nExit codes: ")
			for _, o := range console.ExitStatuses() {
				if strings.Contains(codes, o.Meaning) != exitsWith(command, o.Code) {
					t.Errorf("%q: the exit code for %q is printed, or missing", args, o.Meaning)
				}
			}
			for line := range strings.Lines(stdout) {
				if n := len([]rune(strings.TrimRight(line, "\n"))); n > 80 {
					t.Errorf("%q: %d columns: %s", args, n, line)
				}
			}
			stdout, _, _ = strings.Cut(stdout, "Global flags:")
			lines, flags := 2+strings.Count(stdout, "\n"), len(regexp.MustCompile(`(?m)^ +(-., )?--`).FindAllString(stdout, -1))
			if flag == "--help" && (lines > 44 || flags > 12) {
				t.Errorf("%q: %d lines, %d flags", args, lines, flags)
			}
		}
	}
	stdout, _, _ := call(t, "help")
	if n := len(regexp.MustCompile(`(?m)^  [a-z]+ `).FindAllString(stdout, -1)); n > 18 {
		t.Errorf("the first screen lists %d commands", n)
	}
}
