package transcript

import (
	"context"
	"io"
	"iter"
	"strconv"
	"strings"

	"rehome/formats/internal/lines"
	"rehome/formats/internal/members"
	"rehome/formats/internal/rawjson"
	"rehome/formats/internal/toolmap"
	"rehome/formats/session"
)

// From is the origin of parts that were taken from a transcript.
const From = "transcript"

// Kind is what a line is.
type Kind uint8

// The kinds of line.
const (
	Strange    Kind = iota // JSON that nobody has described
	Message                // what somebody said
	Ended                  // the end of a turn
	Failed                 // an error that ended it
	Metadata               // of the whole session
	Blank                  // nothing
	Unreadable             // no JSON, torn, or beyond all bounds
)

// Entry is one line.
type Entry struct {
	Kind   Kind
	Line   int
	Offset int64
	Role   session.Role   // of a Message
	Parts  []session.Part // of a Message
	Status string         // of the turn, as sessions call it
	Error  string
	// Withheld says that a mark stands for reasoning.
	Withheld bool
	Raw      session.Raw // the line itself, where it is Strange or Metadata
	Extras   []session.Extra
	Count    int64 // members seen
	Kept     int64 // of these: in Extras
}

// longest bounds a line; the clients leave out messages beyond 5 MB.
const longest = 64 << 20

// Read yields the lines of a transcript. An entry is valid until the next
// step. The error is one of reading.
func Read(ctx context.Context, r io.Reader) iter.Seq2[*Entry, error] { return read(ctx, r, 0) }

// read is Read for the rest of a file: so many lines are in front of it.
func read(ctx context.Context, r io.Reader, before int) iter.Seq2[*Entry, error] {
	return func(yield func(*Entry, error) bool) {
		var p parser
		for l, err := range lines.Each(ctx, r, longest) {
			if err != nil {
				yield(nil, err)
				return
			}
			l.Number += before
			if !yield(p.line(&l), nil) {
				return
			}
		}
	}
}

type parser struct {
	o, in members.Object
	e     Entry
}

func (p *parser) line(l *lines.Line) *Entry {
	p.e = Entry{Line: l.Number, Offset: l.Offset, Kind: Unreadable}
	if l.Blank() {
		p.e.Kind = Blank
		return &p.e
	}
	if l.Long {
		return &p.e
	}
	b, _, err := rawjson.Line(l.Bytes)
	if err != nil || !p.o.Split(b, "", []string{"role", "message", "type", "status", "error"}) {
		return &p.e
	}
	p.e.Count = p.o.Count
	switch {
	case p.o.Has(1) && p.message():
		p.e.Kind = Message
		p.o.Keep(2)
		p.o.Keep(3)
		p.o.Keep(4)
	case p.o.Text(2) == "turn_ended":
		p.e.Kind, p.e.Status, p.e.Error = Ended, status(p.o.Text(3)), p.o.Text(4)
		p.o.Keep(0)
	case p.o.Text(2) == "error" && p.o.Text(4) != "":
		p.e.Kind, p.e.Error = Failed, p.o.Text(4)
		p.o.Keep(0)
		p.o.Keep(3)
	default:
		p.e.Kind = Strange
		if p.o.Text(2) == "metadata" {
			p.e.Kind = Metadata
		}
		if p.e.Raw = members.Bare("line", b); p.e.Raw == nil {
			p.e.Kind = Unreadable
		}
		p.e.Extras, p.e.Kept = nil, p.e.Count
		return &p.e
	}
	p.extras(&p.o)
	return &p.e
}

func (p *parser) extras(o *members.Object) {
	p.e.Extras = append(p.e.Extras, o.Extras...)
	p.e.Kept += int64(len(o.Extras))
}

// status is a turn's end in the words of sessions.
func status(word string) string {
	switch word {
	case "success":
		return "finished"
	case "aborted":
		return "cancelled"
	}
	return word
}

// message reads what was said; false if it is no message after all.
func (p *parser) message() bool {
	switch role := session.Role(p.o.Text(0)); role {
	case session.User, session.Assistant, session.System, session.Tool:
		p.e.Role = role
	default:
		return false
	}
	if !p.in.Split(p.o.Raw(1), "message.", []string{"content"}) {
		return false
	}
	content := p.in.Raw(0)
	switch {
	case content == nil:
	case content[0] == '"':
		p.text(rawjson.Text(content), nil)
	case content[0] == '[':
		n := 0
		outer := p.in // parts are taken apart with the same tool
		for part := range rawjson.Elements(content) {
			n++
			p.part(part, n)
		}
		p.in = outer
	default:
		p.in.Keep(0)
	}
	p.e.Count += p.in.Count
	p.extras(&p.in)
	return true
}

func (p *parser) part(raw []byte, n int) {
	o := &p.in
	if !o.Split(raw, "", []string{"type", "text", "name", "input", "id", "thinking", "signature"}) {
		p.e.Parts = append(p.e.Parts, &session.Opaque{Kind: "part", Raw: members.Bare("part", raw), Source: of()})
		return
	}
	p.e.Count += o.Count
	keep := func(members ...int) {
		for _, i := range members {
			o.Keep(i)
		}
	}
	switch kind := o.Text(0); {
	case kind == "text":
		keep(2, 3, 4, 5, 6)
		text := o.Text(1)
		p.e.Kept += int64(len(o.Extras))
		p.text(text, o.Extras)
	case kind == "thinking" && isText(o.Raw(5)):
		keep(1, 2, 3, 4)
		p.e.Parts = append(p.e.Parts, &session.Thinking{Text: o.Text(5), Signature: o.Text(6), Source: of(), Extras: o.Extras})
		p.e.Kept += int64(len(o.Extras))
	case kind == "tool_use":
		keep(1, 5, 6)
		call := &session.ToolCall{ID: o.Text(4), Name: o.Text(2), Source: of()}
		call.Kind = toolmap.Kind(call.Name)
		if call.ID == "" { // lines have no ids; the place is one
			call.ID = "line-" + strconv.Itoa(p.e.Line) + "." + strconv.Itoa(n)
		}
		if o.Has(3) {
			call.Input = members.Bare("input", o.Raw(3))
		}
		call.Extras = o.Extras
		p.e.Kept += int64(len(o.Extras))
		p.e.Parts = append(p.e.Parts, call)
	default:
		p.e.Kept += o.Count
		p.e.Parts = append(p.e.Parts, &session.Opaque{Kind: kind, Raw: members.Bare("part", raw), Source: of()})
	}
}

func isText(raw []byte) bool { return len(raw) > 0 && raw[0] == '"' }

func (p *parser) text(text string, extras []session.Extra) {
	if p.e.Role == session.User {
		p.e.Parts = append(p.e.Parts, prompt(text, extras)...)
		return
	}
	said, gone := text, false
	if p.e.Role == session.Assistant {
		said, gone = spoken(text)
	}
	if said != "" || !gone {
		p.e.Parts = append(p.e.Parts, &session.Text{Text: said, Source: of(), Extras: extras})
		extras = nil
	}
	if gone {
		p.e.Withheld = true
		p.e.Parts = append(p.e.Parts, &session.Thinking{Redacted: true, Source: of(), Extras: extras})
	}
}

// withheld stands for reasoning that the provider does not let the client show.
const withheld = "[REDACTED]"

// spoken takes the marks of reasoning off the end of an answer, where the client
// puts reasoning. A mark anywhere else is what somebody said.
func spoken(text string) (said string, gone bool) {
	for {
		if text == withheld {
			return "", true
		}
		rest, ok := strings.CutSuffix(text, "\n\n"+withheld)
		if !ok {
			return text, gone
		}
		text, gone = rest, true
	}
}

func of() session.Source { return session.Source{From: From} }
