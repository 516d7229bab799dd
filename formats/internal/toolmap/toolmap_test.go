package toolmap

import (
	"slices"
	"testing"
)

func TestKinds(t *testing.T) {
	for name, want := range map[string]string{"Read": "read", "read_file": "read", "ReadFile": "read", "Shell": "shell", "StrReplace": "edit",
		"Write": "edit", "TodoWrite": "updateTodos", "LS": "ls", "AwaitShell": "await", "CallMcpTool": "mcp", "mcp_server_tool": "", "": "",
		"Bash": "shell", "exec_command": "shell", "Agent": "task", "ExitPlanMode": "createPlan", "AskUserQuestion": "askQuestion", "NotebookEdit": "edit", "update_plan": "updateTodos", "|": ""} {
		if got := Kind(name); got != want {
			t.Errorf("%q is %q, want %q", name, got, want)
		}
	}
	if len(Kinds()) < 69 || Kinds()[0] != "shell" {
		t.Errorf("%d kinds: %v", len(Kinds()), Kinds())
	}
	if n := Names("edit"); n[0] != "StrReplace" || !slices.Contains(n, "ApplyPatch") {
		t.Errorf("an edit is called %v", n)
	}
	if slices.Contains(Names("shell"), "Bash") || !Foreign("Bash") || Foreign("Shell") || Foreign("Skill") {
		t.Errorf("Bash is one of Cursor's tools, or Shell is not: %v", Names("shell"))
	}
	if n := Names("truncated"); len(n) != 0 {
		t.Errorf("no model calls %v", n)
	}
}

// TestNamesOnce: a name has one kind, and a kind stands once.
func TestNamesOnce(t *testing.T) {
	kind := map[string]string{}
	for _, k := range Kinds() {
		for _, n := range Names(k) {
			if other := kind[fold(n)]; other != "" && other != k {
				t.Errorf("%s is %s and %s", n, other, k)
			}
			kind[fold(n)] = k
		}
	}
	if kinds := slices.Sorted(slices.Values(Kinds())); len(slices.Compact(kinds)) != len(Kinds()) {
		t.Error("a kind stands twice")
	}
}

// TestOutcome: a word that nobody has described is no failure.
func TestOutcome(t *testing.T) {
	for word, want := range map[string]struct {
		status string
		failed bool
	}{"success": {"success", false}, "ok": {"success", false}, "done": {"success", false}, "": {"", false}, "partial": {"partial", false}, "rejected": {"rejected", true}, "failed": {"failed", true}} {
		if status, failed := Outcome(word); status != want.status || failed != want.failed {
			t.Errorf("%q: %q %v", word, status, failed)
		}
	}
}

func TestFailed(t *testing.T) {
	for status, want := range map[string]bool{"success": false, "stillRunning": false, "": false, "failure": true, "rejected": true, "error": true, "spawnError": true} {
		if Failed(status) != want {
			t.Errorf("%q: %v", status, !want)
		}
	}
}
