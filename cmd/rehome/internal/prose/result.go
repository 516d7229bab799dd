package prose

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"

	"rehome/cmd/rehome/internal/screen"
	"rehome/formats/session"
)

// Results are read by the names of their members, not by the kind of tool: a
// kind that is not known yet mostly says what it has to say under known names.

// unwrapped is the inside of a result: clients put it under the name of what
// came of the call.
func unwrapped(r *session.ToolResult) json.RawMessage {
	top := members(json.RawMessage(r.Value))
	if inner := top[r.Status]; inner != nil && inner[0] == '{' {
		return inner
	}
	if status, ok := plain(top["status"]); ok && status == r.Status && top["value"] != nil {
		return top["value"]
	}
	return json.RawMessage(r.Value)
}

// edited is a change of a file as a diff: as the tool says, or worked out from
// what was there before and after. nil if there was none.
func edited(body, args map[string]json.RawMessage, failed bool) []string {
	for _, name := range []string{"diffString", "patch", "diff"} {
		if s, ok := plain(body[name]); ok && s != "" {
			return shownDiff(s)
		}
	}
	if failed {
		return nil
	}
	pair := func(from map[string]json.RawMessage, old, fresh string) []string {
		a, hadOld := plain(from[old])
		b, ok := plain(from[fresh])
		if !ok && !hadOld {
			return nil
		}
		return unified(strings.ReplaceAll(a, "\r\n", "\n"), strings.ReplaceAll(b, "\r\n", "\n"))
	}
	if d := pair(body, "beforeFullFileContent", "afterFullFileContent"); d != nil {
		return d
	}
	if d := pair(body, "prevContent", ""); body["deletedFile"] != nil && d != nil {
		return d
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

// came is what a result says, "" if it does not under any known name.
func came(body map[string]json.RawMessage) string {
	for _, name := range []string{"interleavedOutput", "output", "markdown", "text", "content", "errorMessage", "clientVisibleError", "error", "reason", "attributionText", "transcript", "summary"} {
		if s, ok := plain(body[name]); ok && strings.TrimSpace(s) != "" {
			return s
		}
	}
	var out []string
	for _, name := range []string{"stdout", "stderr"} {
		if s, _ := plain(body[name]); strings.TrimSpace(s) != "" {
			out = append(out, strings.TrimRight(s, "\n"))
		}
	}
	if out == nil {
		out = lists(body)
	}
	return strings.Join(out, "\n")
}

// lists are the results that are lists of something.
func lists(body map[string]json.RawMessage) []string {
	var out []string
	for _, t := range elements(body["todos"]) {
		m := members(t)
		content, _ := plain(m["content"])
		status, _ := plain(m["status"])
		out = append(out, string(check(status)+" "+oneLine(content)))
	}
	for _, f := range elements(body["files"]) {
		if s, ok := plain(f); ok {
			out = append(out, s)
		}
	}
	for _, c := range elements(body["content"]) { // of an MCP server
		m := members(c)
		s, ok := plain(m["text"])
		if !ok {
			s, ok = plain(members(m["text"])["text"])
		}
		if ok {
			out = append(out, s)
		} else if m["image"] != nil {
			out = append(out, "[image]")
		}
	}
	for _, c := range elements(body["conversationSteps"]) { // of a subagent
		if s, ok := plain(members(members(c)["assistantMessage"])["text"]); ok {
			out = append(out, s)
		}
	}
	for _, r := range elements(body["references"]) {
		m := members(r)
		title, _ := plain(m["title"])
		url, _ := plain(m["url"])
		out = append(out, strings.TrimSpace(title+"  "+url))
	}
	if raw := body["workspaceResults"]; raw != nil {
		for _, root := range names(raw) {
			out = append(out, found(members(members(raw)[root]))...)
		}
	}
	if raw := body["directoryTreeRoot"]; raw != nil {
		out = append(out, tree(members(raw), "", 0)...)
	}
	return out
}

// check is the box in front of an entry of a list.
func check(status string) screen.Safe {
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

// found are the lines of a search, as grep prints them.
func found(root map[string]json.RawMessage) []string {
	var out []string
	for _, f := range elements(members(root["files"])["files"]) {
		if s, ok := plain(f); ok {
			out = append(out, s)
		}
	}
	for _, f := range elements(members(root["content"])["matches"]) {
		m := members(f)
		file, _ := plain(m["file"])
		for _, l := range elements(m["matches"]) {
			line := members(l)
			n, _ := whole(line["lineNumber"])
			text, _ := plain(line["content"])
			mark := ":"
			if string(line["isContextLine"]) == "true" {
				mark = "-"
			}
			out = append(out, fmt.Sprintf("%s%s%d%s%s", file, mark, n, mark, oneLine(text)))
		}
	}
	for _, c := range elements(members(root["count"])["counts"]) {
		m := members(c)
		file, _ := plain(m["file"])
		n, _ := whole(m["count"])
		out = append(out, fmt.Sprintf("%s:%d", file, n))
	}
	return out
}

// mostTree is how deep a listing of folders is followed.
const mostTree = 16

// tree is a listing of folders, indented.
func tree(dir map[string]json.RawMessage, indent string, depth int) []string {
	var out []string
	if depth > mostTree {
		return out
	}
	if depth == 0 {
		if s, _ := plain(dir["absPath"]); s != "" {
			out = append(out, s)
		}
		indent = "  "
	}
	for _, d := range elements(dir["childrenDirs"]) {
		m := members(d)
		s, _ := plain(m["absPath"])
		out = append(out, indent+s[strings.LastIndexAny(s, `/\`)+1:]+"/")
		out = append(out, tree(m, indent+"  ", depth+1)...)
	}
	for _, f := range elements(dir["childrenFiles"]) {
		s, _ := plain(members(f)["name"])
		out = append(out, indent+s)
	}
	return out
}

// rest is a result without a member of a known name: all of it,
// "" if that is nothing.
func rest(raw json.RawMessage) string {
	if m := members(raw); m != nil && len(m) == 0 {
		return ""
	}
	if s, ok := plain(raw); ok {
		return s
	}
	return pretty(raw)
}

// pretty is JSON over several lines.
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

// names are the members of an object, in their order, each once.
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

// plain is a text.
func plain(raw []byte) (string, bool) {
	var s string
	if len(raw) == 0 || raw[0] != '"' || json.Unmarshal(raw, &s) != nil {
		return "", false
	}
	return s, true
}

// whole is a number without a fraction, also where it is spelled as a text,
// which is how clients spell the long ones.
func whole(raw []byte) (int64, bool) {
	if s, ok := plain(raw); ok {
		raw = []byte(s)
	}
	var n int64
	if len(raw) == 0 || json.Unmarshal(raw, &n) != nil {
		return 0, false
	}
	return n, true
}

// oneLine is a text without line ends.
func oneLine(s string) screen.Safe {
	return screen.Visible(strings.TrimRight(s, "\r\n"))
}
