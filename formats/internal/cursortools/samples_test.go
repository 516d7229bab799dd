package cursortools

import (
	"crypto/sha256"
	"slices"
	"strings"
	"testing"

	"rehome/formats/loss"
	"rehome/formats/session"
	"rehome/internal/rawjson"
)

// otherSamples are calls of Codex, of the Cursor IDE, of events of the SDK and of
// stream-json.
func otherSamples() []sample {
	return []sample{
		{agent: session.Codex, name: "exec_command", kind: "shell", input: `{"cmd":"ls","workdir":"/w","yield_time_ms":10}`, status: "success", shown: "Chunk ID: 1\nProcess exited with code 0\nOutput:\nx\n", value: `{"type":"CommandExecution","command":["/bin/bash","-lc","ls"],"cwd":"file:///w","aggregated_output":"x\n","exit_code":0}`,
			want: []string{"shell", "Shell", `{"command":"ls","working_directory":"/w","yield_time_ms":10}`, `{"command":"ls","workingDirectory":"/w","toolCallId":"c1"}`, `{"success":{"command":"ls","workingDirectory":"/w","stdout":"x\n"}}`}},
		{agent: session.Codex, name: "shell", kind: "shell", input: `{"command":["bash","-lc","exit 3"],"timeout_ms":1000}`, status: "failed", shown: "Exit code: 3\nWall time: 0 seconds\nOutput:\nbad",
			want: []string{"shell", "Shell", `{"command":"exit 3","timeout":1000}`, `{"command":"exit 3","timeout":1000,"toolCallId":"c1"}`, `{"failure":{"command":"exit 3","exitCode":3,"stdout":"Exit code: 3\nWall time: 0 seconds\nOutput:\nbad"}}`}},
		{agent: session.Codex, name: "apply_patch", kind: "edit", input: `"*** Begin Patch\n*** Update File: a.txt\n@@\n-dry\n+wet\n*** Add File: b.txt\n+new\n*** End Patch\n"`, status: "success", shown: "Success.",
			want: []string{"edit", "ApplyPatch", `"*** Begin Patch\n*** Update File: a.txt\n@@\n-dry\n+wet\n*** Add File: b.txt\n+new\n*** End Patch\n"`, `{"path":"a.txt"}`,
				`{"success":{"path":"a.txt","linesAdded":2,"linesRemoved":1,"diffString":"--- a/a.txt\n+++ b/a.txt\n@@ -1 +1 @@\n-dry\n+wet\n@@ -1,0 +1 @@\n+new"}}`}},
		{agent: session.Codex, name: "update_plan", kind: "updateTodos", input: `{"explanation":"why","plan":[{"step":"a","status":"in_progress"}]}`, status: "success", shown: "Plan updated",
			want: []string{"updateTodos", "TodoWrite", `{"explanation":"why","todos":[{"id":"1","content":"a","status":"in_progress"}]}`, `{"todos":[{"id":"1","content":"a","status":"TODO_STATUS_IN_PROGRESS"}]}`, `{"success":{"todos":[{"id":"1","content":"a","status":"TODO_STATUS_IN_PROGRESS"}],"totalCount":1}}`}},
		{agent: session.Codex, name: "view_image", kind: "read", input: `{"path":"dot.png"}`, status: "success",
			want: []string{"read", "Read", `{"path":"dot.png"}`, `{"path":"dot.png"}`, `{"success":{"content":"","path":"dot.png"}}`}},
		{agent: session.Codex, name: "no_such_tool", input: `{"a":1}`, status: "failed", shown: "unsupported call: no_such_tool",
			want: []string{"mcp", "no_such_tool", `{"a":1}`, `{"name":"codex-no_such_tool","args":{"a":1},"toolCallId":"c1","providerIdentifier":"codex","toolName":"no_such_tool"}`, `{"error":{"error":"unsupported call: no_such_tool"}}`}},
		{agent: session.Codex, name: "write_stdin", kind: "writeShellStdin", input: `{"session_id":7,"chars":"y\n"}`,
			want: []string{"writeShellStdin", "write_shell_stdin", `{"shell_id":7,"chars":"y\n"}`, `{"shellId":7,"chars":"y\n"}`, ``}},
		// The Cursor IDE: its own messages, with and without what the model wrote.
		{agent: session.CursorIDE, name: "read_file_v2", kind: "read", args: `{"targetFile":"/w/a.go","effectiveUri":"file:///w/a.go","limit":5}`, status: "success", value: `{"contents":"x","totalLinesInFile":9}`,
			want: []string{"read", "Read", `{"path":"/w/a.go","limit":5}`, `{"path":"/w/a.go","limit":5}`, `{"success":{"content":"x","totalLines":9,"path":"/w/a.go"}}`}},
		{agent: session.CursorIDE, name: "run_terminal_cmd", kind: "shell", input: `{"command":"ls","is_background":false}`, args: `{"command":"ls","requireUserApproval":true}`, status: "success", value: `{"output":"x","exitCodeV2":0,"rejected":false}`,
			want: []string{"shell", "run_terminal_cmd", `{"command":"ls","is_background":false}`, `{"command":"ls","toolCallId":"c1"}`, `{"success":{"command":"ls","stdout":"x"}}`}},
		{agent: session.CursorIDE, name: "edit_file_v2", kind: "edit", args: `{"relativeWorkspacePath":"a.go"}`, status: "success", value: `{"contentsBeforeEdit":"a\n","contentsAfterEdit":"b\n"}`,
			want: []string{"edit", "StrReplace", `{"path":"a.go"}`, `{"path":"a.go"}`, `{"success":{"path":"a.go","linesAdded":1,"linesRemoved":1,"diffString":"--- a/a.go\n+++ b/a.go\n@@ -1 +1 @@\n-a\n+b","beforeFullFileContent":"a\n","afterFullFileContent":"b\n"}}`}},
		{agent: session.CursorIDE, name: "mcp_tracker_list", kind: "mcp", input: `{"q":1}`, args: `{"tools":[{"name":"list","parameters":"{\"q\":1}","serverName":"tracker"}]}`, status: "success", value: `{"selectedTool":"list","result":"x"}`,
			want: []string{"mcp", "mcp_tracker_list", `{"q":1}`, `{"name":"tracker-list","args":{"q":1},"toolCallId":"c1","providerIdentifier":"tracker","toolName":"list"}`}},
		// Events of the SDK.
		{agent: session.CursorSDK, name: "shell", kind: "shell", args: `{"command":"ls","workingDirectory":"/w"}`, status: "success", value: `{"status":"success","value":{"exitCode":0,"signal":"","stdout":"x","stderr":"","executionTime":31}}`,
			want: []string{"shell", "Shell", `{"command":"ls","working_directory":"/w"}`, `{"command":"ls","workingDirectory":"/w"}`, `{"success":{"command":"ls","workingDirectory":"/w","stdout":"x","executionTime":31}}`}},
		{agent: session.CursorSDK, name: "grep", kind: "grep", args: `{"pattern":"x","path":"/w"}`, status: "success", value: `{"status":"success","value":{"workspaceResults":{"/w":{"type":"content","output":{"matches":[{"file":"a","matches":[{"lineNumber":7,"content":"x"}]}],"totalLines":1}}}}}`,
			want: []string{"grep", "Grep", `{"pattern":"x","path":"/w"}`, `{"pattern":"x","path":"/w"}`, `{"success":{"pattern":"x","path":"/w","workspaceResults":{"/w":{"content":{"matches":[{"file":"a","matches":[{"lineNumber":7,"content":"x"}]}],"totalLines":1}}}}}`}},
		{agent: session.CursorSDK, name: "task", kind: "task", args: `{"description":"d","prompt":"p","subagentType":{"kind":"explore"}}`, status: "success", value: `{"status":"success","value":{"agentId":"k","isBackground":true,"durationMs":5}}`,
			want: []string{"task", "Task", `{"description":"d","prompt":"p","subagent_type":"explore"}`, `{"description":"d","prompt":"p","subagentType":{"explore":{}}}`, `{"success":{"agentId":"k","isBackground":true,"durationMs":"5"}}`}},
		{agent: session.CursorSDK, name: "updateTodos", kind: "updateTodos", args: `{"todos":[{"content":"a","status":"inProgress"}]}`, status: "success", value: `{"status":"success","value":{"todos":[{"content":"a","status":"inProgress"}],"totalCount":1}}`,
			want: []string{"updateTodos", "TodoWrite", `{"todos":[{"id":"1","content":"a","status":"in_progress"}]}`, `{"todos":[{"id":"1","content":"a","status":"TODO_STATUS_IN_PROGRESS"}]}`, `{"success":{"todos":[{"id":"1","content":"a","status":"TODO_STATUS_IN_PROGRESS"}],"totalCount":1}}`}},
		{agent: session.CursorSDK, name: "edit", kind: "edit", args: `{"path":"/a"}`, status: "error", value: `{"status":"error","error":{"message":"not found"}}`,
			want: []string{"edit", "StrReplace", `{"path":"/a"}`, `{"path":"/a"}`, `{"error":{"path":"/a","error":"not found"}}`}},
		// stream-json, with the defaults that it spells.
		{agent: session.CursorCLI, name: "shell", kind: "shell", args: `{"command":"ls","workingDirectory":"","simpleCommands":[],"toolCallId":"t","isBackground":false}`, status: "success", value: `{"success":{"command":"ls","exitCode":0,"stdout":"x"}}`,
			want: []string{"shell", "Shell", `{"command":"ls","working_directory":"","is_background":false}`}},
	}
}

// TestOthers: calls of other clients get the form that Cursor has for them.
func TestOthers(t *testing.T) {
	for _, c := range otherSamples() {
		call, r := c.parts()
		got := Spell(c.agent, call, r)
		checkCall(t, c.name, got, call, r)
		for i, s := range []string{got.Kind, got.Name, string(got.Input), string(got.Args), string(got.Value)} {
			if i < len(c.want) && s != c.want[i] {
				t.Errorf("%s: %s\nwant    %s", c.name, s, c.want[i])
			}
		}
	}
}

// TestOwn: what a client of Cursor's wrote stays as it is.
func TestOwn(t *testing.T) {
	call := &session.ToolCall{ID: "c1", Name: "Shell", Kind: "shell", Input: session.Raw(`{ "command" : "ls","n":1e3}`), Args: session.Raw(`{"command":"ls","#99":{"field":99,"wire":0,"value":"5"}}`)}
	r := &session.ToolResult{Call: "c1", Status: "success", Value: session.Raw(`{"success":{"command":"ls","exitCode":0,"stdout":"x"},"pid":7}`)}
	got := Spell(session.CursorSDK, call, r)
	if string(got.Input) != string(call.Input) || string(got.Args) != string(call.Args) || string(got.Value) != string(r.Value) || len(got.Losses) > 0 {
		t.Errorf("%+v", got)
	}
}

// TestHostile: nothing grows beyond its input, in size or in time.
func TestHostile(t *testing.T) {
	long := string(session.AppendString(nil, strings.Repeat("a", 1<<19)))
	edit := &session.ToolCall{ID: "c1", Name: "Edit", Kind: "edit", Input: session.Raw(`{"file_path":"/a","old_string":"a","new_string":` + long + `,"replace_all":true}`)}
	r := &session.ToolResult{Call: "c1", Status: "success", Value: session.Raw(`{"filePath":"/a","originalFile":` + long + `}`)}
	if got := Spell(session.ClaudeCode, edit, r); len(got.Value) > 4<<20 || rawjson.Last(got.Value, "success") == nil {
		t.Errorf("the result has %d bytes", len(got.Value))
	}
	many := "{" + strings.Repeat(`"command":"ls","x":1,`, 100_000) + `"y":1}`
	shell := &session.ToolCall{ID: "c1", Name: "Bash", Kind: "shell", Input: session.Raw(many)}
	if got := Spell(session.ClaudeCode, shell, nil); string(got.Input) != many {
		t.Errorf("the arguments are %.100s", got.Input)
	}
	deep := strings.Repeat(`{"a":`, 400) + "1" + strings.Repeat("}", 400)
	for _, kind := range []string{"shell", "", "mcp", "task"} {
		call := &session.ToolCall{ID: "c1", Name: "Own", Kind: kind, Input: session.Raw(deep), Args: session.Raw(deep)}
		r := &session.ToolResult{Call: "c1", Status: "success", Value: session.Raw(deep)}
		checkCall(t, "deep "+kind, Spell(session.Codex, call, r), call, r)
	}
}

// TestNewer: a call of a kind that is newer than the table stays as it is, if it is
// Cursor's.
func TestNewer(t *testing.T) {
	call := &session.ToolCall{ID: "c1", Name: "BrandNew", Kind: "tool-97", Input: session.Raw(`{"a":1}`), Args: session.Raw(`{"field":1,"wire":2,"base64":"CgF4"}`)}
	r := &session.ToolResult{Call: "c1", Status: "success", Value: session.Raw(`{"field":2,"wire":2,"base64":"CgF5"}`)}
	got := Spell(session.CursorSDK, call, r)
	if got.Kind != call.Kind || got.Name != call.Name || string(got.Input) != string(call.Input) || string(got.Args) != string(call.Args) || string(got.Value) != string(r.Value) || len(got.Losses) > 0 {
		t.Errorf("%+v", got)
	}
	for _, kind := range []string{"tool-0", "tool-1", "tool-097", "tool-x", "tool--1"} {
		call.Kind = kind
		if got := Spell(session.CursorSDK, call, r); got.Kind != mcpKind {
			t.Errorf("%s is spelled as %s", kind, got.Kind)
		}
	}
	call.Kind = "tool-97"
	if got := Spell(session.Codex, call, r); got.Kind != mcpKind {
		t.Errorf("another client's is spelled as %s", got.Kind)
	}
}

// TestBlobs: what a client of Cursor's keeps in a blob is in the record, because the blob
// stays behind.
func TestBlobs(t *testing.T) {
	hello := sha256.Sum256([]byte("hello"))
	id := string(quoted64(hello[:]))
	call := &session.ToolCall{ID: "c1", Name: "Read", Kind: "read", Input: session.Raw(`{"path":"/a"}`), Args: session.Raw(`{"path":"/a"}`)}
	for _, c := range []struct {
		field, want string
		r           session.ToolResult
	}{
		{"contentBlobId", `"content":"hello",`, session.ToolResult{Content: []session.Part{&session.Text{Text: "hello"}}}},
		{"contentBlobId", `"content":"hello",`, session.ToolResult{Extras: []session.Extra{{Name: "contentBlobId", Raw: session.Raw(`{"blob":"x","text":"hello"}`)}}}},
		{"dataBlobId", `"data":"aGVsbG8=",`, session.ToolResult{Content: []session.Part{&session.Media{Data: []byte("hello")}}}},
		{"dataBlobId", `"data":"aGVsbG8=",`, session.ToolResult{Extras: []session.Extra{{Name: "dataBlobId", Raw: session.Raw(`{"blob":"x","base64":"aGVsbG8="}`)}}}},
		{"dataBlobId", ``, session.ToolResult{Content: []session.Part{&session.Text{Text: "other"}}}},
	} {
		c.r.Status, c.r.Value = "success", session.Raw(`{"success":{"`+c.field+`":`+id+`,"path":"/a"}}`)
		got := Spell(session.CursorSDK, call, &c.r)
		checkCall(t, c.field, got, call, &c.r)
		if want := `{"success":{` + c.want + `"path":"/a"}}`; string(got.Value) != want || !slices.Contains(got.Losses, loss.ToolRecord) {
			t.Errorf("%s: %s %v, want %s", c.field, got.Value, got.Losses, want)
		}
	}
}

// TestLosses: only what differs is a loss, and nothing but what Losses lists.
func TestLosses(t *testing.T) {
	listed := map[loss.Code]bool{}
	for _, code := range Losses() {
		listed[code] = true
	}
	for _, c := range append(claudeSamples(), otherSamples()...) {
		if c.agent == "" {
			c.agent = session.ClaudeCode
		}
		call, r := c.parts()
		for _, code := range Spell(c.agent, call, r).Losses {
			if !listed[code] {
				t.Errorf("%s: %s is not listed", c.name, code)
			}
		}
	}
	for name, want := range map[string]loss.Code{"Skill": loss.ToolUnknown, "NotebookEdit": loss.ToolUnknown} {
		got := Spell(session.ClaudeCode, &session.ToolCall{Name: name, Kind: map[string]string{"NotebookEdit": "edit"}[name], Input: session.Raw(`{"notebook_path":"/a"}`)}, nil)
		if len(got.Losses) == 0 || got.Losses[0] != want {
			t.Errorf("%s: %v, want %s", name, got.Losses, want)
		}
	}
}
