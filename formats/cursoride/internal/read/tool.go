package read

import (
	"bytes"
	"cmp"
	"fmt"
	"strings"
	"sync"

	"rehome/formats/cursoride/internal/lists"
	"rehome/formats/internal/members"
	"rehome/formats/internal/toolmap"
	"rehome/formats/session"
	"rehome/internal/rawjson"
)

// NoName is the name of a tool that the store does not name.
const NoName = "unknown"

// The members of toolFormerData, and of one of the toolResults of 2025.
const (
	toolNumber = iota
	toolIndex
	toolCallID
	toolModelCall
	toolName
	toolRawArgs
	toolParams
	toolResult
	toolStatus
	toolDecision
	toolError
	toolMore
	toolBinary
)

var toolNames = sync.OnceValue(func() *members.Table {
	return members.NewTable([]string{
		toolNumber: "tool", toolIndex: "toolIndex", toolCallID: "toolCallId", toolModelCall: "modelCallId", toolName: "name",
		toolRawArgs: "rawArgs", toolParams: "params", toolResult: "result", toolStatus: "status",
		toolDecision: "userDecision", toolError: "error", toolMore: "additionalData", toolBinary: "toolCallBinary",
	}, "attachedCodeChunks", "images")
})

// toolKinds are the kinds of the client's own tools by number. Names vary from prompt
// to prompt.
var toolKinds = [...]string{
	1: "semSearch", 3: "grep", 5: "read", 6: "ls", 7: "edit", 8: "glob", 9: "semSearch", 11: "delete", 12: "reapply",
	15: "shell", 16: "fetchRules", 18: "webSearch", 19: "mcp", 23: "searchSymbols", 24: "backgroundComposerFollowup",
	25: "knowledgeBase", 26: "fetchPullRequest", 27: "deepSearch", 28: "createDiagram", 29: "fixLints", 30: "readLints",
	31: "goToDefinition", 32: "task", 33: "await", 34: "readTodos", 35: "updateTodos", 38: "edit", 39: "ls", 40: "read",
	41: "grep", 42: "glob", 43: "createPlan", 44: "listMcpResources", 45: "readMcpResource", 46: "readProject",
	47: "updateProject", 48: "task", 49: "mcp", 50: "applyAgentDiff", 51: "askQuestion", 52: "switchMode",
	53: "generateImage", 54: "computerUse", 55: "writeShellStdin", 56: "recordScreen", 57: "webFetch",
	58: "reportBugfixResults", 59: "aiAttribution", 60: "mcpAuth", 61: "reflect", 62: "await", 63: "getMcpTools",
	65: "sendToUser", 66: "connectScm",
}

// kindOf returns the kind of a tool, by its number if that is known.
func kindOf(number int64, name string) string {
	if number > 0 && number < int64(len(toolKinds)) && toolKinds[number] != "" {
		return toolKinds[number]
	}
	if k := toolmap.Kind(name); k != "" {
		return k
	}
	if number > 0 {
		return fmt.Sprintf("tool-%d", number)
	}
	if strings.HasPrefix(name, "mcp_") {
		return "mcp"
	}
	return ""
}

// tool is a call and its result, both from one bubble.
type tool struct {
	call     *session.ToolCall
	result   *session.ToolResult // nil while there is none
	response string              // the model's response that it is part of
	before   string              // ids of a file's content
	after    string
	path     string
}

// tool reads the record of a tool. Rows of tools that never started hold only a status.
func (d *assembler) tool(raw []byte, bubble string) tool {
	f := &d.inner
	f.SplitBy(raw, "toolFormerData.", toolNames())
	number, _ := f.Whole(toolNumber)
	c := &session.ToolCall{ID: f.Text(toolCallID), Name: f.Text(toolName)}
	t := tool{call: c, response: f.Text(toolModelCall)}
	c.Kind = kindOf(number, c.Name)
	c.Input, c.Args = lists.EmbeddedJSON(f.Raw(toolRawArgs)), lists.EmbeddedJSON(f.Raw(toolParams)) // views: the bubble stays as long
	if c.Name == "" {
		c.Name = cmp.Or(c.Kind, NoName)
	}
	if c.ID == "" {
		c.ID = bubble
	}
	value := lists.EmbeddedJSON(f.Raw(toolResult))
	t.contents(c, value)
	r := &session.ToolResult{Value: value}
	status, decision := f.Text(toolStatus), f.Text(toolDecision)
	if status == "" && rawjson.TextAt(f.Raw(toolMore), "status") == "error" {
		status = "error"
	}
	d.outcome(f, c.Kind, status, decision, r)
	if r.Status != "" || len(value) > 0 || len(r.Content) > 0 {
		t.result = r
	}
	more := f.Raw(toolMore)
	c.Child = d.child(c, more, value)
	c.Start = startOf(more)
	f.KeepFull(toolMore, toolBinary)
	f.Drop(toolIndex)
	c.Extras = f.Settle(&d.tally)
	return t
}

// outcome sets how a call ended, if its status is final.
func (d *assembler) outcome(f *members.Object, kind, status, decision string, r *session.ToolResult) {
	switch status {
	case "completed", "success", "done":
		r.Status = "success"
	case "error", "failed":
		r.Status, r.Error = "error", true
	case "cancelled", "aborted":
		r.Status, r.Error = "cancelled", true
	case "", "loading", "started", "pending", "generating":
		if len(r.Value) > 2 {
			r.Status = "success"
		}
		if status != "" {
			f.Keep(toolStatus)
		}
	default:
		r.Status = status
	}
	if decision == "rejected" || string(rawjson.Last(r.Value, "rejected")) == "true" {
		r.Status, r.Error = "rejected", true
	}
	if decision != "" && decision != "rejected" {
		f.Keep(toolDecision)
	}
	if kind == "shell" && r.Status == "success" {
		for _, name := range [...]string{"exitCodeV2", "exitCode"} {
			if code, ok := members.Whole(rawjson.Last(r.Value, name)); ok {
				if code != 0 {
					r.Status, r.Error = "failure", true
				}
				break
			}
		}
	}
	if raw := f.Full(toolError); raw != nil {
		r.Error = true
		r.Status = cmp.Or(r.Status, "error")
		if text := errorText(raw); text != "" {
			r.Content = append(r.Content, &session.Text{Text: text})
		}
		f.Keep(toolError)
	}
}

// errorText returns what the model was told of an error: JSON in a string, text, or an
// object.
func errorText(raw []byte) string {
	doc := lists.EmbeddedJSON(raw)
	for _, name := range [...]string{"modelVisibleErrorMessage", "clientVisibleErrorMessage", "message", "error", "errorMessage"} {
		if text := rawjson.TextAt(doc, name); text != "" {
			return text
		}
	}
	return rawjson.Text(doc)
}

// contents takes the ids of the content of an edited file.
func (t *tool) contents(c *session.ToolCall, value []byte) {
	if c.Kind != "edit" {
		return
	}
	t.before = strings.TrimPrefix(rawjson.TextAt(value, "beforeContentId"), lists.ContentRow)
	t.after = strings.TrimPrefix(rawjson.TextAt(value, "afterContentId"), lists.ContentRow)
	for _, args := range [...][]byte{c.Args, c.Input} {
		for _, name := range [...]string{"relativeWorkspacePath", "path", "target_file", "file_path"} {
			if t.path == "" {
				t.path = rawjson.TextAt(args, name)
			}
		}
	}
}

// child returns the subagent that a call started.
func (d *assembler) child(c *session.ToolCall, more, value []byte) string {
	for _, at := range [...][]byte{more, value} {
		for _, name := range [...]string{"subagentComposerId", "composerId", "agentId"} {
			if id := rawjson.TextAt(at, name); id != "" && d.chat.known(id) {
				return id
			}
		}
	}
	if id := lists.TaskPrefix + c.ID; d.chat.known(id) {
		return id
	}
	return d.chat.started[c.ID]
}

func startOf(more []byte) session.Stamp {
	s, _ := lists.Moment(rawjson.Last(more, "startedAtMs"))
	return s
}

var oldToolNames = sync.OnceValue(func() *members.Table {
	return members.NewTable([]string{
		toolNumber: "tool", toolIndex: "toolIndex", toolCallID: "toolCallId", toolModelCall: "modelCallId", toolName: "toolName",
		toolRawArgs: "rawArgs", toolParams: "args", toolResult: "result", toolStatus: "status",
		toolDecision: "userDecision", toolError: "error", toolMore: "toolCall", toolBinary: "content",
	}, "attachedCodeChunks", "images")
})

// oldTools adds the calls of a bubble of 2025, which holds all of a response in one
// list.
func (d *assembler) oldTools(tools []tool, b *bubble) []tool {
	list := b.f.Full(bubToolResults)
	if list == nil || list[0] != '[' {
		return tools
	}
	b.f.Drop(bubToolResults)
	n := 0
	for raw := range rawjson.Elements(list) {
		f := &d.inner
		if !f.SplitBy(raw, "toolResults.", oldToolNames()) {
			d.loose = append(d.loose, session.Extra{Name: "toolResults", Raw: bytes.Clone(raw)})
			continue
		}
		n++
		number, _ := f.Whole(toolNumber)
		if inner := f.Raw(toolResult); number == 0 {
			number, _ = members.Whole(rawjson.Last(inner, "tool"))
		}
		c := &session.ToolCall{ID: f.Text(toolCallID), Name: f.Text(toolName)}
		c.Kind, c.Input, c.Args = kindOf(number, c.Name), own(lists.EmbeddedJSON(f.Raw(toolRawArgs))), own(lists.EmbeddedJSON(f.Raw(toolParams)))
		c.Name = cmp.Or(c.Name, c.Kind, NoName)
		c.ID = cmp.Or(c.ID, fmt.Sprintf("%s-call-%d", b.id, n))
		r := &session.ToolResult{Value: own(lists.EmbeddedJSON(f.Raw(toolResult)))}
		if text := f.Text(toolBinary); text != "" {
			r.Content = append(r.Content, &session.Text{Text: text})
		}
		d.outcome(f, c.Kind, f.Text(toolStatus), f.Text(toolDecision), r)
		r.Status = cmp.Or(r.Status, "success")
		f.KeepFull(toolMore, toolIndex)
		t := tool{call: c, result: r, response: f.Text(toolModelCall)}
		c.Extras = f.Settle(&d.tally)
		tools = append(tools, t)
	}
	return tools
}

// own returns a copy, which does not keep the bubble in memory.
func own(r session.Raw) session.Raw { return bytes.Clone(r) }
