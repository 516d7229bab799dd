package cli

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestStartAfterImport: a client that cannot import a session is not started, and its reason is told.
func TestStartAfterImport(t *testing.T) {
	a, home := homeApp(t)
	program := "#!/bin/sh\n[ \"$1\" = import ] && echo \"no room for $2 in $PWD\"\nexit 3\n"
	if err := os.WriteFile(filepath.Join(home, "bin", "opencode"), []byte(program), 0o755); err != nil {
		t.Fatal(err)
	}
	l := launch{Argv: []string{"opencode", "--session", "ses_1"}, Dir: home, Client: "OpenCode",
		Import: [][]string{{"opencode", "import", "/x.json"}}}
	err := startClient(a, &l, "the command")
	if err == nil || !strings.Contains(err.Error(), "/x.json: OpenCode did not import the session: no room for /x.json in "+home) {
		t.Errorf("%v", err)
	}
}
