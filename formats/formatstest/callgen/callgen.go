// Package callgen makes arguments of tool calls, and says whether they are in another call.
package callgen

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"rehome/formats/internal/toolmap"
)

// arguments are names that models and clients were seen to use, of any tool.
var arguments = []string{"command", "cmd", "workdir", "working_directory", "workingDirectory", "timeout", "block_until_ms", "is_background", "description", "explanation", "required_permissions",
	"path", "file_path", "target_file", "relativeWorkspacePath", "offset", "limit", "start_line_one_indexed", "end_line_one_indexed_inclusive", "should_read_entire_file", "pattern", "query", "regex",
	"glob", "include_pattern", "exclude_pattern", "glob_pattern", "target_directory", "output_mode", "-i", "-A", "-B", "-C", "context", "case_sensitive", "caseInsensitive", "type", "head_limit", "multiline", "sort",
	"contents", "content", "overwrite", "old_string", "new_string", "replace_all", "allow_multiple", "edits", "code_edit", "instructions", "streamContent", "todos", "merge", "questions", "title", "plan", "overview", "name",
	"prompt", "subagent_type", "model", "resume", "readonly", "url", "search_term", "searchTerm", "server", "toolName", "arguments", "args", "q", "ignore", "ignore_globs", "shell_id", "wörds \"x\"", ""}

// Maker makes arguments in which each leaf is like no other.
type Maker struct {
	*rand.Rand
	n int
}

func (m *Maker) text() string {
	m.n++
	return fmt.Sprintf("tk%dx \"é\"", m.n)
}

// Value makes a value of any type.
func (m *Maker) Value(depth int) any {
	switch k := m.IntN(12); {
	case k < 6 || depth > 2:
		return m.text()
	case k < 8:
		m.n++
		return 70000 + m.n
	case k < 9:
		return m.IntN(2) == 0
	case k < 10:
		return nil
	case k < 11:
		out := []any{}
		for range m.IntN(3) {
			out = append(out, m.Value(depth+1))
		}
		return out
	}
	out := map[string]any{}
	for range m.IntN(3) {
		out[arguments[m.IntN(len(arguments))]] = m.Value(depth + 1)
	}
	return out
}

// fitting is a value that the argument can have.
func (m *Maker) fitting(name string) any {
	m.n++
	switch name {
	case "timeout", "offset", "limit", "head_limit", "-A", "-B", "-C", "context", "start_line_one_indexed":
		return 70000 + m.n
	case "end_line_one_indexed_inclusive":
		return 170000 + m.n
	case "is_background", "-i", "case_sensitive", "multiline", "replace_all", "should_read_entire_file", "merge", "readonly":
		return m.IntN(2) == 0
	case "todos":
		return []any{map[string]any{"id": m.text(), "content": m.text(), "status": []string{"pending", "in_progress", "TO" + "DO_STATUS_COMPLETED", "cancelled"}[m.IntN(4)], "more": m.Value(1)}, m.odd(map[string]any{"title": m.text()})}
	case "questions":
		return []any{map[string]any{"prompt": m.text(), "options": []any{map[string]any{"id": m.text(), "label": m.text(), "more": m.Value(1)}, m.odd(m.text())}, "multiSelect": m.IntN(2) == 0, "why": m.Value(1)}}
	case "edits":
		return []any{map[string]any{"old_string": m.text(), "new_string": m.text()}, m.odd(map[string]any{"old_string": m.text(), "new_string": m.text(), "replace_all": true})}
	case "arguments", "args":
		return m.odd(map[string]any{"q": m.text(), "n": 70000 + m.n})
	}
	return m.text()
}

// odd is sometimes something else.
func (m *Maker) odd(v any) any {
	if m.IntN(5) == 0 {
		return m.Value(1)
	}
	return v
}

// Arguments makes arguments that a call of the kind can have, and others.
func (m *Maker) Arguments(kind string) map[string]any {
	out := map[string]any{}
	for _, a := range toolmap.Arguments(kind) {
		if a.Must || m.IntN(2) == 0 {
			name := a.Names[m.IntN(len(a.Names))]
			out[name] = m.odd(m.fitting(name))
		}
	}
	if kind == "edit" && m.IntN(3) > 0 {
		out["old_string"], out["new_string"] = m.fitting("old_string"), m.fitting("new_string")
	}
	for range m.IntN(5) {
		name := arguments[m.IntN(len(arguments))]
		out[name] = m.odd(m.fitting(name))
	}
	return out
}

// Leaves appends the texts, numbers and booleans of a value. A boolean is told by its name.
func Leaves(path string, v any, out *[]string) {
	switch v := v.(type) {
	case map[string]any:
		for name, in := range v {
			Leaves(name, in, out)
		}
	case []any:
		for _, in := range v {
			Leaves(path, in, out)
		}
	case bool:
		*out = append(*out, fmt.Sprintf("%s is %v", path, v))
	case nil:
	default:
		*out = append(*out, fmt.Sprint(v))
	}
}

// Parsed is a JSON value.
func Parsed(t *testing.T, b []byte) (v any) {
	t.Helper()
	d := json.NewDecoder(strings.NewReader(string(b)))
	d.UseNumber()
	if err := d.Decode(&v); err != nil {
		t.Fatalf("%v: %s", err, b)
	}
	return v
}

// Calls lists the kinds of tools with each name that models have for one.
func Calls() (out [][2]string) {
	for _, kind := range append(toolmap.Kinds(), "") {
		out = append(out, [2]string{kind, kind + "Own"})
		for _, name := range toolmap.Names(kind) {
			out = append(out, [2]string{kind, name})
		}
	}
	return out
}

// alike reports whether an argument of some kind has both names.
func alike(a, b string) bool {
	if a == "replaceAll" && b == "replace_all" || (a == "multiSelect" || a == "allowMultiple" || a == "allow_multiple") && (b == "multiSelect" || b == "allow_multiple") {
		return true
	}
	return slices.ContainsFunc(toolmap.Kinds(), func(kind string) bool {
		return slices.Contains(toolmap.ArgumentNames(kind, a), b) || toolmap.Snake(a) == b
	})
}

// Arrives reports whether a leaf of an argument is in a call.
func Arrives(leaf, name string, call []string) bool {
	path, is, flag := strings.Cut(leaf, " is ")
	if slices.ContainsFunc(call, func(has string) bool {
		to, so, _ := strings.Cut(has, " is ")
		return strings.Contains(has, leaf) && leaf != "" || has == leaf || flag && is == so && alike(path, to)
	}) {
		return true
	}
	switch name {
	case "case_sensitive", "caseSensitive":
		return slices.Contains(call, "-i is "+map[string]string{"true": "false", "false": "true"}[is])
	case "should_read_entire_file":
		return true // the range says it, or that there is none
	case "todos", "plan":
		return strings.HasPrefix(leaf, "TO"+"DO_STATUS_") && slices.Contains(call, strings.ToLower(strings.TrimPrefix(leaf, "TO"+"DO_STATUS_")))
	}
	return leaf == ""
}
