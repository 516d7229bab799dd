package toolmap

import (
	"slices"
	"testing"

	"rehome/formats/internal/rawjson"
)

func TestClaudeTable(t *testing.T) {
	kinds := Kinds()
	for kind, c := range counterparts() {
		if !slices.Contains(kinds, kind) {
			t.Errorf("there is no kind %q", kind)
		}
		for _, a := range c.args {
			if a.name == "" || len(a.from) == 0 || a.from[0] == "" {
				t.Errorf("%s: an argument without a name: %+v", kind, a)
			}
		}
	}
	for name, want := range map[string]string{"Bash": "shell", "Edit": "edit", "Grep": "grep", "Agent": "task", "WebFetch": "webFetch", "TodoWrite": "updateTodos", "mcp__a__b": "mcp", "Nobody": ""} {
		if got := FromClaude(name); got != want {
			t.Errorf("%s is %q, want %q", name, got, want)
		}
	}
}

func TestShown(t *testing.T) {
	for _, c := range []struct{ kind, value, want string }{
		{"shell", `{"success":{"stdout":"a","stderr":"b"}}`, "a\nb"},
		{"shell", `{"failure":{"stdout":"","exitCode":3}}`, "(no output, exit code 3)"},
		{"shell", `{"contents":"from elsewhere","exitCode":0}`, "from elsewhere"},
		{"shell", `{"failure":{"reason":"not allowed","exitCode":1}}`, "not allowed"},
		{"mcp", `{"success":{"content":[{"text":{"text":"x"}},{"text":{"text":"y"}}]}}`, "x\ny"},
		{"task", `{"success":{"conversationSteps":[{"assistantMessage":{"text":"One."}}]}}`, "One."},
		{"grep", `{"success":{"workspaceResults":{"/w":{"content":{"matches":[{"file":"a","matches":[{"lineNumber":7,"content":"x"},{"lineNumber":8,"content":"y","isContextLine":true}]}]}}}}}`, "a:7:x\na-8-y"},
		{"edit", `{"success":{"afterFullFileContent":"x"}}`, "The file was changed."},
		{"edit", `{"rejected":{"reason":"no"}}`, "no"},
		{"read", `{"error":{"errorMessage":"gone"}}`, "gone"},
		{"await", `{"stillRunning":{"taskId":"t"}}`, `{"stillRunning":{"taskId":"t"}}`},
		{"ls", `"text instead"`, "text instead"}, {"ls", "null", ""}, {"ls", "", ""},
	} {
		if got := Shown(c.kind, []byte(c.value)); got != c.want {
			t.Errorf("%s %s is shown as %q, want %q", c.kind, c.value, got, c.want)
		}
	}
}

// Whatever a call of one of Claude Code's names holds, its record is JSON or none.
func TestResultOfOddCalls(t *testing.T) {
	for _, name := range []string{"Bash", "Read", "Edit", "Write", "Grep", "Glob", "TodoWrite", "Agent"} {
		for _, input := range []string{`{}`, `{"todos":null,"file_path":7}`, `{"todos":"x","file_path":"/a"}`, `[]`, `"x"`} {
			n := Claude("", name, []byte(input), nil, nil)
			for _, value := range []string{"", "null", "{}", `{"files":"x","stdout":7,"content":[]}`, `"x"`} {
				if got := n.Result([]byte(value), "shown", false); got != nil && !rawjson.Inline(got) {
					t.Errorf("%s with %s and %s: %s", name, input, value, got)
				}
			}
		}
	}
}
