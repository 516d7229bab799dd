package cursortools

import (
	"strings"
	"testing"

	"rehome/formats/internal/wire"
	"rehome/formats/loss"
	"rehome/formats/session"
)

// sample is a call of a tool and its result.
type sample struct {
	agent, kind, name, input, args string
	status                         string // "" : no result
	shown, value                   string
	want                           []string // kind, name, input, args, value
}

func (c *sample) parts() (*session.ToolCall, *session.ToolResult) {
	call := &session.ToolCall{ID: "c1", Name: c.name, Kind: c.kind, Input: session.Raw(c.input), Args: session.Raw(c.args)}
	if c.status == "" {
		return call, nil
	}
	r := &session.ToolResult{Call: "c1", Status: c.status, Error: c.status == "error", Value: session.Raw(c.value)}
	if c.shown != "" {
		r.Content = []session.Part{&session.Text{Text: c.shown}}
	}
	return call, r
}

// TestClaude: each tool of Claude Code gets the form that Cursor has for it.
func TestClaude(t *testing.T) {
	for _, c := range claudeSamples() {
		call, r := c.parts()
		got := Spell(session.ClaudeCode, call, r)
		checkCall(t, c.name, got, call, r)
		for i, s := range []string{got.Kind, got.Name, string(got.Input), string(got.Args), string(got.Value)} {
			if i < len(c.want) && s != c.want[i] {
				t.Errorf("%s: %s\nwant    %s", c.name, s, c.want[i])
			}
		}
	}
}

// TestUnnamed: a call without a kind, as in text that people wrote, has the kind of its
// name, whichever client it is of.
func TestUnnamed(t *testing.T) {
	for _, agent := range []string{"", session.ClaudeCode, session.CursorCLI} {
		for _, c := range append(claudeSamples(), sample{name: "exec_command", kind: "shell", input: `{"cmd":"ls"}`}, sample{name: "run_terminal_cmd", kind: "shell", input: `{"command":"ls"}`}) {
			call, r := c.parts()
			want := Spell(agent, call, r)
			call.Kind = ""
			if got := Spell(agent, call, r); c.kind != "" && (got.Kind != c.kind || got.Name != want.Name || string(got.Args) != string(want.Args) || string(got.Value) != string(want.Value)) {
				t.Errorf("%s of %q is spelled %s %s %s, want %s %s", c.name, agent, got.Kind, got.Name, got.Args, c.kind, want.Args)
			}
		}
	}
}

// checkCall: what Spell returns is encoded, decoded as the same, and stays the same when
// it is spelled again.
func checkCall(t *testing.T, what string, c Call, call *session.ToolCall, r *session.ToolResult) {
	t.Helper()
	if strings.HasPrefix(c.Kind, "tool-") {
		return // TestNewer
	}
	f := wire.Messages().Message("ToolCall").Named(c.Kind + "ToolCall")
	if f == nil {
		t.Fatalf("%s: there is no kind %q", what, c.Kind)
	}
	doc := `{"args":` + string(c.Args)
	if c.Value != nil {
		doc += `,"result":` + string(c.Value)
	}
	doc += "}"
	b, err := f.Message.AppendJSON(nil, []byte(doc))
	if err != nil {
		t.Fatalf("%s: %v\n%s", what, err, doc)
	}
	w := wire.Walker{Note: func(code loss.Code) {
		if !strings.Contains(string(call.Args)+string(value(r)), "#") { // what Cursor wrote stays as it is
			t.Errorf("%s: %s in %q", what, code, b)
		}
	}}
	if again := string(w.Append(nil, f.Message, b)); again != doc {
		t.Errorf("%s: decoded as\n%s, want\n%s", what, again, doc)
	}
	if (r == nil) != (c.Value == nil) {
		t.Errorf("%s: result %v is spelled %s", what, r, c.Value)
	}
	next := &session.ToolCall{ID: call.ID, Kind: c.Kind, Name: c.Name, Input: c.Input, Args: c.Args, Child: call.Child}
	var result *session.ToolResult
	if r != nil {
		result = &session.ToolResult{Call: call.ID, Content: r.Content, Value: c.Value, Status: status(c.Value), Error: r.Error}
	}
	again := Spell(session.CursorCLI, next, result)
	if again.Kind != c.Kind || again.Name != c.Name || string(again.Input) != string(c.Input) || string(again.Args) != string(c.Args) || string(again.Value) != string(c.Value) || len(again.Losses) > 0 {
		t.Errorf("%s: spelled again as\n%+v, want\n%+v", what, again, c)
	}
}

func value(r *session.ToolResult) session.Raw {
	if r == nil {
		return nil
	}
	return r.Value
}

// status is the case of a result.
func status(value []byte) string {
	head, _, _ := strings.Cut(strings.TrimPrefix(string(value), `{"`), `"`)
	return head
}

func claudeSamples() []sample {
	return []sample{
		{name: "Bash", kind: "shell", input: `{"command":"go test","description":"Run","run_in_background":true,"dangerouslyDisableSandbox":true}`, status: "success", shown: "ok", value: `{"stdout":"ok","stderr":"","interrupted":false,"isImage":false}`},
		{name: "Bash", kind: "shell", input: `{"command":"false"}`, status: "error", shown: "Exit code 3\nbad", value: `"Error: Exit code 3\nbad"`},
		{name: "Bash", kind: "shell", input: `{"command":"rm"}`, status: "error", shown: "The user doesn't want to proceed with this tool use.", value: `"User rejected tool use"`},
		{name: "Read", kind: "read", input: `{"file_path":"/a.go","offset":3,"limit":2}`, status: "success", shown: "     3→x\n", value: `{"type":"text","file":{"filePath":"/a.go","content":"x\n","numLines":1,"startLine":3,"totalLines":9}}`},
		{name: "Read", kind: "read", input: `{"file_path":"/a.png"}`, status: "success", value: `{"type":"image","file":{"base64":"aGk=","type":"image/png","originalSize":2}}`},
		{name: "Read", kind: "read", input: `{"file_path":"/gone"}`, status: "error", shown: "File does not exist.", value: `"Error: File does not exist."`},
		{name: "Edit", kind: "edit", input: `{"file_path":"/a","old_string":"x","new_string":"y","replace_all":true}`, status: "success", shown: "updated", value: `{"filePath":"/a","oldString":"x","newString":"y","originalFile":"x\nx\n","structuredPatch":[{"oldStart":1,"oldLines":2,"newStart":1,"newLines":2,"lines":["-x","-x","+y","+y"]}],"userModified":false,"replaceAll":true}`},
		{name: "Edit", kind: "edit", input: `{"file_path":"/a","old_string":"x","new_string":"y"}`},
		{name: "Write", kind: "edit", input: `{"file_path":"/a","content":"x\n"}`, status: "success", shown: "created", value: `{"type":"create","filePath":"/a","content":"x\n","structuredPatch":[],"originalFile":null}`},
		{name: "MultiEdit", kind: "edit", input: `{"file_path":"/a","edits":[{"old_string":"x","new_string":"y"}]}`, status: "success", shown: "done"},
		{name: "NotebookEdit", kind: "edit", input: `{"notebook_path":"/a.ipynb","cell_id":"c","new_source":"x"}`, status: "success", shown: "done"},
		{name: "Grep", kind: "grep", input: `{"pattern":"x","path":"/w","output_mode":"content","-n":true,"-i":true}`, status: "success", shown: "a.go:7:x\na.go-8-y", value: `{"mode":"content","numFiles":0,"filenames":[],"content":"a.go:7:x\na.go-8-y","numLines":2}`},
		{name: "Grep", kind: "grep", input: `{"pattern":"x"}`, status: "success", shown: "Found 1 file\n/a.go", value: `{"mode":"files_with_matches","filenames":["/a.go"],"numFiles":1}`},
		{name: "Grep", kind: "grep", input: `{"pattern":"x","output_mode":"count"}`, status: "success", shown: "a.go:7\nb:1"},
		{name: "Glob", kind: "glob", input: `{"pattern":"*.go","path":"/w"}`, status: "success", shown: "/w/a.go\n/w/b.go", value: `{"filenames":["/w/a.go","/w/b.go"],"durationMs":4,"numFiles":2,"truncated":false}`},
		{name: "LS", kind: "ls", input: `{"path":"/w"}`, status: "success", shown: "- /w/\n  - a.go\n  - d/\n    - b.go\n", value: `"- /w/"`},
		{name: "TodoWrite", kind: "updateTodos", input: `{"todos":[{"content":"a","status":"in_progress","activeForm":"doing a"},{"content":"b","status":"pending","activeForm":"b"}]}`, status: "success", shown: "ok", value: `{"oldTodos":[],"newTodos":[{"content":"a","status":"in_progress","activeForm":"doing a"},{"content":"b","status":"pending","activeForm":"b"}]}`},
		{name: "Agent", kind: "task", input: `{"description":"d","prompt":"p","subagent_type":"Explore","run_in_background":true}`, status: "success", shown: "found\nagentId: x", value: `{"status":"completed","content":[{"type":"text","text":"found"}],"totalDurationMs":5}`},
		{name: "Task", kind: "task", input: `{"description":"d","prompt":"p","subagent_type":"general-purpose"}`, status: "error", shown: "failed"},
		{name: "WebSearch", kind: "webSearch", input: `{"query":"q"}`, status: "success", shown: "Links", value: `{"query":"q","results":[{"tool_use_id":"s","content":[{"title":"T","url":"https://x"}]},"text"],"durationSeconds":1.5}`},
		{name: "WebFetch", kind: "webFetch", input: `{"url":"https://x","prompt":"p"}`, status: "success", shown: "R", value: `{"bytes":3,"code":200,"codeText":"OK","result":"R","durationMs":3,"url":"https://x"}`},
		{name: "ExitPlanMode", kind: "createPlan", input: `{"plan":"# P"}`, status: "error", shown: "The user doesn't want to proceed with this tool use."},
		{name: "ExitPlanMode", kind: "createPlan", input: `{"plan":"# P"}`, status: "success", shown: "User has approved", value: `{"plan":"# P","isAgent":false}`},
		{name: "AskUserQuestion", kind: "askQuestion", input: `{"questions":[{"question":"Which?","header":"H","multiSelect":true,"options":[{"label":"A","description":"first"},{"label":"B"}]}]}`, status: "success", shown: "A", value: `{"questions":[],"answers":{"Which?":"A"}}`},
		{name: "mcp__tracker__list_all", kind: "mcp", input: `{"q":"x","n":1}`, status: "success", shown: "found", value: `[{"type":"text","text":"found"}]`},
		{name: "mcp__tracker__list_all", kind: "mcp", input: `{}`, status: "error", shown: "bad"},
		{name: "Skill", input: `{"skill":"x"}`, status: "success", shown: "on", value: `{"success":true,"commandName":"x"}`},
		{name: "BashOutput", input: `{"bash_id":"b1"}`, status: "success", shown: "<status>running</status>", value: `{"shellId":"b1","stdout":"x"}`},
		{name: "KillShell", input: `{"shell_id":"b1"}`, status: "success", shown: "killed"},
		{name: "TaskCreate", input: `{"subject":"s","description":"d"}`, status: "success", shown: "Task #1", value: `{"task":{"id":"1","subject":"s"}}`},
		{name: "ToolSearch", input: `{"query":"q"}`, status: "success", shown: "x"},
		{name: "Bash", kind: "shell", input: `{"command":"echo \\ud83d"}`, status: "success", shown: "x", value: `{"stdout":"\\udc00\\ud83d\\ude00","stderr":""}`},
		{name: "odd", input: `"text"`, status: "success"},
		{name: "odd", status: "error"},
	}
}

// TestLine: a list of words is typed as the shell reads it back, options included.
func TestLine(t *testing.T) {
	for list, want := range map[string]string{
		`["ls","-l","--all"]`:        "ls -l --all",
		`["grep","-e","a b","it's"]`: `grep -e 'a b' 'it'\''s'`,
		`["bash","-lc","ls | wc"]`:   "ls | wc",
		`["echo","#1","~","$x",""]`:  `echo '#1' '~' '$x' ''`,
		`["ls",1]`:                   "",
	} {
		if got := Line([]byte(list)); got != want {
			t.Errorf("%s: %s, want %s", list, got, want)
		}
	}
	for path, want := range map[string]string{"a/b": "a/b", "-rf": "./-rf", "-a b": "'./-a b'", "": "''"} {
		if got := Quoted(path); got != want {
			t.Errorf("%q: %s, want %s", path, got, want)
		}
	}
}
