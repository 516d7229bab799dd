package sdkwrite

import (
	"cmp"
	"iter"
	"slices"
	"strings"

	"rehome/formats/loss"
	"rehome/formats/session"
)

// aside writes the runs that no state has, such as one that was cancelled: a run and its
// events, as the client left them. A session of the SDK has each as a branch, behind the
// conversation. Its number is that of its place in it.
type aside struct {
	*agent
	names   map[string][]string // of branches, by the message that each follows
	numbers map[string]int      // of branches; 0 before their places were passed, -1 once used
	branch  string              // the current one
	live    *run                // what was going on before it
	events  events
	kinds   map[string]string // of its calls, by their ids
}

// runBranch begins the names of the branches that package sdksession makes of runs.
const runBranch = "run-"

// besides returns the session without the runs that no state has, which are written as its
// messages are read.
func (a *agent) besides(s *session.Session) *session.Session {
	w := &aside{agent: a, names: map[string][]string{}, numbers: map[string]int{}}
	rest := *s
	rest.Branches = nil
	for _, b := range s.Branches {
		if s.Agent != session.CursorSDK || !strings.HasPrefix(b.Name, runBranch) {
			rest.Branches = append(rest.Branches, b)
		} else if _, twice := w.numbers[b.Name]; !twice {
			w.numbers[b.Name], w.names[b.From] = 0, append(w.names[b.From], b.Name)
		}
	}
	if len(w.numbers) > 0 {
		rest.Messages = w.messages(s.Messages)
	}
	return &rest
}

// messages yields the messages of the conversation, and writes the others.
func (w *aside) messages(all iter.Seq2[*session.Message, error]) iter.Seq2[*session.Message, error] {
	return func(yield func(*session.Message, error) bool) {
		w.pass("")
		for m, err := range all {
			if err == nil && m.Branch != w.branch {
				w.enter(m.Branch)
			}
			if err == nil && w.branch != "" {
				w.message(m)
				continue
			}
			if !yield(m, err) {
				return
			}
			if err == nil && m.Branch == "" {
				w.pass(m.ID)
			}
		}
		w.enter("")
	}
}

// pass keeps a number for each run that follows a message.
func (w *aside) pass(id string) {
	for _, name := range w.names[id] {
		w.turns++
		w.numbers[name] = w.before + w.turns
	}
	delete(w.names, id)
}

// enter ends the current branch, and begins another. "" is what is not written here.
func (w *aside) enter(branch string) {
	if _, ours := w.numbers[branch]; !ours {
		branch = ""
	}
	if branch == w.branch {
		return
	}
	if w.branch != "" {
		w.endRun("")
		w.agent.run, w.agent.events = w.live, w.events
	}
	if w.branch = branch; branch != "" {
		w.live, w.events = w.agent.run, w.agent.events
		w.agent.run, w.agent.events = nil, events{out: w.events.out, id: w.id, now: session.FirstMoment}
		w.kinds = map[string]string{}
	}
}

// message writes a message of the current branch.
func (w *aside) message(m *session.Message) {
	w.agent.at = m.ID
	if len(m.Origin) > 0 {
		w.agent.at = m.Origin[0]
	}
	if len(m.Extras) > 0 {
		w.note(loss.MessageMetadata)
	}
	if m.Turn != nil || w.agent.run == nil {
		w.endRun("")
		w.begin(m)
	}
	w.agent.run.model = cmp.Or(m.Model, w.agent.run.model)
	for _, p := range m.Parts {
		w.part(m, p)
	}
	w.agent.events.tick(m.End)
}

// begin begins the run.
func (w *aside) begin(m *session.Message) {
	number := w.numbers[w.branch]
	if number <= 0 { // nothing has its place, or it has it already
		w.turns++
		number = w.before + w.turns
	}
	w.numbers[w.branch] = -1
	first := session.Message{Turn: &session.Turn{}, At: m.At}
	if m.Turn != nil {
		if first.Turn = m.Turn; slices.ContainsFunc(m.Turn.Extras, func(x session.Extra) bool { return x.Name != modelParamsName }) {
			w.note(loss.TurnRecord)
		}
	}
	w.agent.begin(&first, number)
}

// part writes a part as the client does while it streams.
func (w *aside) part(m *session.Message, p session.Part) {
	e := &w.agent.events
	switch p := p.(type) {
	case *session.Text:
		w.extras(p.Extras)
		if m.Role == session.User {
			e.say("user", p.Text, m.At)
		} else {
			e.say("assistant", p.Text, m.At)
		}
	case *session.Thinking:
		w.extras(p.Extras)
		if p.Redacted || p.Data != "" || p.Signature != "" {
			w.note(loss.PartMetadata)
		}
		if p.Text == "" {
			return
		}
		e.think(p, sooner(p.Start, m.At))
	case *session.ToolCall:
		w.extras(p.Extras)
		args := p.Args
		if args == nil {
			args = p.Input
		}
		w.kinds[p.ID] = cmp.Or(p.Kind, p.Name)
		w.call(p.ID, "running", "args", args, sooner(p.Start, m.At))
	case *session.ToolResult:
		w.extras(p.Extras)
		if p.Value == nil && len(p.Content) > 0 {
			w.note(loss.PartOpaque)
		}
		w.call(p.Call, "completed", "result", p.Value, m.At)
	default:
		w.note(loss.PartOpaque)
	}
}

// call writes an event of a call.
func (w *aside) call(id, status, name string, value session.Raw, at session.Stamp) {
	e := &w.agent.events
	e.begin("tool_call")
	b := appendMember(e.buf, "call_id", id)
	b = appendMember(b, "name", w.kinds[id])
	b = appendMember(b, "status", status)
	if value != nil {
		b = append(append(append(b, `,"`...), name...), `":`...)
		b = append(b, value...)
	}
	e.buf = b
	e.end(at)
}

// extras reports metadata of a part.
func (w *aside) extras(list []session.Extra) {
	if len(list) > 0 {
		w.note(loss.PartMetadata)
	}
}

// sooner returns the first of two times that is known.
func sooner(a, b session.Stamp) session.Stamp {
	if a.Known() {
		return a
	}
	return b
}
