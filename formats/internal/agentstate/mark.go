package agentstate

import (
	"rehome/formats/session"
	"rehome/internal/rawjson"
)

// MarkName is the member of providerOptions that only rehome writes and reads: what tells
// things apart that a prompt message spells alike.
const MarkName = "rehome"

// label is what providerOptions.rehome says of a message, or of a part of a user's message.
type label struct {
	role      session.Role // system: a notice of a client that has no such role here
	simulated bool         // the client wrote it, though it is not only context
	aside     bool         // no turn begins with it
	anonymous bool         // the id of the turn's message is rehome's
	parts     bool         // its parts are in their order, and the turn only repeats them
	at, end   *session.Stamp
	start     *session.Stamp // of the turn
	stop      *session.Stamp

	unstated bool // the arguments of a call are not the model's
	wrapped  bool // they are no object, but the member of one
	shell    bool // the turn is a command of the user

	as, tag string // of a part: text, context with its tag, summary
	data    bool   // the text is the record of an attachment
}

// marks takes the members of a mark.
func (s *State) marks(m *label, own []byte, extras *[]session.Extra) {
	for name, v := range rawjson.Members(own) {
		text, yes := rawjson.Text(v), string(v) == "true"
		switch n := string(name); {
		case n == "role" && text == "system":
			m.role = session.System
		case n == "simulated" && yes:
			m.simulated = true
		case n == "aside" && yes:
			m.aside = true
		case n == "message" && v[0] == '"':
			m.anonymous = true // the outline has it
		case n == "turn" && v[0] == '"': // the same
		case n == "unstated" && yes:
			m.unstated = true
		case n == "wrapped" && yes:
			m.wrapped = true
		case n == "shell" && yes:
			m.shell = true
		case n == "parts" && yes:
			m.parts = true
		case n == "data" && yes:
			m.data = true
		case n == "at" && v[0] == '"':
			m.at = stampOf(text)
		case n == "end" && v[0] == '"':
			m.end = stampOf(text)
		case n == "start" && v[0] == '"':
			m.start = stampOf(text)
		case n == "stop" && v[0] == '"':
			m.stop = stampOf(text)
		case n == "as" && (text == "text" || text == "context" || text == "summary"):
			m.as = text
		case n == "tag" && v[0] == '"':
			m.tag = text
		default:
			s.extra(extras, "providerOptions."+MarkName+"."+n, v)
			continue
		}
		s.ledger.took(1)
	}
}

func stampOf(text string) *session.Stamp {
	at, _ := session.ParseStamp(text)
	return &at
}

// times sets the times that the mark of a message states.
func (k *label) times(m *session.Message) {
	if k.at != nil {
		m.At = *k.at
	}
	if k.end != nil {
		m.End = *k.end
	}
	if k.start != nil && m.Turn != nil {
		m.Turn.Start = *k.start
	}
	if k.stop != nil && m.Turn != nil {
		m.Turn.End = *k.stop
	}
}

// part returns a text as the part that its mark says it is.
func (k *label) part(t *session.Text) session.Part {
	switch {
	case k.as == "context" && k.data:
		return &session.Injected{Tag: k.tag, Data: session.Raw(t.Text), Source: t.Source, Extras: t.Extras}
	case k.as == "context":
		return &session.Injected{Tag: k.tag, Text: t.Text, Source: t.Source, Extras: t.Extras}
	case k.as == "summary":
		return &session.Summary{Text: t.Text, Source: t.Source, Extras: t.Extras}
	}
	return t
}
