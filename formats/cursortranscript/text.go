package cursortranscript

import (
	"context"
	"fmt"
	"io"
	"os"
	"strings"

	"rehome/formats"
	"rehome/formats/internal/lines"
	"rehome/formats/loss"
	"rehome/formats/session"
	"rehome/formats/store"
)

// mostLine bounds a line of the old text; mostBlock what is held of a message.
const (
	mostLine  = 64 << 20
	mostBlock = 16 << 20
)

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
func (f *folder) text(ctx context.Context, file *os.File, e *entry, s *session.Session, v formats.View, sel session.Selection) error {
	var ends []string
	prompt := false // what the user wrote means nothing but itself
	for l, err := range lines.Each(ctx, io.NewSectionReader(file, 0, s.Bytes), mostLine) {
		if err != nil {
			return err
		}
		switch line := trimmed(l.Bytes); {
		case line == userMark:
			ends, prompt = append(ends, ""), true
		case line == answerMark:
			prompt = false
		case strings.HasPrefix(line, resultMark) && !prompt:
			e.results = true
		case strings.HasPrefix(line, endMark) && len(ends) > 0 && len(line) < 64<<10:
			prompt = false
			ends[len(ends)-1] = strings.TrimSpace(line[len(endMark):])
		}
	}
	s.Turns = int64(len(ends))
	s.Messages = func(yield func(*session.Message, error) bool) {
		b := &blocks{file: e.best.Path, note: v.OnLoss, ends: ends, say: func(m *session.Message) bool { return yield(m, nil) }}
		defer func() { sel.Account.Add(b.tally) }()
		for l, err := range lines.Each(ctx, io.NewSectionReader(file, 0, s.Bytes), mostLine) {
			if err != nil {
				yield(nil, failure(ctx, e.best.Path, err))
				return
			}
			if b.line(l); b.over {
				return
			}
			if b.turn > len(ends) {
				break
			}
		}
		if b.turn != len(ends) {
			yield(nil, failure(ctx, e.best.Path, &formats.Error{Err: fmt.Errorf("%w: it changed while it was read", formats.ErrBusy), Hint: "quit the client that is writing to it and try again"}))
			return
		}
		b.close()
	}
	return nil
}

func trimmed(b []byte) string { return strings.TrimRight(string(b), " \t\r") }

// blocks makes messages of the old text.
type blocks struct {
	file  string
	note  loss.Sink
	say   func(*session.Message) bool
	over  bool
	tally session.Account
	ends  []string

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

func (b *blocks) line(l lines.Line) {
	b.tally.Read++
	if l.Long {
		b.tally.Unreadable++
		b.note.Add(loss.Loss{Code: loss.LineTooLong, At: store.Addr{File: b.file, Line: l.Number}, Args: []string{fmt.Sprintf("%d MB", mostLine>>20)}})
		return
	}
	b.tally.Converted++
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
