package diff

import (
	"context"
	"crypto/sha256"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"rehome/formats/session"
)

// Kind is what a part of a session is.
type Kind string

// The kinds.
const (
	Prompt    Kind = "prompt"
	Answer    Kind = "answer"
	Reasoning Kind = "reasoning"
	Call      Kind = "call"   // with its result
	Result    Kind = "result" // without a call
	Summary   Kind = "summary"
	Media     Kind = "media"
	Context   Kind = "context" // what the client added
	Boundary  Kind = "boundary"
	Other     Kind = "other"
	File      Kind = "file" // a snapshot of one
)

// maxItems bounds the parts of a session that are told apart.
const maxItems = 1 << 20

type digest [16]byte

func digestOf(parts ...string) (d digest) {
	h := sha256.New()
	var n [8]byte
	for _, p := range parts {
		binary.LittleEndian.PutUint64(n[:], uint64(len(p)))
		h.Write(n[:])
		h.Write([]byte(p))
	}
	copy(d[:], h.Sum(nil))
	return d
}

// item is a part of a session: a digest of it and where it is.
type item struct {
	key     string // digest of what is aligned
	result  digest // of the result of a call
	turn    int32
	message int32
	answer  int32 // the message of the result of a call
}

// items are the parts of a session.
type items struct {
	head  digest
	list  []item
	lines []digest // of whole messages, if details are compared
	more  int      // parts beyond maxItems
	rest  digest   // of them, and of the messages beyond
}

func (it *items) sum() digest {
	h := sha256.New()
	h.Write(it.head[:])
	for _, one := range it.list {
		h.Write([]byte(one.key))
		h.Write(one.result[:])
	}
	for _, l := range it.lines {
		h.Write(l[:])
	}
	h.Write(it.rest[:])
	fmt.Fprint(h, it.more, len(it.lines))
	var d digest
	copy(d[:], h.Sum(nil))
	return d
}

// beyond adds the digest of what is not told apart.
func (it *items) beyond(d digest) { it.rest = digestOf(string(it.rest[:]), string(d[:])) }

// digests reads a session. If cross is set, only what any client has is compared.
func digests(ctx context.Context, s *session.Session, cross bool) (*items, error) {
	it := &items{}
	calls, buf := map[string]int{}, []byte(nil)
	err := walkParts(ctx, s, cross, func(p *part) {
		if p.kind == "" { // the message itself
			if cross {
				return
			}
			if d := digestOf(string(line(&buf, p.of))); len(it.lines) < maxItems {
				it.lines = append(it.lines, d)
			} else {
				it.beyond(d)
			}
			return
		}
		if r, ok := p.part.(*session.ToolResult); ok {
			if i, ok := calls[r.Call]; ok {
				it.list[i].result, it.list[i].answer = resultDigest(r, cross), p.message
				delete(calls, r.Call)
				return
			}
		}
		if len(it.list) == maxItems {
			it.more++
			it.beyond(p.digest(cross))
			return
		}
		if c, ok := p.part.(*session.ToolCall); ok {
			calls[c.ID] = len(it.list)
		}
		d := p.digest(cross)
		it.list = append(it.list, item{key: string(d[:]), turn: p.turn, message: p.message, answer: p.message})
	})
	if err != nil {
		return nil, err
	}
	it.head = headDigest(s, cross)
	return it, nil
}

// line returns a message as a line of JSON, without the address of its records.
func line(buf *[]byte, m *session.Message) []byte {
	k := *m
	k.Origin = nil
	*buf = session.AppendMessage((*buf)[:0], &k)
	return *buf
}

// part is a part of a session while it is read, or a whole message, before its parts.
type part struct {
	kind    Kind // "" for a message
	turn    int32
	message int32
	of      *session.Message
	part    session.Part // nil for a message and a file
	file    *session.File
}

// walkParts yields the messages of a session and their parts, then the files.
func walkParts(ctx context.Context, s *session.Session, cross bool, visit func(*part)) error {
	p := part{message: -1}
	err := session.Each(ctx, s.Messages, func(m *session.Message) error {
		p.message++
		if m.Turn != nil {
			p.turn = int32(m.Turn.Number)
		}
		p.of, p.part, p.kind = m, nil, ""
		visit(&p)
		for _, one := range m.Parts {
			p.part, p.kind = one, kindOf(m, one)
			if !cross || !slices.Contains([]Kind{Context, Other, Boundary}, p.kind) {
				visit(&p)
			}
		}
		return nil
	})
	if err != nil || cross {
		return err
	}
	return session.Each(ctx, s.Files, func(f *session.File) error {
		p.of, p.part, p.kind, p.file, p.turn = nil, nil, File, f, 0
		visit(&p)
		return nil
	})
}

func kindOf(m *session.Message, p session.Part) Kind {
	switch p.(type) {
	case *session.Text:
		switch {
		case m.Role == session.System || m.Simulated:
			return Context
		case m.Role == session.User:
			return Prompt
		}
		return Answer
	case *session.Thinking:
		return Reasoning
	case *session.ToolCall:
		return Call
	case *session.ToolResult:
		return Result
	case *session.Summary:
		return Summary
	case *session.Media:
		return Media
	case *session.Injected:
		return Context
	case *session.Boundary:
		return Boundary
	}
	return Other
}

// digest returns the digest of what a part says.
func (p *part) digest(cross bool) digest {
	kind := string(p.kind)
	switch t := p.part.(type) {
	case *session.Text:
		return digestOf(kind, strings.TrimSpace(t.Text))
	case *session.Thinking:
		return digestOf(kind, strings.TrimSpace(t.Text))
	case *session.Summary:
		return digestOf(kind, strings.TrimSpace(t.Text))
	case *session.Injected:
		return digestOf(kind, t.Tag, t.Text, string(t.Data))
	case *session.Media:
		return digestOf(kind, string(t.Data))
	case *session.Opaque:
		return digestOf(kind, t.Kind, string(t.Raw))
	case *session.Boundary:
		return digestOf(kind)
	case *session.ToolResult:
		d := resultDigest(t, cross)
		return digestOf(kind, string(d[:]))
	case *session.ToolCall:
		if cross {
			return digestOf(kind, strings.ToLower(first(t.Kind, t.Name)), mainArgument(t))
		}
		return digestOf(kind, t.Name, t.Kind, string(t.Input), string(t.Args), t.Child)
	}
	if p.file != nil {
		f := *p.file
		f.Origin = nil
		return digestOf(kind, string(session.AppendFile(nil, &f)))
	}
	return digestOf(kind)
}

func first(a, b string) string {
	if a != "" {
		return a
	}
	return b
}

// resultDigest returns the digest of a result. Clients record and word results in their
// own ways; across clients, only whether it is an error counts.
func resultDigest(r *session.ToolResult, cross bool) digest {
	text := []string{fmt.Sprint(r.Error)}
	if cross {
		return digestOf(text...)
	}
	for _, p := range r.Content {
		switch t := p.(type) {
		case *session.Text:
			text = append(text, strings.TrimSpace(t.Text))
		case *session.Media:
			text = append(text, string(t.Data))
		case *session.Opaque:
			text = append(text, string(t.Raw))
		}
	}
	return digestOf(append(text, r.Status, string(r.Value))...)
}

// mainArguments are the arguments that tell what a call is about, most telling first.
var mainArguments = [...]string{"command", "cmd", "path", "filePath", "file_path", "target_file", "targetFile", "notebook_path", "pattern", "globPattern", "glob_pattern",
	"query", "searchTerm", "search_term", "url", "description", "prompt"}

func mainArgument(c *session.ToolCall) string {
	for _, raw := range []session.Raw{c.Args, c.Input} {
		var args map[string]json.RawMessage
		if json.Unmarshal(raw, &args) != nil {
			continue
		}
		for _, name := range mainArguments {
			var s string
			if json.Unmarshal(args[name], &s) == nil && s != "" {
				return s
			}
		}
	}
	return ""
}
