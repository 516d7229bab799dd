package console

import (
	"strings"
	"testing"
)

// TestRenameHints: hints name the program that runs, and nothing else in JSON changes.
func TestRenameHints(t *testing.T) {
	var stdout strings.Builder
	o := NewOutput(&stdout, &stdout, func(string) string { return "" }, OutputFlags{JSON: true})
	o.Rename = func(text string) string { return strings.ReplaceAll(text, "`rehome ls", "`rehome-x ls") }
	doc := map[string]string{"hint": "run `rehome ls` \" ", "path": "`rehome ls`", "text": "\"hint\": \"`rehome ls`\""}
	if err := o.writeJSON(doc); err != nil {
		t.Fatal(err)
	}
	want := "{\n  \"hint\": \"run `rehome-x ls` \\\" \",\n  \"path\": \"`rehome ls`\",\n  \"text\": \"\\\"hint\\\": \\\"`rehome ls`\\\"\"\n}\n"
	if got := stdout.String(); got != want {
		t.Errorf("%s, want %s", got, want)
	}
}
