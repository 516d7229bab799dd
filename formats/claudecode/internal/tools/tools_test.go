package tools

import (
	"slices"
	"strings"
	"testing"

	"rehome/formats/internal/toolmap"
	"rehome/internal/rawjson"
)

func TestClaudeTable(t *testing.T) {
	kinds := toolmap.Kinds()
	for kind, c := range natives().tools {
		if !slices.Contains(kinds, kind) {
			t.Errorf("there is no kind %q", kind)
		}
		for _, a := range c.args {
			if a.name == "" || len(a.from) == 0 || a.from[0] == "" {
				t.Errorf("%s: an argument without a name: %+v", kind, a)
			}
		}
	}
}

// TestFromClaude: every tool is read as one kind, also one that is the
// counterpart of several.
func TestFromClaude(t *testing.T) {
	for name, want := range map[string]string{"Bash": "shell", "Read": "read", "Edit": "edit", "MultiEdit": "edit", "Write": "edit", "NotebookEdit": "edit", "Grep": "grep", "Glob": "glob", "LS": "ls",
		"Agent": "task", "Task": "task", "WebFetch": "webFetch", "WebSearch": "webSearch", "TodoWrite": "updateTodos", "mcp__a__b": "mcp", "Nobody": "", "": ""} {
		if got := FromClaude(name); got != want {
			t.Errorf("%s is %q, want %q", name, got, want)
		}
	}
	first := map[string]string{}
	for line := range strings.Lines(claudeText()) {
		words := strings.Fields(line)
		if len(words) < 2 || words[0] == "#" {
			continue
		}
		if first[words[1]] == "" {
			first[words[1]] = words[0]
		}
		if got := FromClaude(words[1]); got != first[words[1]] {
			t.Errorf("%s is %q, and its first line says %q", words[1], got, first[words[1]])
		}
	}
}

// TestCutErrors: what the screen shows of an error ends with a whole letter.
func TestCutErrors(t *testing.T) {
	shown := strings.Repeat("x", 4095) + "é"
	if got := string(Native{}.Result(nil, shown, true)); got != `"Error: `+shown[:4095]+`"` {
		t.Errorf("it ends with %q", got[len(got)-8:])
	}
}

// TestNotExact: an argument that the tool has and does not take as it is spelled
// is said to be left out.
func TestNotExact(t *testing.T) {
	for input, want := range map[string]bool{
		`{"path":"/a","limit":10}`: true, `{"path":"/a","limit":"10"}`: false, `{"path":"/a","offset":0}`: true, `{"path":"/a","offset":-3}`: false, `{"path":"/a","more":1}`: false,
	} {
		if n := Claude("", "read", "Read", []byte(input), nil, nil); n.Exact != want || n.Name != "Read" {
			t.Errorf("%s is exact: %v (%s)", input, n.Exact, n.Input)
		}
	}
	n := Claude("", "mcp", "mcp_tracker_list", []byte(`{"text":"a","why":"b"}`), []byte(`{"providerIdentifier":"tracker","toolName":"list","args":{"text":"a"}}`), nil)
	if string(n.Input) != `{"text":"a","why":"b"}` || n.Name != "mcp__tracker__list" {
		t.Errorf("%s %s", n.Name, n.Input)
	}
}

func TestResultOfEvent(t *testing.T) {
	n := Claude("", "shell", "shell", nil, []byte(`{"command":"x"}`), nil)
	if got := string(n.Result([]byte(`{"status":"success","value":{"stdout":"o","stderr":"e"}}`), "o\ne", false)); !strings.HasPrefix(got, `{"stdout":"o","stderr":"e",`) {
		t.Errorf("the screen is drawn from %s", got)
	}
}

// TestTorn: arguments that break off in the middle of an object say nothing as
// they are; the tool's own do.
func TestTorn(t *testing.T) {
	for _, c := range []struct {
		kind, name, input, args, want string
		exact                         bool
	}{
		{"edit", "edit_file", `"{\"path\":\"/proj "`, `{"relativeWorkspacePath":"/proj/a","instructions":"do"}`, `edit_file {"relativeWorkspacePath":"/proj/a","instructions":"do"}`, false},
		{"read", "read_file", `"{\"path\":\"/pr"`, `{"targetFile":"/proj/a"}`, `Read {"file_path":"/proj/a"}`, false},
		{"edit", "StrReplace", `" {\"path\":"`, `{"path":"/a","old_string":"x","new_string":"y"}`, `Edit {"file_path":"/a","old_string":"x","new_string":"y"}`, false},
		{"", "own", `null`, `{"a":1}`, `own {"a":1}`, false},
		{"mcp", "mcp_look", `"{\"q"`, `{"tools":[]}`, `mcp__server__look {"tools":[]}`, false},
		{"", "own", `"{\"a\":"`, ``, `own {"input":"{\"a\":"}`, false},
		{"", "own", `"{\"a\":"`, `"{\"b\":"`, `own {"input":"{\"a\":"}`, false},
		{"edit", "ApplyPatch", `"*** Begin Patch"`, `{"file":"/a"}`, `ApplyPatch {"input":"*** Begin Patch"}`, false},
		{"", "own", `{"a":1}`, `{"b":1}`, `own {"a":1}`, true},
	} {
		n := Claude("", c.kind, c.name, []byte(c.input), []byte(c.args), nil)
		if got := n.Name + " " + string(n.Input); got != c.want || n.Exact != c.exact {
			t.Errorf("%s with %s and %s is %s (%v), want %s", c.name, c.input, c.args, got, n.Exact, c.want)
		}
	}
}

// Whatever a call of one of Claude Code's names holds, its record is JSON or none.
func TestResultOfOddCalls(t *testing.T) {
	for _, name := range []string{"Bash", "Read", "Edit", "Write", "Grep", "Glob", "TodoWrite", "Agent"} {
		for _, input := range []string{`{}`, `{"todos":null,"file_path":7}`, `{"todos":"x","file_path":"/a"}`, `[]`, `"x"`} {
			n := Claude("", "", name, []byte(input), nil, nil)
			for _, value := range []string{"", "null", "{}", `{"files":"x","stdout":7,"content":[]}`, `"x"`} {
				if got := n.Result([]byte(value), "shown", false); got != nil && !rawjson.Inline(got) {
					t.Errorf("%s with %s and %s: %s", name, input, value, got)
				}
			}
		}
	}
}

// TestDottedNames: tools that are named by what they work on are the same tools.
func TestDottedNames(t *testing.T) {
	const edited = `{"status":"ok","value":{"diffString":"@@ -1 +1 @@\n-a\n+b"}}`
	for _, c := range []struct{ name, args, value, want string }{
		{"shell.execute", `{"command":"pnpm test"}`, ``, `Bash {"command":"pnpm test"}`},
		{"file.read", `{"path":"/a"}`, ``, `Read {"file_path":"/a"}`},
		{"file.edit", `{"path":"/a"}`, edited, `Edit {"file_path":"/a","old_string":"a","new_string":"b"}`},
		{"file.write", `{"path":"/a","content":"x"}`, ``, `Write {"file_path":"/a","content":"x"}`},
		{"file.multi_edit", `{"path":"/a"}`, edited, `Edit {"file_path":"/a","old_string":"a","new_string":"b"}`},
	} {
		n := Claude("", toolmap.Kind(c.name), c.name, nil, []byte(c.args), []byte(c.value))
		if got := n.Name + " " + string(n.Input); got != c.want {
			t.Errorf("%s is %s, want %s", c.name, got, c.want)
		}
	}
}
