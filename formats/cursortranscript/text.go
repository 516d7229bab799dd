package cursortranscript

import (
	"io"
	"strings"

	"rehome/formats"
	"rehome/formats/internal/jsonl"
	"rehome/formats/internal/lines"
	"rehome/formats/loss"
	"rehome/formats/session"
	"rehome/formats/store"
)

// maxBlock is how much of a message is held.
const maxBlock = 16 << 20

// The marks of the old text, each at the beginning of a line.
const (
	userMark     = "user:"
	answerMark   = "assistant:"
	thinkingMark = "[Thinking]"
	callMark     = "[Tool call]"
	resultMark   = "[Tool result]"
	endMark      = "Turn ended:"
)

// text sets up a session of the old text. A first pass finds how turns ended,
// which stands behind them, and whether there are results.
func (d *decoder) text(r *io.SectionReader, s *session.Session) (results bool, err error) {
	var ends []string
	prompt := false // what the user wrote means nothing but itself
	for l, err := range lines.Each(d.ctx, r, jsonl.MaxLine) {
		if err != nil {
			return false, err
		}
		switch line := trimmed(l.Bytes); {
		case line == userMark:
			ends, prompt = append(ends, ""), true
		case line == answerMark:
			prompt = false
		case strings.HasPrefix(line, resultMark) && !prompt:
			results = true
		case strings.HasPrefix(line, endMark) && len(ends) > 0 && len(line) < 64<<10:
			prompt = false
			ends[len(ends)-1] = strings.TrimSpace(line[len(endMark):])
		}
	}
	s.Head.Turns = int64(len(ends))
	s.Messages = func(yield func(*session.Message, error) bool) {
		b := &blocks{file: d.f.Path, note: d.view.OnLoss, ends: ends, say: func(m *session.Message) bool { return yield(m, nil) }}
		defer func() { d.sel.Account.Add(b.account) }()
		for l, err := range lines.Each(d.ctx, io.NewSectionReader(r, 0, r.Size()), jsonl.MaxLine) {
			if err != nil {
				yield(nil, jsonl.Failure(d.ctx, name, d.f.Path, err))
				return
			}
			if b.line(jsonl.Text(l)); b.over {
				return
			}
			if b.turn > len(ends) {
				break
			}
		}
		if b.turn != len(ends) {
			yield(nil, jsonl.Failure(d.ctx, name, d.f.Path, formats.Changed("", "")))
			return
		}
		b.close()
	}
	return results, nil
}

// said returns the text of a line without the marks of the old text.
func said(line string) string {
	line = strings.TrimSpace(line)
	for _, mark := range []string{userMark, answerMark, thinkingMark, callMark, resultMark, endMark} {
		if rest, ok := strings.CutPrefix(line, mark); ok {
			return rest
		}
	}
	return line
}

func trimmed(b []byte) string { return strings.TrimRight(string(b), " \t\r") }

// blocks makes messages of the old text.
type blocks struct {
	file    string
	note    loss.Sink
	say     func(*session.Message) bool
	over    bool
	account session.Account
	ends    []string

	turn, calls int
	role        session.Role
	first, last int
	mark        string // of the part that lines are added to
	part        session.Part
	parts       []session.Part
	words       strings.Builder
	args        []argument
	argued      int                 // bytes of them
	called      int                 // line of the open call
	waiting     map[string][]string // calls without a result, by the tool's name
	n           int
}

type argument struct {
	name  string
	value []byte
}

func (b *blocks) line(l jsonl.Line) {
	if !l.Account(&b.account, b.note, store.Addr{File: b.file, Line: l.Number}) {
		return
	}
	b.account.Converted++
	line := trimmed(l.Bytes)
	switch {
	case line == userMark:
		b.open(session.User, l.Number)
		b.turn++
		return
	case line == answerMark:
		b.open(session.Assistant, l.Number)
		return
	case strings.HasPrefix(line, endMark):
		b.close()
		return
	case b.role == "":
		if line == "" {
			return
		}
		b.open(session.System, l.Number)
	}
	b.last = l.Number
	for _, mark := range []string{thinkingMark, callMark, resultMark} {
		if rest, ok := strings.CutPrefix(line, mark); ok && b.role != session.User {
			b.begin(mark, strings.TrimSpace(rest))
			return
		}
	}
	b.add(strings.TrimSuffix(string(l.Bytes), "\r"))
}

// open begins a message.
func (b *blocks) open(role session.Role, line int) {
	b.close()
	b.role, b.first, b.last = role, line, line
}
