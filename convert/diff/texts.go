package diff

import (
	"bytes"
	"cmp"
	"context"
	"slices"
	"strings"
	"unicode/utf8"

	"rehome/formats/session"
	"rehome/internal/udiff"
)

// Limits of what is held of one side of a session.
const (
	maxText  = 256 << 10 // of a text
	maxTexts = 16 << 20  // of all
)

// wanted are the parts and messages of a pair whose content is to be read.
type wanted struct {
	parts    [2]map[int]bool
	lines    [2]map[int]bool
	messages []messagePair
}

// messagePair is a message that says the same on both sides, but whose details differ.
type messagePair struct {
	at   [2]int // -1: only the other side has it
	turn int
}

func newWanted(a, b *items, edits []udiff.Change) *wanted {
	w := &wanted{parts: [2]map[int]bool{{}, {}}, lines: [2]map[int]bool{{}, {}}}
	touched := [2]map[int32]bool{{}, {}}
	want := func(side, n int, it *items) {
		w.parts[side][n] = true
		touched[side][it.list[n].message], touched[side][it.list[n].answer] = true, true
	}
	var even [][2]int
	i, j := 0, 0
	same := func(end int) {
		for ; i < end; i, j = i+1, j+1 {
			if a.list[i].result != b.list[j].result {
				want(0, i, a)
				want(1, j, b)
			}
			even = append(even, [2]int{i, j})
		}
	}
	for _, e := range edits {
		same(e.OldStart)
		for ; i < e.OldStart+e.Removed; i++ {
			want(0, i, a)
		}
		for ; j < e.NewStart+e.Added; j++ {
			want(1, j, b)
		}
	}
	same(len(a.list))
	last := [2]int32{-1, -1}
	for _, at := range even {
		m, n := a.list[at[0]].message, b.list[at[1]].message
		if last == [2]int32{m, n} || touched[0][m] || touched[1][n] || int(m) >= len(a.lines) || int(n) >= len(b.lines) || a.lines[m] == b.lines[n] {
			continue
		}
		last = [2]int32{m, n}
		w.lines[0][int(m)], w.lines[1][int(n)] = true, true
		w.messages = append(w.messages, messagePair{[2]int{int(m), int(n)}, int(b.list[at[1]].turn)})
	}
	w.loose(a, b, touched)
	return w
}

// loose adds the messages that differ and have no part of their own, such as those of
// results.
func (w *wanted) loose(a, b *items, touched [2]map[int32]bool) {
	var list [2][]int
	var lines [2][]string
	for side, it := range []*items{a, b} {
		for _, one := range it.list {
			touched[side][one.message] = true
		}
		for m, l := range it.lines {
			if !touched[side][int32(m)] {
				list[side], lines[side] = append(list[side], m), append(lines[side], string(l[:]))
			}
		}
	}
	for _, c := range udiff.Changes(lines[0], lines[1]) {
		for i := range max(c.Removed, c.Added) {
			m := messagePair{at: [2]int{-1, -1}}
			if i < c.Removed {
				m.at[0] = list[0][c.OldStart+i]
				w.lines[0][m.at[0]], m.turn = true, a.turnAt(m.at[0])
			}
			if i < c.Added {
				m.at[1] = list[1][c.NewStart+i]
				w.lines[1][m.at[1]], m.turn = true, b.turnAt(m.at[1])
			}
			w.messages = append(w.messages, m)
		}
	}
}

// turnAt returns the turn of a message.
func (it *items) turnAt(message int) int {
	i, _ := slices.BinarySearchFunc(it.list, message, func(one item, m int) int { return cmp.Compare(int(one.message), m) })
	if i == 0 {
		return 0
	}
	return int(it.list[i-1].turn)
}

// texts are what was wanted of one side.
type texts struct {
	head   []byte
	parts  map[int]*Part
	lines  map[int][]byte
	left   int // bytes that may still be held, and hashes of lines of longer texts
	hashes int
}

// collect reads what is wanted of a session.
func (w *wanted) collect(ctx context.Context, s *session.Session, cross bool, side int) (*texts, error) {
	t := &texts{parts: map[int]*Part{}, lines: map[int][]byte{}, left: maxTexts, hashes: maxLines}
	n, calls, buf := 0, map[string]int{}, []byte(nil)
	err := walkParts(ctx, s, cross, func(p *part) {
		if p.kind == "" {
			if w.lines[side][int(p.message)] {
				if l := line(&buf, p.of); len(l) <= min(maxText, t.left) {
					t.lines[int(p.message)], t.left = bytes.Clone(l), t.left-len(l)
				}
			}
			return
		}
		if r, ok := p.part.(*session.ToolResult); ok {
			if i, ok := calls[r.Call]; ok {
				delete(calls, r.Call)
				if at := t.parts[i]; at != nil {
					at.Result = t.result(r, at)
				}
				return
			}
		}
		if c, ok := p.part.(*session.ToolCall); ok {
			calls[c.ID] = n
		}
		if w.parts[side][n] {
			t.parts[n] = t.part(p)
		}
		n++
	})
	t.head = session.AppendHead(nil, comparable(s, cross))
	return t, err
}

// cut returns as much of a text as may be held.
func (t *texts) cut(s string, p *Part) string {
	if n := min(maxText, t.left); len(s) > n {
		for n > 0 && !utf8.RuneStart(s[n]) {
			n--
		}
		s, p.Cut = s[:n], true
	}
	t.left -= len(s)
	return strings.Clone(s)
}

// text returns as much of a text of a part as may be held.
func (t *texts) text(s string, p *Part, name string) string {
	if len(s) > min(maxText, t.left) {
		t.long(p, name, s)
	}
	return t.cut(s, p)
}

// raw returns a JSON value, if it may be held.
func (t *texts) raw(r session.Raw, p *Part, name string) session.Raw {
	if len(r) > min(maxText, t.left) {
		t.long(p, name, string(r))
		return nil
	}
	t.left -= len(r)
	return bytes.Clone(r)
}

func (t *texts) part(p *part) *Part {
	out := &Part{Kind: p.kind, Turn: int(p.turn)}
	switch one := p.part.(type) {
	case *session.Text:
		out.Text = t.text(one.Text, out, "text")
	case *session.Thinking:
		out.Text = t.text(one.Text, out, "text")
	case *session.Summary:
		out.Text = t.text(one.Text, out, "text")
	case *session.Injected:
		out.Name, out.Text = t.cut(one.Tag, out), t.text(one.Text+string(one.Data), out, "text")
	case *session.Media:
		out.Name = t.cut(one.Mime, out)
	case *session.Opaque:
		out.Name, out.Text = t.cut(one.Kind, out), t.text(string(one.Raw), out, "text")
	case *session.ToolCall:
		out.Name = t.cut(first(one.Kind, one.Name), out)
		out.Call = &session.ToolCall{Name: t.cut(one.Name, out), Kind: t.cut(one.Kind, out), Input: t.raw(one.Input, out, "input"), Args: t.raw(one.Args, out, "args")}
	case *session.ToolResult:
		out.Result = t.result(one, out)
	}
	if p.file != nil {
		out.Name = t.cut(p.file.Path, out)
		if b := p.file.After; b != nil && utf8.Valid(b.Bytes) {
			out.Text = t.text(string(b.Bytes), out, "text")
		}
	}
	return out
}

func (t *texts) result(r *session.ToolResult, p *Part) *session.ToolResult {
	out := &session.ToolResult{Status: t.cut(r.Status, p), Error: r.Error, Value: t.raw(r.Value, p, "result.value")}
	if text := Output(r); text != "" {
		out.Content = []session.Part{&session.Text{Text: t.text(text, p, "result.output")}}
	}
	return out
}

// Output returns the text of a result.
func Output(r *session.ToolResult) string {
	var b strings.Builder
	for _, one := range r.Content {
		if text, ok := one.(*session.Text); ok {
			b.WriteString(text.Text)
		}
	}
	return b.String()
}
