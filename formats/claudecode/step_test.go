package claudecode

import (
	"crypto/sha1"
	"encoding/hex"
	"fmt"
	"slices"
	"strings"
	"testing"

	"rehome/formats"
	"rehome/formats/loss"
	"rehome/formats/session"
)

// wired is what is sent of a file, a block a word.
func wired(w *written) string {
	var out []string
	for _, turn := range sent(w) {
		for _, b := range turn["content"].([]any) {
			b := b.(map[string]any)
			switch b["type"] {
			case "tool_use":
				out = append(out, "call "+b["id"].(string))
			case "tool_result":
				text := fmt.Sprint(b["content"])
				if b["is_error"] == true {
					text = "ERROR " + text
				}
				out = append(out, fmt.Sprintf("%v=%s", b["tool_use_id"], text))
			default:
				out = append(out, fmt.Sprint(b["text"]))
			}
		}
	}
	return strings.Join(out, ", ")
}

// TestResultsAreLookedFor: whatever is said between a call and its result, the
// result is the call's, and nothing is made up.
func TestResultsAreLookedFor(t *testing.T) {
	user := func(words string) *session.Message { return say(session.User, &session.Text{Text: words}) }
	call := func(ids ...string) *session.Message {
		m := say(session.Assistant)
		for _, id := range ids {
			m.Parts = append(m.Parts, calling(id, "Shell"))
		}
		return m
	}
	came := func(id string) *session.Message { return say(session.Tool, resulting(id, "of "+id)) }
	meta := func(words string) *session.Message {
		m := user(words)
		m.Simulated = true
		return m
	}
	progress := say(session.System)
	notice := say(session.System, words("Running…"))
	turn := user("next")
	turn.Turn = &session.Turn{Number: 2}
	edit := say(session.Assistant, &session.ToolCall{ID: "e", Name: "edit", Kind: "edit", Args: session.Raw(`{"path":"/a"}`)})
	edited := say(session.Tool, &session.ToolResult{Call: "e", Content: []session.Part{words("of e")}, Value: session.Raw(`{"success":{"beforeFullFileContent":"a\n","afterFullFileContent":"b\n"}}`)})
	const none = "=ERROR (No result of this call was kept.)"
	for _, c := range []struct {
		name string
		list []*session.Message
		want string
	}{
		{"progress between calls", []*session.Message{user("go"), call("a"), progress, call("b"), came("a"), came("b")}, "go, call a, a=of a, call b, b=of b"},
		{"progress between results", []*session.Message{user("go"), call("a", "b"), came("a"), progress, notice, came("b")}, "go, call a, call b, a=of a, b=of b"},
		{"a notice before the result", []*session.Message{user("go"), call("a"), notice, came("a"), say(session.Assistant, words("done"))}, "go, call a, a=of a, done"},
		{"words of the client's", []*session.Message{user("go"), call("a"), meta("late"), came("a")}, "go, call a, a=of a, late"},
		{"answers between", []*session.Message{user("go"), call("a"), say(session.Assistant, words("on")), call("b"), came("b"), came("a"), say(session.Assistant, words("done"))}, "go, call a, a=of a, on, call b, b=of b, done"},
		{"a result of nothing between", []*session.Message{user("go"), call("a"), came("x"), came("a")}, "go, call a, a=of a, Result of a tool call:\nof x"},
		{"an edit that waits", []*session.Message{user("go"), edit, call("b"), notice, came("b"), edited}, "go, call e, e=of e, call b, b=of b"},
		{"one id for all", []*session.Message{user("go"), call("a"), call("a"), came("a"), came("a")}, "go, call a, a=of a, call " + fresh("a", 2) + ", " + fresh("a", 2) + "=of a"},
		{"a prompt ends it", []*session.Message{user("go"), call("a"), user("next"), came("a")}, "go, call a, a" + none + ", next, Result of a tool call:\nof a"},
		{"a turn ends it", []*session.Message{user("go"), call("a"), turn, came("a")}, "go, call a, a" + none + ", next, Result of a tool call:\nof a"},
		{"the end ends it", []*session.Message{user("go"), call("a"), call("b"), came("b")}, "go, call a, a" + none + ", call b, b=of b"},
	} {
		t.Run(c.name, func(t *testing.T) {
			for i, m := range c.list {
				m.ID = fmt.Sprint("m", i)
			}
			w := encoded(t, chat(c.list...), formats.SessionBuild{})
			lint(t, w)
			if got := wired(w); got != c.want {
				t.Errorf("the client sends\n%s, want\n%s", got, c.want)
			}
			if made := strings.Contains(c.want, none); made != w.noted(loss.ResultAdded) {
				t.Errorf("made up: %v, and the notes are %v", made, w.notes)
			}
		})
	}
}

// fresh is the id of the n-th call of one id.
func fresh(id string, n int) string {
	sum := sha1.Sum(fmt.Appendf(nil, "rehome/claude-code/1\x004:call%d:%s%d:%d", len(id), id, len(fmt.Sprint(n)), n))
	return "toolu_" + hex.EncodeToString(sum[:])[:24]
}

// TestHeldBack: what waits for a result is bounded; beyond that one is made up,
// and what comes later is kept as text.
func TestHeldBack(t *testing.T) {
	list := []*session.Message{say(session.User, words("go")), say(session.Assistant, calling("a", "Shell"))}
	for range 10 {
		list = append(list, say(session.Assistant, words(strings.Repeat("long ", 1<<18))))
	}
	list = append(list, say(session.Tool, resulting("a", "of a")))
	for i, m := range list {
		m.ID = fmt.Sprint("m", i)
	}
	w := encoded(t, chat(list...), formats.SessionBuild{})
	lint(t, w)
	if !w.noted(loss.ResultAdded) || !w.noted(loss.ResultOrphan) || !strings.HasSuffix(wired(w), "Result of a tool call:\nof a") {
		t.Errorf("%v", w.notes)
	}
}

// TestEmptyResults: what the model was shown of a result, nothing included, it
// is shown again; the record that the screen is drawn from stands in only where
// nobody knows.
func TestEmptyResults(t *testing.T) {
	record := session.Raw(`{"stdout":"","stderr":"","interrupted":false,"isImage":false}`)
	found := &session.Opaque{Kind: "tool_reference", Raw: session.Raw(`{"type":"tool_reference","tool_name":"WebFetch"}`)}
	for _, c := range []struct {
		name, agent string
		result      session.ToolResult
		want        string
		note        loss.Code
	}{
		{"empty", session.ClaudeCode, session.ToolResult{Content: []session.Part{words("")}}, "", ""},
		{"empty, with a record", session.ClaudeCode, session.ToolResult{Content: []session.Part{words("")}, Value: record}, "", ""},
		{"none", session.ClaudeCode, session.ToolResult{Value: record}, "", ""},
		{"blanks", session.ClaudeCode, session.ToolResult{Content: []session.Part{words(" \n")}}, "", loss.BlankText},
		{"an error without a word", session.ClaudeCode, session.ToolResult{Content: []session.Part{words("")}, Error: true}, "ERROR (no output)", loss.ErrorTextAdded},
		{"a tool that was found", session.ClaudeCode, session.ToolResult{Content: []session.Part{found}, Value: session.Raw(`{"matches":["WebFetch"]}`)}, "[map[tool_name:WebFetch type:tool_reference]]", ""},
		{"a tool that somebody else found", session.CursorCLI, session.ToolResult{Content: []session.Part{found}}, "", loss.PartUntranslatable},
		{"another's, empty", session.CursorCLI, session.ToolResult{Content: []session.Part{words("")}, Value: session.Raw(`{"success":{"stdout":"x"}}`)}, "", ""},
		{"another's, of which only the record is kept", session.CursorCLI, session.ToolResult{Value: session.Raw(`{"success":{"stdout":"x"}}`)}, "x", loss.ResultFromRecord},
	} {
		t.Run(c.name, func(t *testing.T) {
			c.result.Call = "a"
			s := chat(say(session.User, words("go")), say(session.Assistant, calling("a", "Bash")), say(session.Tool, &c.result))
			s.Agent = c.agent
			w := encoded(t, s, formats.SessionBuild{})
			lint(t, w)
			if got := wired(w); got != "go, call a, a="+c.want {
				t.Errorf("the client sends %s", got)
			}
			bad := slices.ContainsFunc(w.notes, func(n loss.Loss) bool {
				return n.Kind() > loss.Reshaped && n.Code != loss.TimeUnknown || n.Code == loss.ResultFromRecord
			})
			if bad != (c.note != "") || c.note != "" && !slices.ContainsFunc(w.notes, func(n loss.Loss) bool { return n.Code == c.note }) {
				t.Errorf("the notes are %v", w.notes)
			}
		})
	}
}

// TestNothingSaid: a session without a message is given none.
func TestNothingSaid(t *testing.T) {
	for name, list := range map[string][]*session.Message{
		"no message": nil, "a message without parts": {say(session.User)}, "what is not translated": {say(session.System, &session.Opaque{Kind: "k", Raw: session.Raw("{}")})},
		"a branch alone": {on("b", say(session.User, words("no")))},
	} {
		t.Run(name, func(t *testing.T) {
			s := chat(list...)
			s.Branches = []session.Branch{{Name: "b"}}
			w := encoded(t, s, formats.SessionBuild{})
			if len(w.blocks()) > 0 || len(w.lines) != 2 {
				t.Errorf("it says %v", w.lines)
			}
			if !w.noted(loss.SessionEmpty) {
				t.Errorf("the notes are %v", w.notes)
			}
			kid := chat(list...)
			kid.Parent = &session.Link{Session: "up"}
			if w := encoded(t, kid, formats.SessionBuild{}); len(w.lines) != 1 {
				t.Errorf("a subagent says %v", w.lines)
			}
		})
	}
}

// TestBranchesOfTheEnd: branches that grow from the last message are not paid for
// with a copy of it each.
func TestBranchesOfTheEnd(t *testing.T) {
	ask, long := say(session.User, words("go")), say(session.Assistant, words(strings.Repeat("long ", 1<<17)))
	ask.ID, long.ID = "m0", "m1"
	from, list := map[string]string{}, []*session.Message{ask, long}
	for i := range 20 {
		name := fmt.Sprint("b", i)
		m := on(name, say(session.User, words(name)))
		m.ID = name + "-0"
		from[name], list = "m1", append(list, m)
	}
	w := branchy(t, from, list...)
	copies := 0
	for _, l := range w.lines {
		if mark, _ := l["rehome"].(map[string]any); mark["copy"] == true {
			copies++
		}
	}
	if copies > 5 || copies < 2 {
		t.Errorf("%d copies", copies)
	}
	if got := ways(w); len(got) != 20 || !strings.HasSuffix(got[19], "long |b19") || !strings.HasPrefix(got[19], "go|long ") {
		t.Errorf("%d branches", len(got))
	}
}
