package cursoride

import (
	"bytes"
	"cmp"
	"fmt"
	"strings"
	"sync"

	"rehome/formats/internal/rawjson"
	"rehome/formats/internal/toolmap"
	"rehome/formats/session"
)

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

var toolNames = sync.OnceValue(func() *table {
	return newTable([]string{
		toolNumber: "tool", toolIndex: "toolIndex", toolCallID: "toolCallId", toolModelCall: "modelCallId", toolName: "name",
		toolRawArgs: "rawArgs", toolParams: "params", toolResult: "result", toolStatus: "status",
		toolDecision: "userDecision", toolError: "error", toolMore: "additionalData", toolBinary: "toolCallBinary",
	}, "attachedCodeChunks", "images")
})

// toolKinds are the kinds of the client's own tools by their number. Names are
// aliases that change from prompt to prompt.
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

// kindOf is the kind of a tool, by its number if that is known.
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

// tool is a call and what came of it, both from one bubble.
type tool struct {
	call     *session.ToolCall
	result   *session.ToolResult // nil while there is none
	response string              // the model's response that it is part of
	before   string              // ids of a file's content
	after    string
	path     string
}

// tool reads a tool's record. Rows of tools that never began hold nothing but a
// status.
func (d *desk) tool(raw []byte, bubble string) tool {
	f := &d.inner
	f.split(raw, "toolFormerData.", toolNames())
	number, _ := f.whole(toolNumber)
	c := &session.ToolCall{ID: f.text(toolCallID), Name: f.text(toolName)}
	t := tool{call: c, response: f.text(toolModelCall)}
	c.Kind = kindOf(number, c.Name)
	c.Input, c.Args = spelled(f.raw(toolRawArgs)), spelled(f.raw(toolParams)) // views: the bubble stays as long
	if c.Name == "" {
		c.Name = cmp.Or(c.Kind, "unknown")
	}
	if c.ID == "" {
		c.ID = bubble
	}
	value := spelled(f.raw(toolResult))
	t.contents(c, value)
	r := &session.ToolResult{Value: value}
	status, decision := f.text(toolStatus), f.text(toolDecision)
	if status == "" && rawjson.Text(rawjson.Last(f.raw(toolMore), "status")) == "error" {
		status = "error"
	}
	d.outcome(f, c.Kind, status, decision, r)
	if r.Status != "" || len(value) > 0 || len(r.Content) > 0 {
		t.result = r
	}
	more := f.raw(toolMore)
	c.Child = d.child(c, more, value)
	c.Start = startOf(more)
	f.keepFull(toolMore, toolBinary)
	f.found[toolIndex] = nil
	c.Extras = f.settle(&d.tally)
	return t
}

// outcome says how a call ended. Of its states only some are an end.
func (d *desk) outcome(f *fields, kind, status, decision string, r *session.ToolResult) {
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
			f.keep(toolStatus)
		}
	default:
		r.Status = status
	}
	if decision == "rejected" || string(rawjson.Last(r.Value, "rejected")) == "true" {
		r.Status, r.Error = "rejected", true
	}
	if decision != "" && decision != "rejected" {
		f.keep(toolDecision)
	}
	if kind == "shell" && r.Status == "success" {
		for _, name := range [...]string{"exitCodeV2", "exitCode"} {
			if code, ok := whole(rawjson.Last(r.Value, name)); ok {
				if code != 0 {
					r.Status, r.Error = "failure", true
				}
				break
			}
		}
	}
	if raw := f.full(toolError); raw != nil {
		r.Error = true
		r.Status = cmp.Or(r.Status, "error")
		if text := errorText(raw); text != "" {
			r.Content = append(r.Content, &session.Text{Text: text})
		}
		f.keep(toolError)
	}
}

// errorText is what the model was told of an error: JSON in a string, text, or
// an object.
func errorText(raw []byte) string {
	doc := spelled(raw)
	for _, name := range [...]string{"modelVisibleErrorMessage", "clientVisibleErrorMessage", "message", "error", "errorMessage"} {
		if text := rawjson.Text(rawjson.Last(doc, name)); text != "" {
			return text
		}
	}
	return rawjson.Text(doc)
}

// spelled is a value that is JSON in a string in most rows, and JSON in a few.
// What is cut short, or never was JSON, stays the string it is.
func spelled(raw []byte) session.Raw {
	if len(raw) == 0 || string(raw) == `""` {
		return nil
	}
	if raw[0] != '"' {
		return session.Raw(raw)
	}
	if inner := []byte(rawjson.Text(raw)); opens(inner) {
		if doc, repaired, err := rawjson.Line(inner); err == nil && !repaired {
			return session.Raw(doc)
		}
	}
	return session.Raw(raw)
}

// opens reports whether a text begins as an object or array does.
func opens(b []byte) bool {
	for _, c := range b {
		switch c {
		case ' ', '\t', '\n', '\r':
		default:
			return c == '{' || c == '['
		}
	}
	return false
}

// contents takes the ids of what an edited file held.
func (t *tool) contents(c *session.ToolCall, value []byte) {
	if c.Kind != "edit" {
		return
	}
	t.before = strings.TrimPrefix(rawjson.Text(rawjson.Last(value, "beforeContentId")), contentRow)
	t.after = strings.TrimPrefix(rawjson.Text(rawjson.Last(value, "afterContentId")), contentRow)
	for _, args := range [...][]byte{c.Args, c.Input} {
		for _, name := range [...]string{"relativeWorkspacePath", "path", "target_file", "file_path"} {
			if t.path == "" {
				t.path = rawjson.Text(rawjson.Last(args, name))
			}
		}
	}
}

// child is the subagent that a call started.
func (d *desk) child(c *session.ToolCall, more, value []byte) string {
	for _, at := range [...][]byte{more, value} {
		for _, name := range [...]string{"subagentComposerId", "composerId", "agentId"} {
			if id := rawjson.Text(rawjson.Last(at, name)); id != "" && d.chat.known(id) {
				return id
			}
		}
	}
	if id := taskPrefix + c.ID; d.chat.known(id) {
		return id
	}
	return d.chat.started[c.ID]
}

func startOf(more []byte) session.Stamp {
	s, _ := moment(rawjson.Last(more, "startedAtMs"))
	return s
}

var oldToolNames = sync.OnceValue(func() *table {
	return newTable([]string{
		toolNumber: "tool", toolIndex: "toolIndex", toolCallID: "toolCallId", toolModelCall: "modelCallId", toolName: "toolName",
		toolRawArgs: "rawArgs", toolParams: "args", toolResult: "result", toolStatus: "status",
		toolDecision: "userDecision", toolError: "error", toolMore: "toolCall", toolBinary: "content",
	}, "attachedCodeChunks", "images")
})

// oldTools adds the calls of a bubble of 2025, which has all of a response in
// one list.
func (d *desk) oldTools(tools []tool, b *bubble) []tool {
	list := b.f.full(bubToolResults)
	if list == nil || list[0] != '[' {
		return tools
	}
	b.f.found[bubToolResults] = nil
	n := 0
	for raw := range rawjson.Elements(list) {
		f := &d.inner
		if !f.split(raw, "toolResults.", oldToolNames()) {
			d.loose = append(d.loose, session.Extra{Name: "toolResults", Raw: bytes.Clone(raw)})
			continue
		}
		n++
		number, _ := f.whole(toolNumber)
		if inner := f.raw(toolResult); number == 0 {
			number, _ = whole(rawjson.Last(inner, "tool"))
		}
		c := &session.ToolCall{ID: f.text(toolCallID), Name: f.text(toolName)}
		c.Kind, c.Input, c.Args = kindOf(number, c.Name), own(spelled(f.raw(toolRawArgs))), own(spelled(f.raw(toolParams)))
		c.Name = cmp.Or(c.Name, c.Kind, "unknown")
		c.ID = cmp.Or(c.ID, fmt.Sprintf("%s-call-%d", b.id, n))
		r := &session.ToolResult{Value: own(spelled(f.raw(toolResult)))}
		if text := f.text(toolBinary); text != "" {
			r.Content = append(r.Content, &session.Text{Text: text})
		}
		d.outcome(f, c.Kind, f.text(toolStatus), f.text(toolDecision), r)
		r.Status = cmp.Or(r.Status, "success")
		f.keepFull(toolMore, toolIndex)
		t := tool{call: c, result: r, response: f.text(toolModelCall)}
		c.Extras = f.settle(&d.tally)
		tools = append(tools, t)
	}
	return tools
}

// own is a copy: views of a bubble are gone with it.
func own(r session.Raw) session.Raw { return bytes.Clone(r) }
