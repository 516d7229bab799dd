package cursortranscript

import (
	"fmt"
	"strings"

	"rehome/formats/internal/toolmap"
	"rehome/formats/internal/transcript"
	"rehome/formats/loss"
	"rehome/formats/session"
	"rehome/formats/store"
)

// begin begins a part.
func (b *blocks) begin(mark, rest string) {
	b.rest()
	b.mark = mark
	switch mark {
	case thinkingMark:
		b.part = &session.Thinking{}
		b.words.WriteString(rest)
	case callMark:
		b.calls++
		b.called = b.last
		b.part = &session.ToolCall{ID: fmt.Sprintf("call-%d", b.calls), Name: rest, Kind: toolmap.Kind(rest)}
	case resultMark:
		b.part = &session.ToolResult{Call: b.answered(rest)}
	}
}

// answered is the call that a result belongs to: the first of its name that has
// none yet.
func (b *blocks) answered(name string) string {
	list := b.waiting[name]
	if len(list) == 0 {
		return ""
	}
	b.waiting[name] = list[1:]
	return list[0]
}

// add adds a line to the open part.
func (b *blocks) add(line string) {
	if b.mark == callMark {
		if b.argued < maxBlock && b.argument(line) {
			return
		}
		b.rest()
	}
	if b.part == nil {
		if strings.TrimSpace(line) == "" {
			return
		}
		b.part = &session.Text{}
	} else {
		b.words.WriteByte('\n')
	}
	b.words.WriteString(line)
	if b.words.Len() > maxBlock {
		b.rest()
	}
}

// argument takes an indented line below a call.
func (b *blocks) argument(line string) bool {
	inner, ok := strings.CutPrefix(line, "  ")
	if !ok {
		return false
	}
	name, value, ok := strings.Cut(inner, ":")
	if ok && name != "" && !strings.ContainsAny(name, " \t\"'") {
		b.argued += len(inner)
		b.args = append(b.args, argument{name, []byte(strings.TrimPrefix(value, " "))})
		return true
	}
	if len(b.args) == 0 {
		return false
	}
	b.argued += len(inner)
	last := &b.args[len(b.args)-1]
	last.value = append(append(last.value, '\n'), inner...)
	return true
}

// rest ends the open part.
func (b *blocks) rest() {
	words := strings.Trim(b.words.String(), "\n")
	b.words.Reset()
	part := b.part
	b.part, b.mark = nil, ""
	switch t := part.(type) {
	case nil:
		return
	case *session.Text:
		if b.role == session.User {
			b.parts = append(b.parts, transcript.Prompt(words, nil)...)
			return
		}
		t.Text = words
	case *session.Thinking:
		t.Text = words
	case *session.ToolCall:
		if t.Input = input(b.args); len(b.args) > 0 {
			b.note.Add(loss.Loss{Code: loss.ArgumentsText, At: store.Addr{File: b.file, Line: b.called}})
		}
		b.args, b.argued = nil, 0
		if b.waiting == nil {
			b.waiting = map[string][]string{}
		}
		b.waiting[t.Name] = append(b.waiting[t.Name], t.ID)
	case *session.ToolResult:
		if words != "" {
			t.Content = []session.Part{&session.Text{Text: words}}
		}
		b.put(session.Assistant)
		b.parts = append(b.parts, t)
		b.put(session.Tool)
		return
	}
	b.parts = append(b.parts, part)
}

// input spells arguments as an object of strings: what type they had, the text
// does not tell.
func input(args []argument) session.Raw {
	raw := session.Raw{'{'}
	for i, a := range args {
		if i > 0 {
			raw = append(raw, ',')
		}
		raw = session.AppendString(raw, a.name)
		raw = session.AppendString(append(raw, ':'), string(a.value))
	}
	return append(raw, '}')
}

// close ends the open message.
func (b *blocks) close() {
	b.rest()
	if b.role == session.User || len(b.parts) > 0 {
		b.put(b.role)
	}
	b.role = ""
}

// put hands out what there is as a message.
func (b *blocks) put(role session.Role) {
	if b.over || len(b.parts) == 0 && role != session.User {
		return
	}
	b.n++
	m := &session.Message{ID: fmt.Sprintf("text-%d", b.n), Role: role, Parts: b.parts}
	if b.first > 0 {
		m.Origin = []string{fmt.Sprintf("%s:%d-%d", b.file, b.first, b.last)}
	}
	b.parts = nil
	if role == session.User {
		m.Turn = b.record()
	}
	finish(m)
	b.over = !b.say(m)
	b.first = b.last
}

// record is the turn that a prompt begins.
func (b *blocks) record() *session.Turn {
	word, why, _ := strings.Cut(b.ends[b.turn-1], ":")
	if word = strings.TrimSpace(word); word == "completed" {
		word = "success"
	}
	return &session.Turn{Number: b.turn, Status: transcript.Status(word), Error: strings.TrimSpace(why)}
}
