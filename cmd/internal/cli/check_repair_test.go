package cli

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"rehome/cmd/internal/clitest"
)

// TestRepairHint: the command that check prints writes a copy that check accepts, of a file
// and of a folder.
func TestRepairHint(t *testing.T) {
	t.Chdir(t.TempDir())
	const name = "5d0b2b7e-2222-4000-8000-000000000000.jsonl"
	file := clitest.Write(t, `{"parentUuid":null,"isSidechain":false,"type":"user","message":{"role":"user","content":"one"},"cwd":"/work",`+
		`"uuid":"00000000-0000-4000-8000-000000000001","timestamp":"2026-01-01T00:00:01.000Z","sessionId":"5d0b2b7e-2222-4000-8000-000000000000"}`+
		"\nno record\n", "home", "projects", "-work", name)
	for path, copied := range map[string]string{file: filepath.Join("fixed", name), "home": "fixed"} {
		stdout, stderr, code := call(t, "check", path)
		_, command, _ := strings.Cut(strings.ReplaceAll(stdout, "\n ", ""), "in a copy: ")
		args := strings.Fields(command)
		if code != 4 || len(args) != 4 || args[3] != copied {
			t.Fatalf("exit %d, %s%s", code, stdout, stderr)
		}
		if stdout, stderr, code = call(t, args[1:]...); code != 0 {
			t.Errorf("%s: exit %d, %s%s", args, code, stdout, stderr)
		}
		if stdout, stderr, code = call(t, "check", copied); code != 0 {
			t.Errorf("%s: exit %d, %s%s", copied, code, stdout, stderr)
		}
		if err := os.RemoveAll("fixed"); err != nil {
			t.Fatal(err)
		}
	}
	odd := clitest.Write(t, "nothing that anybody knows\n", "odd.jsonl")
	stdout, stderr, code := call(t, "repair", odd, "odd2.jsonl")
	if code != 1 || !strings.Contains(stdout, "\nnothing repaired; the copy is odd2.jsonl") || strings.Contains(stdout+stderr, "rehome-") {
		t.Errorf("what cannot be read: exit %d, %s%s", code, stdout, stderr)
	}
}
