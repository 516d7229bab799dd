package prose

import (
	"encoding/json"
	"path"
	"strconv"
	"strings"
	"time"

	"rehome/cmd/rehome/internal/screen"
	"rehome/formats/session"
)

// step is a call and what came of it, ready to be shown. Its texts are foreign.
type step struct {
	name    string
	subject string // what it was about, in one line
	outcome string // "" if it went well
	bad     bool
	tail    []screen.Safe // +3 -1, 2.3 s
	args    []arg         // everything it was asked, see Full
	body    []string      // lines of what came of it
	cut     int           // lines that body lacks
	diff    bool          // body is a diff
	child   string        // the session that it started
	away    bool          // which the source does not hold
}

// arg is one argument; a text of several lines stands below its name.
type arg struct {
	name  string
	lines []string
}

// briefLines and briefDiff are how much of a result is shown.
const (
	briefLines = 10
	briefDiff  = 40
)

// newStep makes a step of a call and its result; r is nil if there is none.
func newStep(c *session.ToolCall, r *session.ToolResult, workspace string, o Options) *step {
	st := &step{name: c.Name, child: c.Child}
	if c.Kind != "" && c.Kind != "mcp" && !strings.HasPrefix(c.Kind, "tool-") {
		st.name = c.Kind
	}
	asked := c.Args
	if len(asked) == 0 {
		asked = c.Input
	}
	args := members(asked)
	st.subject = subject(args, workspace)
	if o.Tools == Full {
		st.args = list(asked, args)
	}
	if r != nil {
		st.result(r, args)
	}
	st.span(c, r)
	st.shorten(o)
	return st
}

// subjects are the arguments that say best what a call is about, the best
// first.
var subjects = [...]string{"command", "path", "filePath", "file_path", "target_file", "targetFile", "notebook_path", "globPattern", "glob_pattern",
	"pattern", "query", "searchTerm", "search_term", "url", "uri", "toolName", "description", "title", "name", "message", "question", "prompt", "explanation",
	"taskId", "agentId", "shellId"}

// subject is what a call is about: the first line of the argument that says it.
func subject(args map[string]json.RawMessage, workspace string) string {
	for _, name := range subjects {
		s, ok := plain(args[name])
		if !ok || strings.TrimSpace(s) == "" {
			continue
		}
		if strings.Contains(strings.ToLower(name), "path") || strings.Contains(strings.ToLower(name), "file") {
			return inside(s, workspace)
		}
		s = strings.TrimSpace(s)
		if line, _, more := strings.Cut(s, "\n"); more {
			s = strings.TrimSpace(line) + " …"
		}
		if name == "pattern" {
			if where, _ := plain(args["path"]); where != "" {
				s += " in " + inside(where, workspace)
			}
		}
		return s
	}
	if n := len(elements(args["todos"])); n > 0 {
		return string(screen.Many(int64(n), "entry"))
	}
	return ""
}

// inside is a path as seen from the workspace.
func inside(p, workspace string) string {
	if rest, ok := strings.CutPrefix(p, strings.TrimSuffix(workspace, "/")+"/"); ok && workspace != "" && rest != "" {
		return path.Clean(rest)
	}
	return p
}

// list spells all arguments, in their order.
func list(raw session.Raw, args map[string]json.RawMessage) []arg {
	if args == nil {
		if len(raw) == 0 {
			return nil
		}
		s, ok := plain(json.RawMessage(raw))
		if !ok {
			s = pretty(raw)
		}
		return []arg{{"input", splitLines(s)}}
	}
	var out []arg
	for _, name := range names(raw) {
		s, ok := plain(args[name])
		if !ok {
			s = pretty(args[name])
			if len(s) < mostCompact {
				s = compact(args[name])
			}
		}
		lines := splitLines(s)
		if len(lines) == 0 {
			lines = []string{""}
		}
		out = append(out, arg{name, lines})
	}
	return out
}

// mostCompact is how long JSON may be that is not taken apart into lines.
const mostCompact = 120

// span is how long a call took, as the tool says, or else the client.
func (st *step) span(c *session.ToolCall, r *session.ToolResult) {
	if r != nil {
		body := members(unwrapped(r))
		for _, name := range []string{"executionTime", "durationMs", "runtimeMs"} {
			if ms, ok := whole(body[name]); ok && ms > 0 {
				st.tail = append(st.tail, screen.Span(time.Duration(min(ms, 1<<40))*time.Millisecond))
				return
			}
		}
	}
	if c.Start.Known() && c.End.Known() {
		if ms := c.End.Millis() - c.Start.Millis(); ms > 0 && ms < 1<<40 {
			st.tail = append(st.tail, screen.Span(time.Duration(ms)*time.Millisecond))
		}
	}
}

// shorten leaves as much of a result as was asked for. Of a long output of a
// command the end says what came of it.
func (st *step) shorten(o Options) {
	most := briefLines
	if st.diff {
		most = briefDiff
	}
	if o.Tools == Full || len(st.body) <= most+1 {
		return
	}
	st.cut = len(st.body) - most
	if st.diff || st.name != "shell" {
		st.body = st.body[:most]
		return
	}
	st.body = append(st.body[:most/2:most/2], st.body[len(st.body)-most/2:]...)
}

// elided says how many lines are not shown, and where: in front of body[at].
func (st *step) elided() (at int, words screen.Safe) {
	if st.cut == 0 {
		return -1, ""
	}
	at = len(st.body)
	if !st.diff && st.name == "shell" {
		at /= 2
	}
	return at, "… " + screen.Many(int64(st.cut), "more line") + " (--tools full)"
}

// result fills in what came of a call.
func (st *step) result(r *session.ToolResult, args map[string]json.RawMessage) {
	body := members(unwrapped(r))
	st.bad = r.Error
	if r.Error || r.Status != "success" {
		st.outcome = r.Status
	}
	if r.Error && (st.outcome == "" || st.outcome == "success") {
		st.outcome = "error"
	}
	if code, ok := whole(body["exitCode"]); ok && code != 0 {
		st.outcome, st.bad = "exit "+strconv.FormatInt(code, 10), true
	} else if ok && st.outcome == "failure" {
		st.outcome = "failure, exit 0"
	}
	if st.body = edited(body, args, r.Error); st.body != nil {
		st.diff = true
		added, removed := counted(st.body)
		st.tail = append(st.tail, screen.Sprintf("+%d -%d", added, removed))
		return
	}
	text := came(body)
	if text == "" {
		text = shownTo(r.Content)
	}
	if text == "" && len(r.Value) > 0 && body["exitCode"] == nil && !r.Error {
		text = rest(unwrapped(r))
	}
	text = strings.Trim(strings.ReplaceAll(text, "\r\n", "\n"), "\n")
	st.body = splitLines(text)
}

// shownTo is what the model was shown of a result.
func shownTo(content []session.Part) string {
	var out []string
	for _, p := range content {
		switch t := p.(type) {
		case *session.Text:
			out = append(out, t.Text)
		case *session.Media:
			out = append(out, string("["+mediaOf(t)+"]"))
		case *session.Opaque:
			out = append(out, string("["+opaqueOf(t)+"]"))
		}
	}
	return strings.Join(out, "\n")
}
