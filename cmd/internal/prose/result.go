package prose

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"rehome/cmd/internal/screen"
	"rehome/formats/session"
)

// Results are interpreted by the names of their members, not by the kind of tool,
// because unknown tools usually use known names.

// resultBody returns the inner value of a result, which clients wrap in an
// object named after the outcome.
func resultBody(r *session.ToolResult) json.RawMessage {
	top := members(json.RawMessage(r.Value))
	if inner := top[r.Status]; inner != nil && inner[0] == '{' {
		return inner
	}
	if status, ok := stringValue(top["status"]); ok && status == r.Status && top["value"] != nil {
		return top["value"]
	}
	return json.RawMessage(r.Value)
}

// editDiff returns the diff of a file edit: what the model asked for, or the one in the result
// if that says the same and more. It returns nil if there was no edit.
func editDiff(body, args map[string]json.RawMessage, asked session.Raw, failed bool) []string {
	var kept []string
	for _, name := range []string{"diffString", "patch", "diff"} {
		if s, ok := stringValue(body[name]); ok && s != "" {
			kept = diffLines(s)
			break
		}
	}
	if failed && (kept == nil || !repeats(kept, args, asked)) {
		return nil
	}
	pair := func(from map[string]json.RawMessage, old, fresh string) []string {
		a, hadOld := stringValue(from[old])
		b, ok := stringValue(from[fresh])
		if !ok && !hadOld {
			return nil
		}
		return unified(strings.ReplaceAll(a, "\r\n", "\n"), strings.ReplaceAll(b, "\r\n", "\n"))
	}
	if kept == nil {
		kept = pair(body, "beforeFullFileContent", "afterFullFileContent")
	}
	if kept == nil && body["deletedFile"] != nil {
		kept = pair(body, "prevContent", "")
	}
	if kept != nil && repeats(kept, args, asked) {
		return kept
	}
	for _, names := range [][2]string{{"old_string", "new_string"}, {"oldText", "newText"}, {"old_str", "new_str"}} {
		if args[names[1]] == nil {
			continue
		}
		if d := pair(args, names[0], names[1]); d != nil {
			return d
		}
	}
	return nil
}

// changeArgs are the arguments in which a model writes a change itself.
var changeArgs = [...]string{"old_string", "new_string", "oldText", "newText", "old_str", "new_str", "edits", "content", "contents", "fileText", "file_text", "patch", "input"}

// repeats reports whether the model wrote each line that a diff adds, or did not write the change
// itself.
func repeats(diff []string, args map[string]json.RawMessage, asked session.Raw) bool {
	if len(asked) == 0 || args != nil && !slices.ContainsFunc(changeArgs[:], func(name string) bool { return args[name] != nil }) {
		return true
	}
	var said strings.Builder
	for s := range session.Strings(asked) {
		said.WriteString(s)
		said.WriteByte('\n')
	}
	whole := strings.ReplaceAll(said.String(), "\r\n", "\n")
	return !slices.ContainsFunc(diff, func(l string) bool {
		return strings.HasPrefix(l, "+") && !strings.HasPrefix(l, "+++ ") && !strings.Contains(whole, strings.TrimSpace(l[1:]))
	})
}

// resultText returns the text of a result, or "" if no known member has any.
func resultText(body map[string]json.RawMessage) string {
	for _, name := range []string{"interleavedOutput", "output", "markdown", "text", "content", "errorMessage", "clientVisibleError", "error", "reason", "attributionText", "transcript", "summary"} {
		if s, ok := stringValue(body[name]); ok && strings.TrimSpace(s) != "" {
			return s
		}
	}
	var out []string
	for _, name := range []string{"stdout", "stderr"} {
		if s, _ := stringValue(body[name]); strings.TrimSpace(s) != "" {
			out = append(out, strings.TrimRight(s, "\n"))
		}
	}
	if out == nil {
		out = listResults(body)
	}
	return strings.Join(out, "\n")
}

// listResults returns the lines of results that are lists.
func listResults(body map[string]json.RawMessage) []string {
	var out []string
	for _, t := range elements(body["todos"]) {
		m := members(t)
		content, _ := stringValue(m["content"])
		status, _ := stringValue(m["status"])
		out = append(out, string(Checkbox(status)+" "+oneLine(content)))
	}
	for _, f := range elements(body["files"]) {
		if s, ok := stringValue(f); ok {
			out = append(out, s)
		}
	}
	for _, c := range elements(body["content"]) { // of an MCP server
		m := members(c)
		s, ok := stringValue(m["text"])
		if !ok {
			s, ok = stringValue(members(m["text"])["text"])
		}
		if ok {
			out = append(out, s)
		} else if m["image"] != nil {
			out = append(out, "[image]")
		}
	}
	for _, c := range elements(body["conversationSteps"]) { // of a subagent
		if s, ok := stringValue(members(members(c)["assistantMessage"])["text"]); ok {
			out = append(out, s)
		}
	}
	for _, r := range elements(body["references"]) {
		m := members(r)
		title, _ := stringValue(m["title"])
		url, _ := stringValue(m["url"])
		out = append(out, strings.TrimSpace(title+"  "+url))
	}
	if raw := body["workspaceResults"]; raw != nil {
		for _, root := range names(raw) {
			out = append(out, searchLines(members(members(raw)[root]))...)
		}
	}
	if raw := body["directoryTreeRoot"]; raw != nil {
		out = append(out, tree(members(raw), "", 0)...)
	}
	return out
}

// Checkbox returns the box before a todo.
func Checkbox(status string) screen.Safe {
	switch strings.TrimPrefix(strings.ToLower(status), "todo_status_") {
	case "completed", "complete", "done":
		return "[x]"
	case "in_progress":
		return "[>]"
	case "cancelled", "canceled":
		return "[-]"
	}
	return "[ ]"
}

// searchLines returns the matches of a search as grep prints them.
func searchLines(root map[string]json.RawMessage) []string {
	var out []string
	for _, f := range elements(members(root["files"])["files"]) {
		if s, ok := stringValue(f); ok {
			out = append(out, s)
		}
	}
	for _, f := range elements(members(root["content"])["matches"]) {
		m := members(f)
		file, _ := stringValue(m["file"])
		for _, l := range elements(m["matches"]) {
			line := members(l)
			n, _ := intValue(line["lineNumber"])
			text, _ := stringValue(line["content"])
			mark := ":"
			if string(line["isContextLine"]) == "true" {
				mark = "-"
			}
			out = append(out, fmt.Sprintf("%s%s%d%s%s", file, mark, n, mark, oneLine(text)))
		}
	}
	for _, c := range elements(members(root["count"])["counts"]) {
		m := members(c)
		file, _ := stringValue(m["file"])
		n, _ := intValue(m["count"])
		out = append(out, fmt.Sprintf("%s:%d", file, n))
	}
	return out
}

// maxTreeDepth limits the depth of directory listings.
const maxTreeDepth = 16

// tree returns the lines of a directory listing, indented.
func tree(dir map[string]json.RawMessage, indent string, depth int) []string {
	var out []string
	if depth > maxTreeDepth {
		return out
	}
	if depth == 0 {
		if s, _ := stringValue(dir["absPath"]); s != "" {
			out = append(out, s)
		}
		indent = "  "
	}
	for _, d := range elements(dir["childrenDirs"]) {
		m := members(d)
		s, _ := stringValue(m["absPath"])
		out = append(out, indent+s[strings.LastIndexAny(s, `/\`)+1:]+"/")
		out = append(out, tree(m, indent+"  ", depth+1)...)
	}
	for _, f := range elements(dir["childrenFiles"]) {
		s, _ := stringValue(members(f)["name"])
		out = append(out, indent+s)
	}
	return out
}

// otherResult returns a result without known members as indented JSON, or "" if
// it is empty.
func otherResult(raw json.RawMessage) string {
	if m := members(raw); m != nil && len(m) == 0 {
		return ""
	}
	if s, ok := stringValue(raw); ok {
		return s
	}
	return pretty(raw)
}

// pretty returns indented JSON.
func pretty(raw []byte) string {
	var b bytes.Buffer
	if json.Indent(&b, raw, "", "  ") != nil {
		return string(raw)
	}
	return b.String()
}

func compact(raw []byte) string {
	var b bytes.Buffer
	if json.Compact(&b, raw) != nil {
		return string(raw)
	}
	return b.String()
}

func members(raw []byte) map[string]json.RawMessage {
	var m map[string]json.RawMessage
	if len(raw) == 0 || json.Unmarshal(raw, &m) != nil {
		return nil
	}
	return m
}

// names returns the member names of an object in order, each once.
func names(raw []byte) []string {
	var out []string
	seen := map[string]bool{}
	dec := json.NewDecoder(bytes.NewReader(raw))
	if t, err := dec.Token(); err != nil || t != json.Delim('{') {
		return nil
	}
	for dec.More() {
		t, err := dec.Token()
		name, ok := t.(string)
		var skip json.RawMessage
		if err != nil || !ok || dec.Decode(&skip) != nil {
			return out
		}
		if !seen[name] {
			seen[name] = true
			out = append(out, name)
		}
	}
	return out
}

func elements(raw []byte) []json.RawMessage {
	var list []json.RawMessage
	if len(raw) == 0 || raw[0] != '[' || json.Unmarshal(raw, &list) != nil {
		return nil
	}
	return list
}

// stringValue returns a JSON string.
func stringValue(raw []byte) (string, bool) {
	var s string
	if len(raw) == 0 || raw[0] != '"' || json.Unmarshal(raw, &s) != nil {
		return "", false
	}
	return s, true
}

// intValue returns a JSON integer. Clients spell large ones as strings, so
// these are accepted too.
func intValue(raw []byte) (int64, bool) {
	if s, ok := stringValue(raw); ok {
		raw = []byte(s)
	}
	var n int64
	if len(raw) == 0 || json.Unmarshal(raw, &n) != nil {
		return 0, false
	}
	return n, true
}

// oneLine returns a text without trailing line ends.
func oneLine(s string) screen.Safe {
	return screen.Visible(strings.TrimRight(s, "\r\n"))
}
