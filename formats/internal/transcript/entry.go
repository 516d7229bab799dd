package transcript

import (
	"context"
	"io"
	"iter"
	"strconv"
	"strings"

	"rehome/formats/internal/jsonl"
	"rehome/formats/internal/lines"
	"rehome/formats/internal/members"
	"rehome/formats/internal/toolmap"
	"rehome/formats/session"
	"rehome/internal/rawjson"
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
	Account  session.Account // counts the line, and its members
}

// Read yields the lines of a transcript. An entry is valid until the next
// step. The error is one of reading.
func Read(ctx context.Context, r io.Reader) iter.Seq2[*Entry, error] { return read(ctx, r, 0) }

// read is Read for the rest of a file: so many lines are in front of it.
func read(ctx context.Context, r io.Reader, before int) iter.Seq2[*Entry, error] {
	return func(yield func(*Entry, error) bool) {
		var p parser
		for l, err := range lines.Each(ctx, r, jsonl.MaxLine) {
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
	p.e = Entry{Line: l.Number, Offset: l.Offset, Account: session.Account{Read: 1}}
	switch b := jsonl.Parse(*l); {
	case b.Object != nil:
		p.object(b.Object)
	case b.Bad == "":
		p.e.Kind = Blank
	default:
		p.e.Kind = Unreadable
	}
	switch p.e.Kind {
	case Unreadable:
		p.e.Account = session.Account{Read: 1, Unreadable: 1}
	case Strange:
		p.e.Account.CarriedRaw++
	default:
		p.e.Account.Converted++
	}
	return &p.e
}

func (p *parser) object(b []byte) {
	p.o.Split(b, "", []string{"role", "message", "type", "status", "error"})
	switch {
	case p.o.Has(1) && p.message():
		p.e.Kind = Message
		p.keep(&p.o, 2, 3, 4)
	case p.o.Text(2) == "turn_ended":
		p.e.Kind, p.e.Status, p.e.Error = Ended, Status(p.o.Text(3)), p.o.Text(4)
		p.keep(&p.o, 0)
	case p.o.Text(2) == "error" && p.o.Text(4) != "":
		p.e.Kind, p.e.Error = Failed, p.o.Text(4)
		p.keep(&p.o, 0, 3)
	default:
		p.e = Entry{Line: p.e.Line, Offset: p.e.Offset, Kind: Strange, Raw: members.Bare("line", b)}
		switch {
		case p.e.Raw == nil:
			p.e.Kind = Unreadable
		case p.o.Text(2) == "metadata":
			p.e.Kind = Metadata
		}
		p.e.Account = session.Account{Read: 1, Members: p.o.Count, MembersRaw: p.o.Count}
		return
	}
	p.e.Extras = append(p.e.Extras, p.o.Extras...)
}

// keep makes Extras of members, and counts all members of an object.
func (p *parser) keep(o *members.Object, list ...int) []session.Extra {
	for _, i := range list {
		o.Keep(i)
	}
	p.e.Account.Add(o.Account())
	return o.Extras
}

// Status returns the end of a turn in the words of sessions.
func Status(word string) string {
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
	p.e.Extras = append(p.e.Extras, p.keep(&p.in)...)
	return true
}

func (p *parser) part(raw []byte, n int) {
	o := &p.in
	if !o.Split(raw, "", []string{"type", "text", "name", "input", "id", "thinking", "signature"}) {
		p.e.Parts = append(p.e.Parts, &session.Opaque{Kind: "part", Raw: members.Bare("part", raw), Source: of()})
		return
	}
	switch kind := o.Text(0); {
	case kind == "text":
		text := o.Text(1)
		p.text(text, p.keep(o, 2, 3, 4, 5, 6))
	case kind == "thinking" && rawjson.IsText(o.Raw(5)):
		t := &session.Thinking{Text: o.Text(5), Signature: o.Text(6), Source: of()}
		t.Extras = p.keep(o, 1, 2, 3, 4)
		p.e.Parts = append(p.e.Parts, t)
	case kind == "tool_use":
		call := &session.ToolCall{ID: o.Text(4), Name: o.Text(2), Source: of()}
		call.Kind = toolmap.Kind(call.Name)
		if call.ID == "" { // lines have no ids; the place is one
			call.ID = "line-" + strconv.Itoa(p.e.Line) + "." + strconv.Itoa(n)
		}
		if o.Has(3) {
			call.Input = members.Bare("input", o.Raw(3))
		}
		call.Extras = p.keep(o, 1, 5, 6)
		p.e.Parts = append(p.e.Parts, call)
	default:
		p.e.Account.Members += o.Count
		p.e.Account.MembersRaw += o.Count
		p.e.Parts = append(p.e.Parts, &session.Opaque{Kind: kind, Raw: members.Bare("part", raw), Source: of()})
	}
}

func (p *parser) text(text string, extras []session.Extra) {
	if p.e.Role == session.User {
		p.e.Parts = append(p.e.Parts, Prompt(text, extras)...)
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
