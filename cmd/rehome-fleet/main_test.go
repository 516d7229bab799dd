package main

import (
	"bytes"
	"os"
	"strings"
	"testing"
	"unicode/utf8"

	"rehome/cmd/rehome-fleet/internal/reach"
)

// TestHelp: the added commands explain themselves as rehome's own do, under the name of this
// program, and the manual page and the completion scripts have them.
func TestHelp(t *testing.T) {
	t.Setenv("COLUMNS", "80")
	run := func(args ...string) string {
		var out, messages bytes.Buffer
		if code := reach.Run(t.Context(), program(), homes(), args, &out, &messages, os.Getenv); code != 0 || messages.Len() > 0 {
			t.Errorf("%v: exit %d\n%s", args, code, messages.String())
		}
		return out.String()
	}
	manual := run("man")
	for _, command := range []string{"plan", "do", "report", "load", "parquet", "catalog"} {
		help := run("help", command)
		if !strings.HasPrefix(strings.SplitN(help, "\n\n", 3)[1], "Usage: rehome-fleet "+command) || !strings.Contains(help, "\nExamples:\n") {
			t.Errorf("help %s:\n%s", command, help)
		}
		for line := range strings.Lines(run(command, "--help-all")) {
			if utf8.RuneCountInString(strings.TrimSuffix(line, "\n")) > 80 && !strings.HasPrefix(line, "    ") {
				t.Errorf("%s: more than 80 columns: %s", command, line)
			}
		}
		if !strings.Contains(manual, ".SS rehome\\-fleet "+command) {
			t.Errorf("the manual page lacks %s", command)
		}
		if words := run("__complete", "--", command[:2]); !strings.Contains(words, command+"\t") {
			t.Errorf("completion of %s: %q", command[:2], words)
		}
	}
	if script := run("completion", "bash"); !strings.Contains(script, "complete -F _rehome-fleet rehome-fleet") {
		t.Errorf("completion script:\n%s", script)
	}
}
