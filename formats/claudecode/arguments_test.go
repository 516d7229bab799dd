package claudecode

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"rehome/formats"
	"rehome/formats/loss"
	"rehome/formats/session"
)

// TestArguments: what the model of another client gave is in Claude Code's call, or a loss
// names it, and no command is invented.
func TestArguments(t *testing.T) {
	for _, c := range []struct{ name, input, want, losses string }{
		{"Shell", `{"command":"rm -rf build","working_directory":"/srv/it's"}`, `Bash {"command":"cd '/srv/it'\\''s' && rm -rf build"}`, "L224"},
		{"Shell", `{"command":"ls","working_directory":"/proj/","timeout":7000,"explanation":"why"}`, `Bash {"command":"ls","timeout":7000,"description":"why"}`, ""},
		{"Shell", `{"command":"ls","working_directory":"sub","block_until_ms":5}`, `Bash {"command":"cd sub && ls"}`, "L223 block_until_ms of Shell, L224"},
		{"Shell", `{"command":"ls","working_directory":5}`, `Bash {"command":"ls"}`, "L223 working_directory of Shell"},
		{"read_file", `{"target_file":"f","start_line_one_indexed":3,"end_line_one_indexed_inclusive":9,"should_read_entire_file":false}`, `Read {"file_path":"f","offset":3,"limit":7}`, "L213"},
		{"Read", `{"path":"f","offset":"4","limit":0}`, `Read {"file_path":"f","offset":4,"limit":0}`, "L213"},
		{"grep_search", `{"query":"x","case_sensitive":true,"include_pattern":"*.go","exclude_pattern":"y"}`, `Grep {"pattern":"x","glob":"*.go","-i":false}`, "L223 exclude_pattern of grep_search, L213"},
		{"Write", `{"path":"a","contents":"z","overwrite":true}`, `Write {"file_path":"a","content":"z"}`, "L223 overwrite of Write"},
		{"StrReplace", `{"path":"a","old_string":"x","new_string":"y","allow_multiple":1}`, `Edit {"file_path":"a","old_string":"x","new_string":"y"}`, "L223 allow_multiple of StrReplace"},
		{"Task", `{"prompt":"p","model":"fast","readonly":true,"resume":"agent-9"}`, `Agent {"prompt":"p","readonly":true,"resume":"agent-9"}`, "L223 model of Task"},
		{"Delete", `{}`, `Delete {}`, "L211"},
		{"Delete", `{"path":7}`, `Delete {"path":7}`, "L211"},
		{"Delete", `{"path":"-a b","explanation":"old"}`, `Bash {"command":"rm './-a b'","description":"old"}`, "L213"},
		{"LS", `{}`, `LS {}`, "L211"},
		{"Tööl", `{"a":1}`, `T--l {"a":1}`, "L225 Tööl, L211"},
		{"my.tool", `{"a":1}`, `my-tool {"a":1}`, "L225 my.tool, L211"},
		{"own", `{"a":1}`, `own {"a":1}`, "L211"},
		{"CallMcpTool", `{"server":"s","toolName":"t","arguments":5,"why":"x"}`, `mcp__s__t {"input":5}`, "L223 why of CallMcpTool"},
	} {
		call := &session.ToolCall{ID: "c", Name: c.name, Input: session.Raw(c.input)}
		s := chat(say(session.User, words("go")), say(session.Assistant, call), say(session.Tool, resulting("c", "x")), say(session.Assistant, words("done")))
		s.Workspace = "/proj"
		w := encoded(t, s, formats.SessionBuild{})
		lint(t, w)
		var losses []string
		for _, n := range w.notes {
			if n.Code[1] == '2' && n.Code != loss.ToolRenamed && n.Code != loss.CallIDChanged {
				losses = append(losses, strings.TrimSpace(string(n.Code)+" "+strings.Join(n.Args, " of ")))
			}
		}
		got := ""
		for _, b := range w.blocks() {
			if b["type"] == "tool_use" {
				input, _ := json.Marshal(b["input"])
				got = fmt.Sprint(b["name"], " ", string(input))
			}
		}
		name, input, _ := strings.Cut(c.want, " ")
		var sorted any
		if err := json.Unmarshal([]byte(input), &sorted); err != nil {
			t.Fatal(err)
		}
		again, _ := json.Marshal(sorted)
		if want := name + " " + string(again); got != want || strings.Join(losses, ", ") != c.losses {
			t.Errorf("%s %s\nbecame %s\nnot    %s\nwith %q, not %q", c.name, c.input, got, want, losses, c.losses)
		}
	}
}

// TestOriginalArguments: what is not in a call is in the member rehome of its line.
func TestOriginalArguments(t *testing.T) {
	for _, input := range []string{`{"contents":"z","overwrite":true,"path":"a"}`, `{"allow_multiple":1,"new_string":"y","old_string":"x","path":"a"}`, `{"command":"ls","working_directory":"/srv"}`} {
		call := &session.ToolCall{ID: "c", Name: "Shell", Input: session.Raw(input)}
		if strings.Contains(input, "path") {
			call.Name = "StrReplace"
		}
		w := encoded(t, chat(say(session.User, words("go")), say(session.Assistant, call), say(session.Tool, resulting("c", "x"))), formats.SessionBuild{})
		if !slices.ContainsFunc(w.lines, func(l map[string]any) bool {
			mark, _ := l["rehome"].(map[string]any)
			kept, _ := json.Marshal(mark["input"])
			return string(kept) == input
		}) {
			t.Errorf("%s is in no line", input)
		}
	}
}

// TestNoLine: what no line has is reported of the message that had it: arguments that are no
// object, the record of a turn without a word, how much a compaction on a branch archived.
func TestNoLine(t *testing.T) {
	begin := func(number int, parts ...session.Part) *session.Message {
		m := say(session.User, parts...)
		m.Turn = &session.Turn{Number: number, Status: "finished"}
		return m
	}
	call := &session.ToolCall{ID: "c", Name: "Read", Kind: "read", Input: session.Raw(`"a.go"`), Args: session.Raw(`{"path":"a.go"}`)}
	edit := &session.ToolCall{ID: "c", Name: "Edit", Kind: "edit", Input: session.Raw(`"*** Begin Patch\n*** Add File: a\n+x\n*** End Patch"`), Args: session.Raw(`{"path":"a"}`)}
	for name, c := range map[string]struct {
		said []*session.Message
		code loss.Code
		at   int // of said; -1: nothing is reported
	}{
		"arguments":       {[]*session.Message{say(session.User, words("go")), say(session.Assistant, call), say(session.Tool, resulting("c", "x"))}, loss.ArgumentsRepaired, 1},
		"patch":           {[]*session.Message{say(session.User, words("go")), say(session.Assistant, edit), say(session.Tool, resulting("c", "x"))}, loss.ArgumentsRepaired, -1},
		"turn":            {[]*session.Message{begin(1, words("go")), say(session.Assistant, words("a")), begin(2), begin(3, words("on")), say(session.Assistant, words("b"))}, loss.TurnRecord, 2},
		"last turn":       {[]*session.Message{begin(1, words("go")), say(session.Assistant, words("a")), begin(2)}, loss.TurnRecord, 2},
		"on a branch":     {[]*session.Message{say(session.User, words("go")), say(session.Assistant, words("a")), on("b", begin(2, words("try"))), on("b", say(session.System, &session.Boundary{Archived: 2}, &session.Summary{Text: "so far"}))}, loss.PartMetadata, 3},
		"turn with words": {[]*session.Message{begin(1), say(session.Assistant, words("a")), begin(2, words("on")), say(session.Assistant, words("b"))}, loss.TurnRecord, -1},
	} {
		for i, m := range c.said {
			m.Origin = []string{fmt.Sprintf("s:%d", i)}
		}
		chat := chat(c.said...)
		if last := c.said[len(c.said)-1]; last.Branch != "" {
			chat.Branches = []session.Branch{{Name: last.Branch}}
		}
		var at []string
		for _, n := range encoded(t, chat, formats.SessionBuild{}).notes {
			if n.Code == c.code {
				at = append(at, n.At.File)
			}
		}
		if want := fmt.Sprintf("s:%d", c.at); c.at < 0 && len(at) > 0 || c.at >= 0 && !slices.Equal(at, []string{want}) {
			t.Errorf("%s: %s is reported of %q, not of message %d", name, c.code, at, c.at)
		}
	}
}

// TestImagesOfFailedResults: the client sends no image in an error, so it follows the results.
func TestImagesOfFailedResults(t *testing.T) {
	failed := func(id string, parts ...session.Part) *session.ToolResult {
		return &session.ToolResult{Call: id, Error: true, Content: parts}
	}
	image := func() session.Part { return &session.Media{Mime: "image/png", Data: picture(t)} }
	s := chat(say(session.User, words("go")), say(session.Assistant, calling("a", "shot"), calling("b", "shot"), calling("c", "shot")),
		say(session.Tool, failed("a", words("no"), image())), say(session.Tool, failed("b", image(), image())),
		say(session.Tool, &session.ToolResult{Call: "c", Content: []session.Part{words("yes"), image()}}), say(session.Assistant, words("done")))
	w := encoded(t, s, formats.SessionBuild{})
	lint(t, w)
	var got []string
	for _, b := range w.blocks() {
		switch content, _ := b["content"].([]any); {
		case b["type"] == "tool_result":
			got = append(got, fmt.Sprintf("result %v, %d blocks", b["is_error"], len(content)))
		case b["type"] == "image":
			got = append(got, "image")
		}
	}
	want := []string{"result true, 0 blocks", "result true, 0 blocks", "result false, 2 blocks", "image", "image", "image"}
	moved := 0
	for _, n := range w.notes {
		if n.Code == loss.ResultMediaMoved {
			moved++
		}
	}
	if !slices.Equal(got, want) || moved != 3 {
		t.Errorf("%q, %d moved", got, moved)
	}

	s.Agent = session.ClaudeCode // its own stay where they were: what it does not send, it does not send again
	if w = encoded(t, s, formats.SessionBuild{}); w.noted(loss.ResultMediaMoved) {
		t.Error("an image of its own was moved")
	}
}
