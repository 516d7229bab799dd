package gittest

import (
	"os"
	"strings"
	"testing"

	"rehome/cmd/internal/cli"
	"rehome/cmd/internal/clitest"
	"rehome/golden"
)

// TestMain makes the test's own binary the program, as clitest.Bash asks.
func TestMain(m *testing.M) {
	if os.Getenv(clitest.AsProgram) != "" {
		os.Exit(cli.Run(cli.Setup(), cli.Rehome(), os.Args[1:], os.Stdout, os.Stderr, os.Getenv))
	}
	golden.Main(m)
}

// call runs the program once with no environment.
func call(t *testing.T, args ...string) (stdout, stderr string, code int) {
	t.Helper()
	var out, messages strings.Builder
	code = cli.Run(t.Context(), cli.Rehome(), args, &out, &messages, func(string) string { return "" })
	return out.String(), messages.String(), code
}
