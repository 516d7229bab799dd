package session_test

import (
	"strings"
	"testing"

	"rehome/formats/session"
)

// TestContradicts: a record that says something else is told from one of which the client only
// made other text.
func TestContradicts(t *testing.T) {
	long := strings.Repeat("a line of many\n", 3) + "the middle\nthe end\n"
	for name, c := range map[string]struct {
		sent, recorded string
		want           bool
	}{
		"other":            {"first", "second", true},
		"other line":       {"one\nfirst", "one\nsecond", true},
		"nothing sent":     {"", "second", true},
		"the same":         {"one\ntwo", "one\ntwo\n", false},
		"none":             {"one", " \n", false},
		"in a frame":       {"Exit code: 0\nWall time: 0.1 seconds\nOutput:\none\n", "one\n", false},
		"other in frame":   {"Exit code: 0\nOutput:\nfirst\n", "second\n", true},
		"numbers":          {"     1→package a\n     2→\n", "package a\n", false},
		"tabs":             {"     1\tpackage a\n     2\tfunc b", "package a\nfunc b\nfunc c", false},
		"an error":         {"no such text", "Error: no such text", false},
		"more is sent":     {"one\n<system-reminder>do not</system-reminder>", "one", false},
		"less is sent":     {"the end", long, false},
		"cut":              {"a line of\n… 20 tokens truncated …\nthe end", long, false},
		"cut, and other":   {"a\nb\nc\n… 20 tokens truncated …\nd\ne", long, true},
		"kept in a file":   {"<persisted-output>\nOutput too large (3 kB). Full output saved to: /x\n\nPreview (first 2 kB):\na line of many", long, false},
		"in JSON":          {`Output:\n[{"type":"text","text":"one\\ntwo"}]`, "one\ntwo", false},
		"in a tag":         {"<tool_use_error>no such\ntext</tool_use_error>", "Error: no such\ntext", false},
		"two streams":      {"out\nerr", "err\nout", false},
		"a word of a line": {"a longer line", "longer\nfirst", true},
	} {
		r := &session.ToolResult{Content: []session.Part{&session.Text{Text: c.sent}}}
		if got := r.Contradicts(c.recorded); got != c.want {
			t.Errorf("%s: %v, want %v", name, got, c.want)
		}
	}
	if (&session.ToolResult{}).Contradicts("one") {
		t.Error("a record that is all there is contradicts nothing")
	}
	if (&session.ToolResult{Content: []session.Part{&session.Media{}}}).Contradicts("one") {
		t.Error("an image is no other text")
	}
}
