package tools

import (
	"slices"
	"strings"
	"testing"

	"rehome/formats/internal/rawjson"
	"rehome/formats/internal/toolmap"
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
		if n := Claude("read", "Read", []byte(input), nil, nil); n.Exact != want || n.Name != "Read" {
			t.Errorf("%s is exact: %v (%s)", input, n.Exact, n.Input)
		}
	}
	n := Claude("mcp", "mcp_tracker_list", []byte(`{"text":"a","why":"b"}`), []byte(`{"providerIdentifier":"tracker","toolName":"list","args":{"text":"a"}}`), nil)
	if string(n.Input) != `{"text":"a","why":"b"}` || n.Name != "mcp__tracker__list" {
		t.Errorf("%s %s", n.Name, n.Input)
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

// TestShownOfEvents: what only an event tells of a call is {"status","value"}, and
// the value of each kind is one of its own.
func TestShownOfEvents(t *testing.T) {
	for _, c := range []struct{ kind, value, want string }{
		{"shell", `{"exitCode":0,"signal":"","stdout":"begun","stderr":"","executionTime":31}`, "begun"},
		{"shell", `{"exitCode":3,"stdout":"","stderr":"bad"}`, "bad"},
		{"shell", `{"exitCode":0,"stdout":"","stderr":""}`, "(no output, exit code 0)"},
		{"read", `{"content":"a\nb","totalLines":2,"fileSize":3}`, "a\nb"},
		{"read", `{"content":"","totalLines":0,"fileSize":0}`, ""},
		{"edit", `{"linesAdded":1,"linesRemoved":1,"diffString":"-a\n+b"}`, "-a\n+b"},
		{"edit", `{"linesAdded":1}`, "The file was changed."},
		{"edit", `{}`, "The file was changed."},
		{"delete", `{"fileSize":3}`, "The file was deleted."},
		{"glob", `{"files":["a.go","b.go"],"totalFiles":2,"clientTruncated":false}`, "a.go\nb.go"},
		{"glob", `{"files":[],"totalFiles":0}`, "(no files)"},
		{"grep", `{"workspaceResults":{"/w":{"type":"content","output":{"matches":[{"file":"a","matches":[{"lineNumber":7,"content":"x"}]},{"file":"b"}],"totalMatches":1}}}}`, "a:7:x\nb"},
		{"grep", `{"workspaceResults":{"/w":{"type":"files","output":{"files":["a","b"],"totalFiles":2}}}}`, "a\nb"},
		{"grep", `{"workspaceResults":{"/w":{"type":"count","output":{"counts":[{"file":"a","count":2}],"totalMatches":2}}}}`, "a:2"},
		{"grep", `{"workspaceResults":{}}`, `{"workspaceResults":{}}`},
		{"ls", `{"directoryTreeRoot":{}}`, `{"directoryTreeRoot":{}}`},
		{"ls", `{"directoryTreeRoot":{"absPath":"/w","childrenDirs":[{"absPath":"/w/d","childrenDirs":[],"childrenFiles":[{"name":"x"}]}],"childrenFiles":[{"name":"a"}]}}`, "/w/\n  d/\n    x\n  a"},
		{"mcp", `{"content":[{"text":{"text":"x"}},{"text":{"text":"y"}}],"isError":false}`, "x\ny"},
		{"semSearch", `{"results":"here"}`, "here"},
		{"task", `{"agentId":"k","isBackground":false,"conversationSteps":[{"assistantMessage":{"text":"One."}}]}`, "One."},
		{"createPlan", `{}`, ""},
		{"readLints", `{"fileDiagnostics":[],"totalFiles":1,"totalDiagnostics":0}`, `{"fileDiagnostics":[],"totalFiles":1,"totalDiagnostics":0}`},
		{"updateTodos", `{"todos":[{"content":"do"}],"totalCount":1}`, `{"todos":[{"content":"do"}],"totalCount":1}`},
		{"generateImage", `{"filePath":"/w/a.png"}`, `{"filePath":"/w/a.png"}`},
		{"shell", `"as text"`, "as text"},
	} {
		if got := Shown(c.kind, []byte(`{"status":"success","value":`+c.value+`}`)); got != c.want {
			t.Errorf("%s %s is shown as %q, want %q", c.kind, c.value, got, c.want)
		}
	}
	deep := `{"absPath":"/w","childrenDirs":[` + strings.Repeat(`{"absPath":"d","childrenDirs":[`, 40) + strings.Repeat(`]}`, 41)
	if got := Shown("ls", []byte(`{"status":"success","value":{"directoryTreeRoot":`+deep+`}}`)); got != `{"directoryTreeRoot":`+deep+`}` {
		t.Errorf("a folder that goes deep is shown as %q", got)
	}
	if got := Shown("edit", []byte(`{"status":"error","error":{"message":"not found","path":"c.go"}}`)); got != "not found" {
		t.Errorf("an error is shown as %q", got)
	}
	if got := Shown("await", []byte(`{"status":"done","value":"v","more":1}`)); got != "v" {
		t.Errorf("a text is shown as %q", got)
	}
	image := Images([]byte(`{"status":"success","value":{"content":[{"image":{"data":"aGk="}}]}}`))
	if len(image) != 1 || string(image[0]) != "hi" {
		t.Errorf("the images are %q", image)
	}
	n := Claude("shell", "shell", nil, []byte(`{"command":"x"}`), nil)
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
		n := Claude(c.kind, c.name, []byte(c.input), []byte(c.args), nil)
		if got := n.Name + " " + string(n.Input); got != c.want || n.Exact != c.exact {
			t.Errorf("%s with %s and %s is %s (%v), want %s", c.name, c.input, c.args, got, n.Exact, c.want)
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
		n := Claude(toolmap.Kind(c.name), c.name, nil, []byte(c.args), []byte(c.value))
		if got := n.Name + " " + string(n.Input); got != c.want {
			t.Errorf("%s is %s, want %s", c.name, got, c.want)
		}
	}
	if got := Shown("edit", []byte(`{"status":"ok","value":{"linesAdded":1}}`)); got != "The file was changed." {
		t.Errorf("an edit is shown as %q", got)
	}
}
