package canonical

import (
	"errors"
	"fmt"
	"iter"
	"math/rand/v2"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"rehome/formats"
	"rehome/formats/formatstest"
	"rehome/formats/loss"
	"rehome/formats/session"
	"rehome/schemas"
)

// whole is a session with its streams in memory.
type held struct {
	session  session.Session
	messages []*session.Message
	files    []*session.File
}

func (h *held) stream() *session.Session {
	s := h.session
	s.Messages = list(h.messages)
	s.Files = list(h.files)
	return &s
}

func list[T any](of []T) iter.Seq2[T, error] {
	return func(yield func(T, error) bool) {
		for _, one := range of {
			if !yield(one, nil) {
				return
			}
		}
	}
}

// spell is the text of a session, line by line.
func (h *held) spell() []string {
	out := []string{string(session.AppendHead(nil, &h.session))}
	for _, m := range h.messages {
		out = append(out, string(session.AppendMessage(nil, m)))
	}
	for _, f := range h.files {
		out = append(out, string(session.AppendFile(nil, f)))
	}
	return out
}

func write(t *testing.T, dir string, list ...*held) string {
	t.Helper()
	path, draft := filepath.Join(dir, "out.jsonl"), filepath.Join(t.TempDir(), "draft")
	var all []byte
	for _, h := range list {
		d, err := sink{}.Put(t.Context(), h.stream(), formats.SessionBuild{Path: draft})
		if err == nil {
			err = d.Verify(t.Context())
		}
		if err != nil {
			t.Fatal(err)
		}
		one, err := os.ReadFile(draft)
		if err = errors.Join(err, os.Remove(draft), os.WriteFile(path, append(all, one...), 0o666)); err != nil {
			t.Fatal(err)
		}
		all = append(all, one...)
	}
	return path
}

// read decodes everything at path, with what was noted on the way.
func read(t *testing.T, path string, sel session.Selection) (out []*held, notes []string) {
	t.Helper()
	l, err := formats.Locate(path)
	if err != nil {
		t.Fatal(err)
	}
	view := formats.View{OnLoss: func(n loss.Loss) {
		notes = append(notes, fmt.Sprintf("%v %v %s", n.Kind(), n.At, strings.Join(append([]string{string(n.Code)}, n.Args...), " ")))
	}}
	for s, err := range decode(t.Context(), l, view, sel) {
		if err != nil {
			notes = append(notes, err.Error())
			continue
		}
		h := &held{}
		messages, files := s.Messages, s.Files
		for m, err := range messages {
			if err != nil {
				t.Fatal(err)
			}
			h.messages = append(h.messages, clone(m))
		}
		for f, err := range files {
			if err != nil {
				t.Fatal(err)
			}
			h.files = append(h.files, clone(f))
		}
		h.session = *clone(s)
		h.session.Messages, h.session.Files = nil, nil
		out = append(out, h)
	}
	return out, notes
}

// clone copies what is only valid until the next step.
func clone[T any](v *T) *T {
	out := deep(reflect.ValueOf(v))
	return out.Interface().(*T)
}

func deep(v reflect.Value) reflect.Value {
	switch v.Kind() {
	case reflect.Pointer:
		if v.IsNil() {
			return v
		}
		out := reflect.New(v.Type().Elem())
		out.Elem().Set(deep(v.Elem()))
		return out
	case reflect.Interface:
		if v.IsNil() {
			return v
		}
		return deep(v.Elem())
	case reflect.Slice:
		if v.IsNil() {
			return v
		}
		out := reflect.MakeSlice(v.Type(), v.Len(), v.Len())
		for i := range v.Len() {
			out.Index(i).Set(deep(v.Index(i)))
		}
		return out
	case reflect.Struct:
		out := reflect.New(v.Type()).Elem()
		out.Set(v)
		for i := range v.NumField() {
			if v.Type().Field(i).IsExported() {
				out.Field(i).Set(deep(v.Field(i)))
			}
		}
		return out
	}
	return v
}

func same(t *testing.T, want, got *held) {
	t.Helper()
	a, b := want.spell(), got.spell()
	for i := range min(len(a), len(b)) {
		if a[i] != b[i] {
			t.Fatalf("line %d:\nwant %s\n got %s", i+1, a[i], b[i])
		}
		if err := schemas.Validate("canonical-1", []byte(a[i])); err != nil {
			t.Fatalf("line %d is not as its schema says: %v\n%s", i+1, err, a[i])
		}
	}
	if len(a) != len(b) {
		t.Fatalf("%d lines were written, %d came back", len(a), len(b))
	}
	if !reflect.DeepEqual(want, got) {
		t.Fatalf("not the same struct:\nwant %s\n got %s", dump(want), dump(got))
	}
}

func dump(v any) string { return fmt.Sprintf("%#v", v) }

// TestRandomSessions: whatever a session holds comes back, alone in its file
// and among others.
func TestRandomSessions(t *testing.T) {
	for seed := range 400 {
		r := &random{rand.New(rand.NewPCG(uint64(seed), 4))}
		var want []*held
		for i := range 1 + r.IntN(3) {
			h := r.whole()
			h.session.ID = fmt.Sprint(h.session.ID, i)
			want = append(want, h)
		}
		books := &session.SharedAccount{}
		path := write(t, t.TempDir(), want...)
		got, notes := read(t, path, session.Selection{Account: books})
		if len(notes) > 0 || len(got) != len(want) {
			t.Fatalf("seed %d: %d of %d sessions, notes %q", seed, len(got), len(want), notes)
		}
		var all int64
		for i := range want {
			all += int64(len(want[i].spell()))
			same(t, want[i], got[i])
		}
		if sum := books.Total(); !sum.Balanced() || sum.Read != all || sum.Converted != all || sum.Members == 0 || sum.MembersRaw != 0 {
			t.Fatalf("seed %d: %d lines, books %+v", seed, all, sum)
		}
		if seed%8 == 0 {
			formatstest.Scanned(t, Format(), path)
		}
		again := write(t, t.TempDir(), got...)
		if a, b := file(t, path), file(t, again); a != b {
			t.Fatalf("seed %d: written again it is another file", seed)
		}
	}
}

func file(t *testing.T, path string) string {
	t.Helper()
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

// random makes what a session can hold, odd things more often than life does.
type random struct{ *rand.Rand }

func (r *random) one(list ...string) string { return list[r.IntN(len(list))] }

func (r *random) text() string {
	if r.IntN(3) == 0 {
		return ""
	}
	return r.one("a", "Hello, wörld", "\x00", "tab\tnew\nline\r\n", "\xed\xa0\x80", "a\xed\xbf\xbfb", "\"quoted\\\"", "\u2028\u2029\u0085", "\u007f\u009f", "😀", "</script>",
		"\ufffd", "~2020-01-01T00:00:00.000Z", strings.Repeat("x", r.IntN(300)), `\ud800`, "\u202e", " ", "1e400", "null")
}

func (r *random) raw() session.Raw {
	if r.IntN(3) == 0 {
		return nil
	}
	return session.Raw(r.one(`{}`, `[]`, `null`, `true`, `0`, `-0.0`, `123456789012345678901234567890.5e-300`, `1E+400`, `"a\ud800"`, `""`, `{"a":1,"a":2}`,
		`{ "spaced" : [ 1 , 2 ] }`, `"\u00e9\/"`, `[[[[{"type":"message","id":{"extras":[]}}]]]]`, `{"raw":{"raw":[]}}`))
}

func some[T any](r *random, most int, make func() T) (out []T) {
	for range r.IntN(most + 1) {
		out = append(out, make())
	}
	return out
}

func (r *random) texts() []string { return some(r, 2, r.text) }

func (r *random) extras() []session.Extra {
	if r.IntN(3) > 0 {
		return nil
	}
	return some(r, 3, func() session.Extra { return session.Extra{Name: r.text(), Raw: r.raw()} })
}

func (r *random) stamp() session.Stamp {
	ms := []int64{0, 1, -1, 1700000000123, -62167219200000, -62167219200001, 253402300799999, 253402300800000, 1 << 62, -1 << 62}[r.IntN(10)]
	switch r.IntN(3) {
	case 0:
		return session.Stamp{}
	case 1:
		return session.Stored(ms)
	}
	return session.Inferred(ms)
}

func (r *random) int64() int64 { return []int64{0, 1, -1, 1 << 53, 1<<63 - 1, -1 << 63}[r.IntN(6)] }

func (r *random) count() int64 { return []int64{-1, 0, 1, 1<<63 - 1}[r.IntN(4)] }

func (r *random) bool() bool { return r.IntN(2) == 0 }

func (r *random) of() session.Source { return session.Source{From: r.one("", "prompts", "events")} }

func (r *random) blob() []byte {
	return [][]byte{nil, {}, {0}, {0xff, 0xfe, 0xfd}, []byte("text"), []byte("\xed\xa0\x80")}[r.IntN(6)]
}

func (r *random) part(deep bool) session.Part {
	switch n := r.IntN(9); {
	case n == 0:
		return &session.Text{Text: r.text(), Source: r.of(), Extras: r.extras()}
	case n == 1:
		return &session.Injected{Tag: r.text(), Text: r.text(), Data: r.raw(), Source: r.of(), Extras: r.extras()}
	case n == 2:
		return &session.Thinking{Text: r.text(), Signature: r.text(), Redacted: r.bool(), Data: r.text(), Millis: r.int64(), Start: r.stamp(), End: r.stamp(), Source: r.of(), Extras: r.extras()}
	case n == 3:
		return &session.ToolCall{ID: r.text(), Name: r.text(), Kind: r.text(), Input: r.raw(), Args: r.raw(), Start: r.stamp(), End: r.stamp(), Child: r.text(), Source: r.of(), Extras: r.extras()}
	case n == 4 && deep:
		return &session.ToolResult{Call: r.text(), Status: r.text(), Error: r.bool(), Content: some(r, 2, func() session.Part { return r.part(false) }), Value: r.raw(), Source: r.of(), Extras: r.extras()}
	case n == 5:
		return &session.Media{Mime: r.text(), Name: r.text(), Data: r.blob(), URI: r.text(), Source: r.of(), Extras: r.extras()}
	case n == 6 && deep:
		return &session.Summary{Text: r.text(), Source: r.of(), Extras: r.extras()}
	case n == 7 && deep:
		return &session.Boundary{Archived: r.IntN(3), Extras: r.extras()}
	}
	return &session.Opaque{Kind: r.text(), Raw: r.raw(), Source: r.of()}
}

func (r *random) link() session.Link {
	return session.Link{Session: r.text(), Call: r.text(), Title: r.text(), Kind: r.text(), Status: r.text()}
}

func (r *random) turn() *session.Turn {
	t := &session.Turn{Number: 1 + r.IntN(5), ID: r.text(), RequestID: r.text(), Kind: r.text(), Model: r.text(), Mode: r.text(), Status: r.text(), Error: r.text(), Start: r.stamp(), End: r.stamp(), Extras: r.extras()}
	if r.bool() {
		t.Usage = &session.Usage{Input: r.count(), Output: r.count(), CacheRead: r.count(), CacheWrite: r.count(), Reasoning: r.count(), Total: r.count()}
	}
	return t
}

func (r *random) message() *session.Message {
	m := &session.Message{ID: r.text(), Parent: r.text(), Branch: r.text(), Role: session.Role(r.one("system", "user", "assistant", "tool")), At: r.stamp(), End: r.stamp(), Model: r.text(),
		Simulated: r.bool(), Archived: r.bool(), Parts: some(r, 4, func() session.Part { return r.part(true) }), Origin: r.texts(), Extras: r.extras()}
	if r.bool() {
		m.Turn = r.turn()
	}
	return m
}

func (r *random) file() *session.File {
	body := func() *session.Body {
		if r.bool() {
			return nil
		}
		b := r.blob()
		if b == nil {
			b = []byte{}
		}
		return &session.Body{Bytes: b}
	}
	return &session.File{Path: r.text(), Before: body(), After: body(), Origin: r.texts(), Extras: r.extras()}
}

func (r *random) whole() *held {
	s := session.Session{Head: session.Head{ID: r.text(), Agent: r.text(), Title: r.text(), Workspace: r.text(), Created: r.stamp(), Updated: r.stamp(), Turns: -1, Bytes: -1},
		Mode: r.text(), Model: r.text(), Status: r.text(), Branch: r.text(), Folders: r.texts(), Plan: r.text(), Missing: r.texts(), Extras: r.extras(),
		Repos: some(r, 2, func() session.Repo { return session.Repo{Path: r.text(), Branch: r.text()} }),
		Todos: some(r, 2, func() session.Todo {
			return session.Todo{ID: r.text(), Content: r.text(), Status: r.text(), Created: r.stamp(), Updated: r.stamp(), DependsOn: r.texts(), Extras: r.extras()}
		}),
		Children: some(r, 2, r.link), Branches: some(r, 2, func() session.Branch { return session.Branch{Name: r.text(), From: r.text()} }),
	}
	if r.bool() {
		l := r.link()
		s.Parent = &l
	}
	if r.bool() {
		s.Context = &session.Context{Used: r.int64(), Max: r.int64()}
	}
	return &held{s, some(r, 5, r.message), some(r, 2, r.file)}
}
