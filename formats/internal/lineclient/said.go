package lineclient

import (
	"bytes"
	"slices"
	"strings"

	"rehome/formats/internal/object"
	"rehome/formats/session"
)

// What is said in a line that is written.
const (
	Prompt     = "prompt"     // of the user
	Context    = "context"    // that a client put in
	Answer     = "answer"     // of the model, with its calls
	Result     = "result"     // of a call
	System     = "system"     // instructions of the client itself
	Command    = "command"    // that the user ran, and its output
	Compaction = "compaction" // a summary stands for what comes before
	Unchanged  = "unchanged"  // a line of the client itself, as it was
)

// Said is what one line says. Parts are texts and images; in an answer also thinking and
// calls.
type Said struct {
	What   string
	Tag    string // of context
	At     session.Stamp
	ID     string // of the message
	Model  string
	Parts  []session.Part
	Call   *session.ToolCall   // of a result
	Result *session.ToolResult // without what Parts has
	Exit   session.Raw         // of a command: the code that it ended with, if that is known
	Raw    session.Raw         // of a line as it was
	Extras []session.Extra     // of the message, if the client itself wrote it

	branch string
	from   string // the record that it comes from
	kept   bool   // it shares no memory with the message
}

// From names the record that it comes from.
func (s *Said) From() string { return s.from }

// keep returns a copy that shares no memory with the message.
func (s *Said) keep() *Said {
	one := *s
	one.kept = true
	one.Raw, one.Exit, one.Extras = bytes.Clone(s.Raw), bytes.Clone(s.Exit), keptExtras(s.Extras)
	if s.Result != nil {
		r := *s.Result
		r.Value, r.Extras = bytes.Clone(r.Value), keptExtras(r.Extras)
		one.Result = &r
	}
	one.Parts = nil
	for _, p := range s.Parts {
		switch p := p.(type) {
		case *session.ToolCall:
			c := *p
			c.Input, c.Args, c.Extras = bytes.Clone(p.Input), nil, keptExtras(p.Extras)
			one.Parts = append(one.Parts, &c)
		case *session.Media:
			m := *p
			m.Data, m.Extras = bytes.Clone(p.Data), keptExtras(p.Extras)
			one.Parts = append(one.Parts, &m)
		case *session.Thinking:
			c := *p
			c.Extras = keptExtras(p.Extras)
			one.Parts = append(one.Parts, &c)
		case *session.Text:
			c := *p
			c.Extras = keptExtras(p.Extras)
			one.Parts = append(one.Parts, &c)
		case *session.Opaque:
			one.Parts = append(one.Parts, &session.Opaque{Kind: p.Kind, Raw: bytes.Clone(p.Raw)})
		}
	}
	return &one
}

func keptExtras(list []session.Extra) (out []session.Extra) {
	for _, x := range list {
		out = append(out, session.Extra{Name: x.Name, Raw: bytes.Clone(x.Raw)})
	}
	return out
}

// Words returns the texts of parts.
func Words(parts []session.Part) string {
	var out []string
	for _, p := range parts {
		if t, ok := p.(*session.Text); ok {
			out = append(out, t.Text)
		}
	}
	return strings.Join(out, "\n")
}

// Calls reports whether an answer calls tools.
func (s *Said) Calls() bool {
	return slices.ContainsFunc(s.Parts, func(p session.Part) bool {
		_, is := p.(*session.ToolCall)
		return is
	})
}

// Has reports whether the client's own message has a member.
func (s *Said) Has(name string) bool {
	return slices.ContainsFunc(s.Extras, func(x session.Extra) bool { return x.Name == name })
}

// Rest writes the members of the client's own message, and others that it has to have.
func (s *Said) Rest(p *object.Writer, needed ...session.Extra) {
	for _, n := range needed {
		if !s.Has(n.Name) {
			p.Raw(n.Name, n.Raw)
		}
	}
	Rest(p, s.Extras)
}

// Rest writes members.
func Rest(p *object.Writer, list []session.Extra) {
	for _, x := range list {
		quoted := session.AppendString(nil, x.Name)
		p.Raw(string(quoted[1:len(quoted)-1]), x.Raw)
	}
}

// Member is a member with a value, and Text one with a text.
func Member(name string, raw []byte) session.Extra { return session.Extra{Name: name, Raw: raw} }

// Text is a member with a text.
func Text(name, text string) session.Extra { return Member(name, session.AppendString(nil, text)) }
