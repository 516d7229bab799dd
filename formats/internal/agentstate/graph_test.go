package agentstate

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"iter"
	"strings"
	"testing"

	"rehome/formats/loss"
	"rehome/formats/session"
	"rehome/formats/store"
	"rehome/internal/rawjson"
)

// graph is a store of blobs for tests, with a writer of protobuf of its own.
type graph struct {
	blobs map[ID][]byte
	order []ID
	reads map[ID]int
}

func newGraph() *graph { return &graph{blobs: map[ID][]byte{}, reads: map[ID]int{}} }

func (g *graph) put(parts ...[]byte) ID {
	b := bytes.Join(parts, nil)
	id := ID(sha256.Sum256(b))
	if _, ok := g.blobs[id]; !ok {
		g.order = append(g.order, id)
	}
	g.blobs[id] = b
	return id
}

func (g *graph) Blob(ctx context.Context, id ID) ([]byte, error) {
	g.reads[id]++
	b, ok := g.blobs[id]
	if !ok {
		return nil, nil
	}
	return append([]byte{}, b...), nil // nobody may keep what an earlier call gave
}

func (g *graph) all() iter.Seq2[ID, error] {
	return func(yield func(ID, error) bool) {
		for _, id := range g.order {
			if !yield(id, nil) {
				return
			}
		}
	}
}

func vint(num int, v uint64) []byte {
	return binary.AppendUvarint(binary.AppendUvarint(nil, uint64(num)<<3), v)
}

func field(num int, parts ...[]byte) []byte {
	body := bytes.Join(parts, nil)
	return append(binary.AppendUvarint(binary.AppendUvarint(nil, uint64(num)<<3|2), uint64(len(body))), body...)
}

func str(num int, s string) []byte { return field(num, []byte(s)) }

func refs(num int, ids ...ID) (out []byte) {
	for _, id := range ids {
		out = append(out, field(num, id[:])...)
	}
	return out
}

func (g *graph) json(format string, args ...any) ID {
	return g.put([]byte(fmt.Sprintf(format, args...)))
}

// turn puts an agent's turn with its user's message and its steps.
func (g *graph) turn(prompt, request string, steps ...[]byte) ID {
	user := g.put(str(1, prompt), str(2, "m-"+request))
	var ids []ID
	for _, s := range steps {
		ids = append(ids, g.put(s))
	}
	return g.put(field(1, refs(1, user), refs(2, ids...), str(3, request)))
}

// call is a step that is a tool's call.
func call(kind int, id string, args, result []byte) []byte {
	body := field(1, args)
	if result != nil {
		body = append(body, field(2, result)...)
	}
	return field(2, field(kind, body), str(57, id))
}

func says(text string) []byte { return field(1, str(1, text)) }

// read is what a state decodes to: lines, notes, and the state itself.
type read struct {
	*State
	head  string
	lines []string
	msgs  []*session.Message
	files []string
	notes []string
}

func (r *read) text() string { return strings.Join(r.lines, "\n") }

func (g *graph) read(t *testing.T, root ID, history bool) *read {
	t.Helper()
	out := &read{}
	o := Options{Blobs: g, Root: root, History: history, All: g.all(),
		At: func(id ID) store.Addr { return store.Addr{File: "blobs/" + id.Short()} },
		Note: func(n loss.Loss) {
			out.notes = append(out.notes, fmt.Sprint(n.Kind(), " ", n.At.String(), ": ", strings.Join(append([]string{string(n.Code)}, n.Args...), " ")))
		}}
	s, err := Read(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	out.walk(t, s)
	return out
}

func (r *read) walk(t *testing.T, s *State) {
	t.Helper()
	r.State = s
	head := &session.Session{}
	s.Fill(head)
	r.head = string(session.AppendHead(nil, head))
	ids := map[string]bool{}
	for m, err := range s.Messages(t.Context()) {
		if err != nil {
			t.Fatal(err)
		}
		line := session.AppendMessage(nil, m)
		if !rawjson.Inline(line) {
			t.Errorf("no line of JSON: %s", line)
		}
		if ids[m.ID] {
			t.Errorf("two messages are called %s", m.ID)
		}
		ids[m.ID] = true
		r.lines, r.msgs = append(r.lines, string(line)), append(r.msgs, m)
	}
	if head.Files != nil {
		for f, err := range head.Files {
			if err != nil {
				t.Fatal(err)
			}
			r.files = append(r.files, string(session.AppendFile(nil, f)))
		}
	}
	if n, taken, extras := s.Members(); n != taken+extras {
		t.Errorf("%d members, %d taken, %d extras", n, taken, extras)
	}
}

// has reports whether some line, file or the head holds a text.
func (r *read) has(text string) bool {
	return strings.Contains(r.head+"\n"+r.text()+"\n"+strings.Join(r.files, "\n"), text)
}

func (r *read) noted(kind, text string) bool {
	for _, n := range r.notes {
		if strings.HasPrefix(n, kind+" ") && strings.Contains(n, text) {
			return true
		}
	}
	return false
}

// codes are those of the notes.
func (r *read) codes() string {
	var out []string
	for _, n := range r.notes {
		_, words, _ := strings.Cut(n, ": ")
		code, _, _ := strings.Cut(words, " ")
		out = append(out, code)
	}
	return strings.Join(out, " ")
}

// shape is the conversation in short: roles, kinds of parts, texts.
func (r *read) shape() string {
	var out []string
	for _, m := range r.msgs {
		line := string(m.Role)
		if m.Turn != nil {
			line = fmt.Sprint(m.Turn.Number, m.Turn.Kind, " ", line)
		}
		if m.Archived {
			line = "(" + line + ")"
		}
		if m.Branch != "" {
			line = m.Branch + " " + line
		}
		for _, p := range m.Parts {
			line += " " + partShape(p)
		}
		out = append(out, line)
	}
	return strings.Join(out, "\n")
}

func partShape(p session.Part) string {
	of := func(o session.Source) string {
		if o.From != "" {
			return "*"
		}
		return ""
	}
	switch p := p.(type) {
	case *session.Text:
		return fmt.Sprintf("%q%s", p.Text, of(p.Source))
	case *session.Injected:
		return "<" + p.Tag + ">" + of(p.Source)
	case *session.Thinking:
		return "thinks" + of(p.Source)
	case *session.ToolCall:
		return "calls:" + p.Name + ":" + p.ID + of(p.Source)
	case *session.ToolResult:
		return "gives:" + p.Call + ":" + p.Status + of(p.Source)
	case *session.Media:
		return "media" + of(p.Source)
	case *session.Summary:
		return fmt.Sprintf("summary:%q%s", p.Text, of(p.Source))
	case *session.Boundary:
		return fmt.Sprint("boundary:", p.Archived)
	}
	return fmt.Sprintf("%T", p)
}

func want(t *testing.T, r *read, shape ...string) {
	t.Helper()
	if got := r.shape(); got != strings.Join(shape, "\n") {
		t.Errorf("\n got:\n%s\nwant:\n%s\nnotes: %v", got, strings.Join(shape, "\n"), r.notes)
	}
}
