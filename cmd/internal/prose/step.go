package prose

import (
	"encoding/json"
	"path"
	"slices"
	"strconv"
	"strings"
	"time"

	"rehome/cmd/internal/screen"
	"rehome/formats/session"
)

// Step is a tool call and its result, prepared for rendering. Its strings are foreign text.
type Step struct {
	Name     string
	Subject  string // main argument, in one line
	Outcome  string // "" on success
	Failed   bool
	Extras   []screen.Safe    // +3 -1, 2.3 s
	Args     []Arg            // all arguments, with Full
	Body     []string         // lines of the result
	recorded []string         // another result, which the model did not receive
	omitted  int              // number of lines left out of body
	Diff     bool             // body is a diff
	Media    []*session.Media // in the result
	Child    string           // id of the session that the call started
	External bool             // child is not in the source
}

// Arg is one argument of a call. A text of several lines is printed below its name.
type Arg struct {
	Name  string
	Lines []string
}

// briefLines and briefDiff limit the lines of results and diffs with Brief.
const (
	briefLines = 10
	briefDiff  = 40
)

// newStep returns the step for a call and its result. r is nil if there is no result.
func newStep(c *session.ToolCall, r *session.ToolResult, workspace string, o Options) *Step {
	st := &Step{Name: c.Name, Child: c.Child}
	if c.Kind != "" && c.Kind != "mcp" && !strings.HasPrefix(c.Kind, "tool-") {
		st.Name = c.Kind
	}
	asked := asked(c)
	args := members(asked)
	st.Subject = subject(args, workspace)
	if r != nil {
		st.result(r, asked, args)
	}
	if o.Tools == Full {
		st.Args = argList(asked, args)
		if st.Diff {
			st.Args = slices.DeleteFunc(st.Args, func(a Arg) bool { return slices.Contains(diffArgs[:], a.Name) })
		}
	}
	if r != nil && (o.Tools == Full || o.Digests && o.All) {
		st.addContent(r)
	}
	st.addRecorded(o.Tools)
	st.addDuration(c, r)
	st.shorten(o)
	return st
}

// asked returns the arguments of a call as the model wrote them; those that the tool ran with if
// they are all that is known, or are whole where the others break off.
func asked(c *session.ToolCall) session.Raw {
	if text, torn := stringValue(json.RawMessage(c.Input)); len(c.Args) > 0 && (len(c.Input) == 0 || torn && strings.HasPrefix(text, "{")) {
		return c.Args
	}
	return c.Input
}

// diffArgs are the arguments that a step with a diff already shows.
var diffArgs = [...]string{"path", "filePath", "file_path", "target_file", "targetFile", "notebook_path", "old_string", "new_string", "oldText", "newText",
	"old_str", "new_str", "edits", "content", "contents", "fileText", "streamContent", "patch", "diff"}

// subjects are the arguments that tell what a call is about, most telling first.
var subjects = [...]string{"command", "cmd", "pattern", "globPattern", "glob_pattern", "path", "filePath", "file_path", "target_file", "targetFile", "notebook_path", "relativeWorkspacePath",
	"query", "searchTerm", "search_term", "url", "uri", "toolName", "description", "title", "name", "message", "question", "prompt", "explanation",
	"taskId", "agentId", "shellId"}

// subject returns what a call is about: the first line of its most telling argument.
func subject(args map[string]json.RawMessage, workspace string) string {
	for _, name := range subjects {
		s, ok := stringValue(args[name])
		if !ok || strings.TrimSpace(s) == "" {
			continue
		}
		if strings.Contains(strings.ToLower(name), "path") || strings.Contains(strings.ToLower(name), "file") {
			return relPath(s, workspace)
		}
		s = strings.TrimSpace(s)
		if line, _, more := strings.Cut(s, "\n"); more {
			s = strings.TrimSpace(line) + " …"
		}
		if name == "pattern" {
			if where, _ := stringValue(args["path"]); where != "" && where != workspace {
				s += " in " + relPath(where, workspace)
			}
		}
		return s
	}
	if n := len(elements(args["todos"])); n > 0 {
		return string(screen.Plural(int64(n), "todo"))
	}
	return ""
}

// relPath returns p relative to the workspace, if it is inside.
func relPath(p, workspace string) string {
	if rest, ok := strings.CutPrefix(p, strings.TrimSuffix(workspace, "/")+"/"); ok && workspace != "" && rest != "" {
		return path.Clean(rest)
	}
	return p
}

// argList returns all arguments in order.
func argList(raw session.Raw, args map[string]json.RawMessage) []Arg {
	if args == nil {
		if len(raw) == 0 {
			return nil
		}
		s, ok := stringValue(json.RawMessage(raw))
		if !ok {
			s = pretty(raw)
		}
		return []Arg{{"input", splitLines(s)}}
	}
	var out []Arg
	for _, name := range names(raw) {
		s, ok := stringValue(args[name])
		if !ok {
			s = pretty(args[name])
			if len(s) < maxCompact {
				s = compact(args[name])
			}
		}
		lines := splitLines(s)
		if len(lines) == 0 {
			lines = []string{""}
		}
		out = append(out, Arg{name, lines})
	}
	return out
}

// maxCompact is the length up to which JSON is printed on one line.
const maxCompact = 120

// addDuration adds how long a call took, as the tool or else the client reports it.
func (st *Step) addDuration(c *session.ToolCall, r *session.ToolResult) {
	if r != nil {
		body := members(resultBody(r))
		for _, name := range []string{"executionTime", "durationMs", "runtimeMs"} {
			if ms, ok := intValue(body[name]); ok && ms > 0 {
				st.Extras = append(st.Extras, screen.Duration(time.Duration(min(ms, 1<<40))*time.Millisecond))
				return
			}
		}
	}
	if c.Start.Known() && c.End.Known() {
		if ms := c.End.Millis() - c.Start.Millis(); ms > 0 && ms < 1<<40 {
			st.Extras = append(st.Extras, screen.Duration(time.Duration(ms)*time.Millisecond))
		}
	}
}

// shorten cuts a result to the requested level of detail. Of a shell command's
// output, it keeps both ends, since the outcome is usually at the end.
func (st *Step) shorten(o Options) {
	limit := briefLines
	if st.Diff {
		limit = briefDiff
	}
	if o.Tools == Full || len(st.Body) <= limit+1 {
		return
	}
	st.omitted = len(st.Body) - limit
	if st.Diff || st.Name != "shell" {
		st.Body = st.Body[:limit]
		return
	}
	st.Body = append(st.Body[:limit/2:limit/2], st.Body[len(st.Body)-limit/2:]...)
}

// elided returns the note about omitted lines and the index of the line of body
// to print it before, or -1 if nothing was omitted.
func (st *Step) elided() (at int, words screen.Safe) {
	if st.omitted == 0 {
		return -1, ""
	}
	at = len(st.Body)
	if !st.Diff && st.Name == "shell" {
		at /= 2
	}
	return at, "… " + screen.Plural(int64(st.omitted), "more line") + " (--tools full)"
}

// result fills in the result of a call: what the model received, if the source has it.
func (st *Step) result(r *session.ToolResult, asked session.Raw, args map[string]json.RawMessage) {
	for _, p := range r.Content {
		if m, ok := p.(*session.Media); ok {
			st.Media = append(st.Media, m)
		}
	}
	body := members(resultBody(r))
	st.Failed = r.Error
	if r.Error || r.Status != "success" {
		st.Outcome = r.Status
	}
	if r.Error && (st.Outcome == "" || st.Outcome == "success") {
		st.Outcome = "error"
	}
	if code, ok := intValue(body["exitCode"]); ok && code != 0 {
		st.Outcome, st.Failed = "exit "+strconv.FormatInt(code, 10), true
	} else if ok && st.Outcome == "failure" {
		st.Outcome = "failure, exit 0"
	}
	if st.Body = editDiff(body, args, asked, r.Error); st.Body != nil {
		st.Diff = true
		added, removed := DiffStat(st.Body)
		st.Extras = append(st.Extras, screen.Sprintf("+%d -%d", added, removed))
		return
	}
	text := contentText(r.Content)
	if len(r.Content) == 0 {
		text = resultText(body)
	}
	if len(r.Content) == 0 && text == "" && len(r.Value) > 0 && body["exitCode"] == nil && !r.Error {
		text = otherResult(resultBody(r))
	}
	if other := resultText(body); body["structuredPatch"] == nil && body["todos"] == nil && body["task"] == nil && r.Contradicts(other) {
		st.recorded = splitLines(strings.Trim(strings.ReplaceAll(other, "\r\n", "\n"), "\n"))
	}
	text = strings.Trim(strings.ReplaceAll(text, "\r\n", "\n"), "\n")
	st.Body = splitLines(text)
}

// addRecorded names what the client recorded, if that says something else than what the model
// received.
func (st *Step) addRecorded(detail Detail) {
	lines := st.recorded
	if detail != Full && len(lines) > 1 {
		lines = []string{lines[0] + " …"}
	}
	if len(lines) > 0 {
		st.Args = append(st.Args, Arg{"not sent, but recorded by the client", lines})
	}
}

// addContent adds what the model received, if the step shows a diff instead.
func (st *Step) addContent(r *session.ToolResult) {
	lines := splitLines(strings.Trim(strings.ReplaceAll(contentText(r.Content), "\r\n", "\n"), "\n"))
	if len(lines) > 0 && !slices.Equal(lines, st.Body) {
		st.Args = append(st.Args, Arg{"received by the model", lines})
	}
}

// contentText returns the text of a result that the model received.
func contentText(content []session.Part) string {
	var out []string
	for _, p := range content {
		switch t := p.(type) {
		case *session.Text:
			out = append(out, t.Text)
		case *session.Media:
			out = append(out, string("["+MediaLabel(t)+"]"))
		case *session.Opaque:
			out = append(out, string("["+opaqueLabel(t)+"]"))
		}
	}
	return strings.Join(out, "\n")
}
