package formatstest

import (
	"bytes"
	"encoding/json"
	"fmt"
	"iter"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"rehome/formats"
	"rehome/formats/session"
)

// The texts that the writer of Claude Code's files uses where the source has
// none.
const (
	noResult = "(No result of this call was kept.)"
	noOutput = "(no output)"
	opening  = "(This session was imported"
)

// sessionsSurvive: tool calls and their results are the same in Claude Code's
// files.
func sessionsSurvive(t *testing.T, c Case, s source) { Survives(t, c.Registry, c.Format, s.path) }

// Survives writes every readable session of a store as one of Claude Code's, and
// reads it back. It fails the test unless each call is there with its input, the
// text of its result and whether that was an error, and unless the writer's own
// texts are only where the source has none. It returns the number of calls.
func Survives(t *testing.T, reg *formats.Registry, f *formats.Format, path string) (calls int) {
	t.Helper()
	to := reg.Lookup("claude-code")
	if to == nil {
		return 0 // a registry of fakes
	}
	l, err := formats.Locate(path)
	if err != nil {
		t.Fatal(err)
	}
	dir, n := t.TempDir(), 0
	for one, err := range f.Sessions.Decode(t.Context(), l, silent(), session.Selection{}) {
		if err != nil {
			continue // whether it may fail is tested elsewhere
		}
		n++
		file := filepath.Join(dir, fmt.Sprintf("%08d-0000-4000-8000-000000000000.jsonl", n))
		was := exchanges{own: one.Agent == session.ClaudeCode}
		one.Messages = was.listen(one.Messages)
		draft, err := to.Writer.New().Put(t.Context(), one, formats.SessionBuild{Path: file})
		if err != nil {
			t.Errorf("session %q is not written: %v", one.ID, err)
			continue
		}
		if err := draft.Verify(t.Context()); err != nil {
			t.Errorf("session %q: %v", one.ID, err)
		}
		is := exchanges{own: was.own, written: true}
		is.names(t, file)
		is.read(t, to, file)
		was.compare(t, one.ID, &is)
		calls += len(was.list)
	}
	return calls
}

// exchange is a tool call and its result.
type exchange struct {
	id, input, text        string
	answered, shown, error bool // shown: the source says what the model was shown
}

// exchanges are the exchanges of one session.
type exchanges struct {
	own     bool // of Claude Code's own: nothing has to be translated
	written bool // by the codec under test
	list    []*exchange
	open    map[string][]*exchange
	said    strings.Builder // everything but the results of calls
	first   session.Role    // who begins
	ids     map[string]string
	inputs  map[string]string // what the source's client spelled, by the written id
}

// listen passes messages on and records their exchanges.
func (e *exchanges) listen(from iter.Seq2[*session.Message, error]) iter.Seq2[*session.Message, error] {
	if from == nil {
		return nil
	}
	return func(yield func(*session.Message, error) bool) {
		for m, err := range from {
			if err == nil && m.Branch == "" {
				e.message(m)
			}
			if !yield(m, err) {
				return
			}
		}
	}
}

func (e *exchanges) message(m *session.Message) {
	for _, part := range m.Parts {
		switch p := part.(type) {
		case *session.ToolCall:
			e.call(p)
			e.begin(session.Assistant)
		case *session.ToolResult:
			e.result(p)
		case *session.Text:
			fmt.Fprintln(&e.said, p.Text)
			if m.Role != session.System && strings.TrimSpace(p.Text) != "" {
				e.begin(m.Role)
			}
		case *session.Thinking:
			e.begin(session.Assistant)
		case *session.Injected, *session.Media, *session.Summary, *session.Boundary:
			e.begin(session.User)
		}
	}
}

func (e *exchanges) begin(role session.Role) {
	if e.first == "" {
		e.first = role
	}
}

func (e *exchanges) call(c *session.ToolCall) {
	x := &exchange{id: c.ID, input: string(c.Input)}
	if e.written {
		if id, ok := e.ids[c.ID]; ok {
			x.id = id
		}
		if was, ok := e.inputs[c.ID]; ok {
			x.input += was
		}
	}
	e.list = append(e.list, x)
	if e.open == nil {
		e.open = map[string][]*exchange{}
	}
	e.open[c.ID] = append(e.open[c.ID], x)
}

func (e *exchanges) result(r *session.ToolResult) {
	var texts []string
	shown := e.written || e.own
	for _, part := range r.Content {
		switch p := part.(type) {
		case *session.Text:
			shown = true
			if strings.TrimSpace(strings.Trim(p.Text, "\ufeff")) != "" {
				texts = append(texts, p.Text)
			}
		case *session.Opaque:
			if e.own {
				texts = append(texts, string(p.Raw))
			}
		}
	}
	text := strings.ToValidUTF8(strings.Join(texts, "\n"), "\ufffd")
	list := e.open[r.Call]
	if len(list) == 0 {
		fmt.Fprintln(&e.said, text)
		e.begin(session.User)
		return
	}
	list[0].answered, list[0].text, list[0].error, list[0].shown = true, text, r.Error, shown
	e.open[r.Call] = list[1:]
}

// names reads from the written file the original names of the calls, and what
// else is kept of their arguments.
func (e *exchanges) names(t *testing.T, file string) {
	t.Helper()
	data, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	e.ids, e.inputs = map[string]string{}, map[string]string{}
	for line := range bytes.Lines(data) {
		var l struct {
			Message struct{ Content json.RawMessage }
			Rehome  struct {
				Call  *string
				Input json.RawMessage
			}
		}
		var blocks []struct{ ID string }
		if json.Unmarshal(line, &l) != nil || json.Unmarshal(l.Message.Content, &blocks) != nil || len(blocks) != 1 {
			continue
		}
		if l.Rehome.Call != nil {
			e.ids[blocks[0].ID] = *l.Rehome.Call
		}
		e.inputs[blocks[0].ID] = string(l.Rehome.Input)
	}
}

func (e *exchanges) read(t *testing.T, f *formats.Format, file string) {
	t.Helper()
	l, err := formats.Locate(file)
	if err != nil {
		t.Fatal(err)
	}
	for s, err := range f.Sessions.Decode(t.Context(), l, formats.View{}, session.Selection{}) {
		if err != nil {
			t.Fatal(err)
		}
		for m, err := range s.Messages {
			if err != nil {
				t.Fatal(err)
			}
			e.message(m)
		}
	}
}

func (e *exchanges) compare(t *testing.T, id string, is *exchanges) {
	t.Helper()
	bad := func(f string, args ...any) { t.Errorf("session %q: %s", id, fmt.Sprintf(f, args...)) }
	if len(e.list) != len(is.list) {
		bad("%d calls, then %d", len(e.list), len(is.list))
		return
	}
	byID := func(a, b *exchange) int { return strings.Compare(a.id, b.id) }
	slices.SortStableFunc(e.list, byID)
	slices.SortStableFunc(is.list, byID)
	mute, wordless := 0, 0
	for i, was := range e.list {
		now := is.list[i]
		switch {
		case was.id != now.id:
			bad("call %q is %q", was.id, now.id)
		case e.own && was.input != now.input || !e.own && !says(now.input, was.input):
			bad("call %q: its input %.300s is %.300s", was.id, was.input, now.input)
		case !was.answered:
			mute++
		case was.error && was.text == "" && now.error && now.text == noOutput: // the API refuses an empty one
			wordless++
		case now.error != was.error:
			bad("call %q: its result is an error: %v, then %v (%.100q)", was.id, was.error, now.error, now.text)
		case was.shown && !strings.HasPrefix(now.text, was.text), was.text == "" && was.shown && now.text != "":
			bad("call %q: its result %.100q is %.100q", was.id, was.text, now.text)
		}
	}
	for _, own := range []string{noResult, noOutput} {
		had, has := e.count(own), is.count(own)
		if own == noResult {
			had += mute
		} else {
			had += wordless
		}
		if has > had {
			bad("%q stands in %d places, and nothing is missing in %d of them", own, has, has-had)
		}
	}
	if e.first != session.Assistant && strings.Contains(is.said.String(), opening) && !strings.Contains(e.said.String(), opening) {
		bad("it is given a beginning, and has one")
	}
}

// count returns how often one of the writer's own texts occurs.
func (e *exchanges) count(text string) (n int) {
	for _, x := range e.list {
		n += strings.Count(x.text, text)
	}
	return n + strings.Count(e.said.String(), text)
}

// says reports whether each text in a call's arguments is in what was written of
// it: its own input, and what else is kept beside it.
func says(written, input string) bool {
	var args map[string]any
	if json.Unmarshal([]byte(input), &args) != nil {
		return true // arguments that are no object: what the tool ran with stands in
	}
	var kept strings.Builder
	for d := json.NewDecoder(strings.NewReader(written)); ; {
		var doc any
		if d.Decode(&doc) != nil {
			break
		}
		fmt.Fprintln(&kept, doc)
	}
	for _, v := range args {
		if s, ok := v.(string); ok && !strings.Contains(kept.String(), s) {
			return false
		}
	}
	return true
}
