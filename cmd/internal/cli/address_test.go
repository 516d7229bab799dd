package cli

import (
	"bytes"
	"os"
	"strings"
	"testing"
)

// TestAddressIsNoPath: an address is never taken for a path, and what follows its scheme,
// which may be a password, is not printed. search has words, and a program's own commands
// may take addresses.
func TestAddressIsNoPath(t *testing.T) {
	t.Chdir(t.TempDir())
	const secret = "postgres://ann:s3cret@db/agents"
	for _, line := range []string{"convert a.db " + secret, "convert " + secret + " out", "check " + secret, "ls a b " + secret, "merge a b " + secret, "watch " + secret + " out"} {
		var stdout, stderr bytes.Buffer
		code := run(t.Context(), strings.Fields(line), &stdout, &stderr, os.Getenv)
		if code != 2 || !strings.Contains(stderr.String(), "postgres://…: the address of a server is not a path") || strings.Contains(stderr.String(), "s3cret") {
			t.Errorf("%s: exit %d\n%s%s", line, code, stdout.String(), stderr.String())
		}
	}
	var stdout, stderr bytes.Buffer
	if code := run(t.Context(), []string{"search", secret, "--path", t.TempDir()}, &stdout, &stderr, os.Getenv); strings.Contains(stderr.String(), "address") {
		t.Errorf("search: exit %d\n%s", code, stderr.String())
	}
	if left, _ := os.ReadDir("."); len(left) > 0 {
		t.Errorf("%v was made", left)
	}
}
