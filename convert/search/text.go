package search

import (
	"bytes"
	"slices"
	"strings"
	"unicode/utf8"

	"rehome/formats/session"
)

// Kind is where in a session a hit is.
type Kind string

// The kinds of hits.
const (
	Title    Kind = "title"
	Prompt   Kind = "prompt"
	Answer   Kind = "answer"
	Thinking Kind = "thinking"
	Call     Kind = "call"   // of a tool
	Result   Kind = "result" // of a tool
	Summary  Kind = "summary"
	Context  Kind = "context" // what the client added: see Options.Context
)

// unit is a piece of text that terms are searched in.
type unit struct {
	kind Kind
	text string
}

// units appends the pieces of text of a message.
func (o *Options) units(out []unit, m *session.Message) []unit {
	kind := Answer
	switch {
	case m.Role == session.System || m.Role == session.User && m.Simulated:
		kind = Context
	case m.Role == session.User:
		kind = Prompt
	case m.Role == session.Tool:
		kind = Result
	}
	for _, p := range m.Parts {
		out = o.part(out, p, kind)
	}
	return out
}

func (o *Options) part(out []unit, p session.Part, kind Kind) []unit {
	add := func(k Kind, text string) {
		if text != "" && (k != Context || o.Context) {
			out = append(out, unit{k, text})
		}
	}
	values := func(k Kind, raw session.Raw) {
		if k != Context || o.Context {
			for s := range session.Strings(raw) {
				add(k, s)
			}
		}
	}
	switch p := p.(type) {
	case *session.Text:
		add(kind, p.Text)
	case *session.Thinking:
		add(Thinking, p.Text)
	case *session.Summary:
		add(Summary, p.Text)
	case *session.Injected:
		k := Context
		if strings.Contains(p.Tag, "command-") { // of the user
			k = Prompt
		}
		add(k, p.Text)
		values(k, p.Data)
	case *session.ToolCall:
		add(Call, p.Name)
		if len(p.Args) > 0 {
			values(Call, p.Args)
		} else {
			values(Call, p.Input)
		}
	case *session.ToolResult:
		for _, c := range p.Content {
			out = o.part(out, c, Result)
		}
		values(Result, p.Value)
	case *session.Opaque:
		if kind == Result {
			values(Result, p.Raw)
		}
	}
	return out
}

// matches reports whether each term is in one of some units.
func (q *Query) matches(units []unit) bool {
	for _, t := range q.terms {
		if !slices.ContainsFunc(units, func(u unit) bool { return t.matches(u.text) }) {
			return false
		}
	}
	return true
}

// matches reports whether a term is in a text. Its literals are found much faster.
func (t *term) matches(text string) bool {
	b := []byte(text)
	return (t.raw == nil || slices.ContainsFunc(t.raw, func(n *needle) bool { return n.in(b) })) && t.re.Match(b)
}

// Bounds of the text around a match, in bytes.
const (
	maxBefore  = 80
	maxExcerpt = 400
)

// excerpt returns the line of the units that matches most terms, and the unit that it
// is from.
func (q *Query) excerpt(units []unit) (Excerpt, Kind) {
	var best Excerpt
	kind, most := Kind(""), 0
	for _, u := range units {
		for _, t := range q.terms {
			at := t.re.FindStringIndex(u.text)
			if at == nil {
				continue
			}
			e := around(u.text, at[0], at[1])
			n := 0
			for _, t := range q.terms {
				if t.re.MatchString(e.Text) {
					n++
				}
			}
			if n > most {
				best, kind, most = e, u.kind, n
			}
		}
	}
	best.Matches = q.spans(best.Text)
	return best, kind
}

// Excerpt is a piece of text around a match.
type Excerpt struct {
	Text    string
	Matches [][2]int // the bytes of Text that match, in order
	Cut     [2]bool  // the line that it is from goes on before, and after it
}

// around returns the lines that a match is in, or the part of them near its beginning.
func around(text string, from, to int) Excerpt {
	start := strings.LastIndexByte(text[:from], '\n') + 1
	end := len(text)
	if i := strings.IndexByte(text[to:], '\n'); i >= 0 {
		end = to + i
	}
	var e Excerpt
	if from-start > maxBefore {
		for start = from - maxBefore; !utf8.RuneStart(text[start]); start++ {
		}
		e.Cut[0] = true
	}
	if end-start > maxExcerpt {
		for end = start + maxExcerpt; !utf8.RuneStart(text[end]); end-- {
		}
		e.Cut[1] = true
	}
	e.Text = strings.TrimSpace(text[start:end])
	return e
}

// spans returns where the terms are in a text. Matches that overlap are one.
func (q *Query) spans(text string) (out [][2]int) {
	var all [][2]int
	for _, t := range q.terms {
		for _, at := range t.re.FindAllStringIndex(text, -1) {
			all = append(all, [2]int(at))
		}
	}
	slices.SortFunc(all, func(a, b [2]int) int { return a[0] - b[0] })
	for _, s := range all {
		if last := len(out) - 1; last >= 0 && s[0] <= out[last][1] {
			out[last][1] = max(out[last][1], s[1])
		} else {
			out = append(out, s)
		}
	}
	return out
}

// isRequest reports whether a message belongs to the turn, or answers the request,
// with an id.
func isRequest(m *session.Message, id string) bool {
	if m.ID == id || m.Turn != nil && (m.Turn.RequestID == id || m.Turn.ID == id) {
		return true
	}
	named := func(e session.Extra) bool {
		name := strings.ToLower(e.Name[strings.LastIndexByte(e.Name, '.')+1:])
		return (name == "requestid" || name == "request_id") && string(bytes.Trim(e.Raw, `"`)) == id
	}
	return slices.ContainsFunc(m.Extras, named) || m.Turn != nil && slices.ContainsFunc(m.Turn.Extras, named)
}
