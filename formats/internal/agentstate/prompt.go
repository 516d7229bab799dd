package agentstate

import (
	"bytes"
	"context"
	"strconv"
	"strings"
	"time"

	"rehome/formats/loss"
	"rehome/formats/session"
	"rehome/internal/rawjson"
)

// fromPrompts marks what only prompt messages say, if the conversation has turns too.
const fromPrompts = "prompts"

// only returns the mark of what no step says.
func (s *State) only() session.Source {
	if len(s.turns) == 0 {
		return session.Source{}
	}
	return session.Source{From: fromPrompts}
}

// prompt reads a prompt message again. The result stays valid.
func (s *State) prompt(ctx context.Context, l *line) ([]byte, error) {
	b, err := s.read(ctx, l.id, "prompt message")
	if b == nil || err != nil {
		return nil, err
	}
	if l.clean {
		return bytes.Clone(b), nil
	}
	b = b[min(int(l.tail), len(b)):]
	doc, _, err := rawjson.Line(b) // repairs were noted with the outline
	if err != nil {
		s.spoiled(loss.PromptNotObject)
		return nil, nil
	}
	if len(doc) == len(b) && &doc[0] == &b[0] {
		doc = bytes.Clone(doc)
	}
	return doc, nil
}

// doc is a parsed prompt message. Its slices are views of the JSON.
type doc struct {
	role    role
	content []byte
	id      []byte
	at      session.Stamp
	model   string
	request string
	mark    label                  // of the message
	part    label                  // of the part that was read last
	whole   map[*session.Text]bool // texts that a mark says are in no tags
	extras  []session.Extra
}

// parseDoc takes the members of a prompt message.
func (s *State) parseDoc(b []byte) doc {
	d := doc{}
	var roleValue []byte
	for name, value := range rawjson.Members(b) {
		switch string(name) {
		case "role":
			d.role, roleValue = roleOf(value), value
			s.ledger.took(1)
		case "content":
			d.content = value
			s.ledger.took(1)
		case "id":
			d.id = value
		case "createdAt":
			if d.at = moment(value); d.at.Known() {
				s.ledger.took(1)
				continue
			}
			s.extra(&d.extras, "createdAt", value)
		case "providerOptions":
			s.options(value, &d, &d.extras)
		default:
			s.extra(&d.extras, string(name), value)
		}
	}
	if d.role == unknownRole && roleValue != nil {
		d.extras = append(d.extras, session.Extra{Name: "role", Raw: roleValue})
	}
	if d.id != nil {
		// The id of an assistant's message is always "1", that of a tool's is the call's.
		if d.role == assistantRole && string(d.id) == `"1"` || d.role == toolRole && bytes.Contains(d.content, d.id) {
			s.ledger.took(1)
		} else {
			s.extra(&d.extras, "id", d.id)
		}
	}
	return d
}

// extra keeps a member of unknown meaning.
func (s *State) extra(list *[]session.Extra, name string, value []byte) {
	s.ledger.carried(1)
	*list = append(*list, session.Extra{Name: name, Raw: value})
}

// options takes the providerOptions of a message or of a part.
func (s *State) options(value []byte, d *doc, extras *[]session.Extra) (rawArgs []byte) {
	if len(value) < 3 || value[0] != '{' {
		s.extra(extras, "providerOptions", value)
		return nil
	}
	for provider, own := range rawjson.Members(value) {
		prefix := "providerOptions." + string(provider)
		if string(provider) == MarkName && own[0] == '{' {
			m := &d.part
			if extras == &d.extras {
				m = &d.mark
			}
			s.marks(m, own, extras)
			continue
		}
		if string(provider) != "cursor" || own[0] != '{' {
			s.extra(extras, prefix, own)
			continue
		}
		for name, v := range rawjson.Members(own) {
			switch n := string(name); {
			case n == "modelName" && len(v) > 2 && v[0] == '"' && (d.model == "" || d.model == rawjson.Text(v)):
				d.model = rawjson.Text(v)
				s.ledger.took(1)
			case n == "requestId" && len(v) > 2 && v[0] == '"' && (d.request == "" || d.request == rawjson.Text(v)):
				d.request = rawjson.Text(v)
				s.ledger.took(1)
			case n == "isSummary" && string(v) == "true":
				s.ledger.took(1)
			case n == "rawToolCallArgs" && v[0] == '"':
				rawArgs = v
			default:
				s.extra(extras, prefix+"."+n, v)
			}
		}
	}
	return rawArgs
}

// clock parses the time that a client tells the model, to the minute and in the user's
// zone: Sunday, Apr 26, 2026, 9:53 PM (UTC-4).
func clock(text string) session.Stamp {
	day, zone, ok := strings.Cut(text, " (UTC")
	t, err := time.Parse("Monday, Jan 2, 2006, 3:04 PM", strings.TrimSpace(day))
	if !ok || err != nil {
		return session.Stamp{}
	}
	hours, minutes, _ := strings.Cut(strings.TrimSuffix(zone, ")"), ":")
	h, err := strconv.Atoi(strings.TrimPrefix(hours, "+"))
	if hours == "" {
		h, err = 0, nil
	}
	m, _ := strconv.Atoi(minutes)
	if err != nil || h < -24 || h > 24 {
		return session.Stamp{}
	}
	if strings.HasPrefix(hours, "-") {
		m = -m
	}
	return session.Inferred(t.Add(-time.Duration(h)*time.Hour - time.Duration(m)*time.Minute).UnixMilli())
}

// moment parses a time in milliseconds or in ISO 8601.
func moment(value []byte) session.Stamp {
	if text := rawjson.Text(value); text != "" {
		if t, err := time.Parse(time.RFC3339Nano, text); err == nil && t.Nanosecond()%1e6 == 0 {
			return session.Stored(t.UnixMilli())
		}
		return session.Stamp{}
	}
	ms, err := strconv.ParseInt(string(value), 10, 64)
	if err != nil || ms <= 0 || ms > 1<<53 {
		return session.Stamp{}
	}
	return session.Stored(ms)
}
