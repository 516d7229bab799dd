package cursorchat

import (
	"context"
	"errors"
	"iter"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"rehome/formats"
	"rehome/formats/internal/storecheck"
	"rehome/formats/loss"
	"rehome/formats/session"
)

// talk is a session of alternating prompts and answers.
func talk(h session.Head, texts ...string) *session.Session {
	return &session.Session{Head: h, Messages: func(yield func(*session.Message, error) bool) {
		for i, text := range texts {
			m := &session.Message{ID: "m" + string(rune('0'+i)), Role: session.Assistant, At: session.Stored(1790000000000 + int64(i)*1000), Parts: []session.Part{&session.Text{Text: text}}}
			if i%2 == 0 {
				m.Role, m.Turn = session.User, &session.Turn{Number: i/2 + 1}
			}
			if !yield(m, nil) {
				return
			}
		}
	}}
}

// wrote writes sessions as one chat, and returns its folder.
func wrote(t *testing.T, list ...*session.Session) string {
	t.Helper()
	k := Format().Writer.New().(formats.FamilySink)
	path := filepath.Join(t.TempDir(), filepath.FromSlash(sessionPath(&list[0].Head)))
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		t.Fatal(err)
	}
	var drafts []*formats.Draft
	for _, s := range list {
		d, err := k.Put(t.Context(), s, formats.SessionBuild{Path: path, Root: &list[0].Head})
		if err != nil {
			t.Fatal(err)
		}
		drafts = append(drafts, d)
	}
	if err := k.Finish(t.Context()); err != nil {
		t.Fatal(err)
	}
	if err := drafts[0].Verify(t.Context()); err != nil {
		t.Fatal(err)
	}
	return path
}

// read returns the sessions of a chat, and their texts.
func read(t *testing.T, path string) (heads []*session.Session, texts [][]string) {
	t.Helper()
	l, err := formats.Locate(path)
	if err != nil {
		t.Fatal(err)
	}
	for s, err := range Format().Sessions.Decode(t.Context(), l, formats.View{}, session.Selection{}) {
		if err != nil {
			t.Fatal(err)
		}
		heads, texts = append(heads, s), append(texts, textsOf(t, s.Messages))
	}
	return heads, texts
}

func textsOf(t *testing.T, list iter.Seq2[*session.Message, error]) (out []string) {
	t.Helper()
	for m, err := range list {
		if err != nil {
			t.Fatal(err)
		}
		for _, p := range m.Parts {
			if text, ok := p.(*session.Text); ok {
				out = append(out, string(m.Role)+" "+strings.Clone(text.Text))
			}
		}
	}
	return out
}

func TestWrite(t *testing.T) {
	head := session.Head{ID: "5d0b2b7e-2222-4000-8000-000000000000", Agent: session.ClaudeCode, Title: "Fix the login", Workspace: "/w/app", Created: session.Stored(1780000000000)}
	s := talk(head, "hello", "hi", "bye", "see you")
	s.Model = "claude-opus-4-8"
	path := wrote(t, s)
	heads, texts := read(t, path)
	if len(heads) != 1 || !slices.Equal(texts[0], []string{"user hello", "assistant hi", "user bye", "assistant see you"}) {
		t.Fatalf("%q", texts)
	}
	h := heads[0]
	if h.ID != sessionID(&head) || h.Title != head.Title || h.Workspace != head.Workspace || h.Created != head.Created || h.Updated.Millis() != 1790000003000 || h.Model != s.Model {
		t.Errorf("%+v", h)
	}
}

// TestWriteSubagents: subagents are in the state of the session that started them, whatever
// becomes of others.
func TestWriteSubagents(t *testing.T) {
	head := func(id, parent string) session.Head {
		h := session.Head{ID: id, Agent: session.Codex, Title: id}
		if parent != "" {
			h.Parent = &session.Link{Session: parent, Kind: "explore"}
		}
		return h
	}
	path := wrote(t, talk(head("a", ""), "one", "two"), talk(head("b", "a"), "three", "four"), talk(head("c", "b"), "five", "six"), talk(head("d", "a"), "seven", "eight"),
		talk(head("e", "gone"), "nine", "ten")) // its own parent could not be written
	heads, texts := read(t, path)
	var got []string
	for i, h := range heads {
		up := ""
		if h.Parent != nil {
			up = h.Parent.Session
		}
		got = append(got, h.ID+" of "+up+": "+strings.Join(texts[i], ", "))
	}
	a := sessionID(&session.Head{ID: "a", Agent: session.Codex})
	want := []string{
		a + " of : user one, assistant two", "b of " + a + ": user three, assistant four",
		"c of b: user five, assistant six", "d of " + a + ": user seven, assistant eight",
		"e of " + a + ": user nine, assistant ten",
	}
	if slices.Sort(got); !slices.Equal(got, slices.Sorted(slices.Values(want))) {
		t.Errorf("got %q\nwant %q", got, want)
	}
}

// TestWriteBare: a session without a title gets that of its first prompt, which is reported,
// and one without times gets none when it is read.
func TestWriteBare(t *testing.T) {
	s := talk(session.Head{ID: "a", Agent: session.Codex}, "\n hello\nworld", "hi")
	messages := s.Messages
	s.Messages = func(yield func(*session.Message, error) bool) {
		for m := range messages {
			if m.At = (session.Stamp{}); !yield(m, nil) {
				return
			}
		}
	}
	k := Format().Writer.New().(formats.FamilySink)
	path := filepath.Join(t.TempDir(), "draft")
	var codes []loss.Code
	note := func(l loss.Loss) { codes = append(codes, l.Code) }
	if _, err := k.Put(t.Context(), s, formats.SessionBuild{Path: path, OnLoss: note}); err != nil {
		t.Fatal(err)
	}
	if err := k.Finish(t.Context()); err != nil {
		t.Fatal(err)
	}
	if _, err := k.Put(t.Context(), s, formats.SessionBuild{Path: path}); !errors.Is(err, formats.ErrExists) {
		t.Errorf("a second session in the same folder: %v", err)
	}
	heads, _ := read(t, path)
	if h := heads[0]; h.Title != "hello" || h.Created.Known() || h.Updated.Known() || !slices.Contains(codes, loss.TitleFromPrompt) {
		t.Errorf("%+v, %v", h, codes)
	}
}

// TestWriteFails: nothing is left of a chat that cannot be completed. A subagent that fails
// leaves the others.
func TestWriteFails(t *testing.T) {
	broken := errors.New("broken")
	bad := func(h session.Head) *session.Session {
		s := talk(h, "hello", "hi")
		messages := s.Messages
		s.Messages = func(yield func(*session.Message, error) bool) {
			for m := range messages {
				if !yield(m, nil) {
					return
				}
			}
			yield(nil, broken)
		}
		return s
	}
	k := Format().Writer.New().(formats.FamilySink)
	dir := t.TempDir()
	b := formats.SessionBuild{Path: filepath.Join(dir, "draft"), Root: &session.Head{ID: "a"}}
	empty := func(in string) {
		t.Helper()
		if list, err := os.ReadDir(dir); err != nil || len(list) > 0 {
			t.Errorf("%s: %v, %v is left", in, list, err)
		}
	}
	if _, err := k.Put(t.Context(), bad(session.Head{ID: "a"}), b); !errors.Is(err, broken) {
		t.Error(err)
	}
	empty("a broken session")
	if _, err := k.Put(t.Context(), talk(session.Head{ID: "a"}, "hello", "hi"), b); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := k.Finish(ctx); !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
	empty("a canceled run")
	draft, err := k.Put(t.Context(), talk(session.Head{ID: "a"}, "hello", "hi"), b)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := k.Put(t.Context(), bad(session.Head{ID: "b", Parent: &session.Link{Session: "a"}}), b); !errors.Is(err, broken) {
		t.Error(err)
	}
	if err := errors.Join(k.Finish(t.Context()), draft.Verify(t.Context())); err != nil {
		t.Error(err)
	}
	if heads, _ := read(t, b.Path); len(heads) != 1 {
		t.Errorf("%d sessions", len(heads))
	}
}

// TestVerify: a draft that is not what was written is refused.
func TestVerify(t *testing.T) {
	for name, statement := range map[string]string{
		"no root":         "DELETE FROM meta",
		"a missing blob":  "DELETE FROM blobs WHERE rowid=1",
		"a changed blob":  "UPDATE blobs SET data=x'00' WHERE rowid=1",
		"another's table": "DROP TABLE blobs",
	} {
		path := wrote(t, talk(session.Head{ID: "a", Agent: session.Codex}, "hello", "hi"))
		change(t, path, statement)
		if err := verify(t.Context(), path, new(storecheck.Bench)); err == nil {
			t.Errorf("%s is accepted", name)
		}
	}
}

// TestUnmodified: a chat is modified by a turn or a new name, not by a client that opens it
// and makes its key.
func TestUnmodified(t *testing.T) {
	s := func() *session.Session { return talk(session.Head{ID: "a", Agent: session.Codex}, "hello", "hi") }
	ours, err := state(t.Context(), wrote(t, s()))
	if err != nil || ours == "" {
		t.Fatal(ours, err)
	}
	for name, c := range map[string]struct {
		change string
		is     bool
	}{
		"new":            {"", true},
		"opened":         {`UPDATE meta SET value=hex(replace(CAST(unhex(value) AS TEXT), '"isRun', '"blobEncryptionKey":"00","isRun'))`, true},
		"continued":      {`INSERT INTO blobs VALUES('` + strings.Repeat("0", 64) + `', x'00')`, false},
		"another's blob": {`INSERT INTO blobs VALUES('x', x'00')`, false},
		"renamed":        {`UPDATE meta SET value=hex(replace(CAST(unhex(value) AS TEXT), '"hello"', '"bye"'))`, false},
		"of the client":  {`UPDATE meta SET value=hex(replace(CAST(unhex(value) AS TEXT), '"rehome"', '"other"'))`, false},
		"unreadable":     {`UPDATE meta SET value='x'`, false},
	} {
		path := wrote(t, s())
		if c.change != "" {
			change(t, path, c.change)
		}
		if is, err := unmodified(t.Context(), path); err != nil || is != c.is {
			t.Errorf("%s: unmodified is %v, %v", name, is, err)
		}
		if is, err := state(t.Context(), path); err != nil || (is == ours) != c.is || !c.is && is != "" {
			t.Errorf("%s: the state is %q, %v", name, is, err)
		}
	}
	other := wrote(t, talk(session.Head{ID: "a", Agent: session.Codex}, "hello", "hi", "more", "yes"))
	if is, err := state(t.Context(), other); err != nil || is == "" || is == ours {
		t.Errorf("the state of one that has grown: %q, %v", is, err)
	}
	if is, err := unmodified(t.Context(), t.TempDir()); err != nil || is {
		t.Errorf("an empty folder: %v, %v", is, err)
	}
}

// TestConfig: where the client looks for chats.
func TestConfig(t *testing.T) {
	for _, c := range []struct {
		os   string
		env  map[string]string
		want string
	}{
		{"linux", nil, "/home/u/.cursor"},
		{"linux", map[string]string{"XDG_CONFIG_HOME": "/x"}, "/x/cursor"},
		{"linux", map[string]string{"XDG_CONFIG_HOME": "/x", "CURSOR_CONFIG_DIR": "/c"}, "/c"},
		{"darwin", map[string]string{"XDG_CONFIG_HOME": "/x"}, "/home/u/.cursor"},
	} {
		m := formats.Machine{OS: c.os, Home: "/home/u", Getenv: func(name string) string { return c.env[name] }}
		if got := filepath.ToSlash(config(m)); got != c.want {
			t.Errorf("%s, %v: %s, want %s", c.os, c.env, got, c.want)
		}
	}
}

// TestFailedSubagent: nothing is left of a subagent that could not be read, and what it
// had in common with another one is written with that.
func TestFailedSubagent(t *testing.T) {
	big := strings.Repeat("much ", 40_000) // more than a batch
	parent := session.Head{ID: "11111111-1111-4111-8111-111111111111", Agent: session.ClaudeCode}
	kid := func(id string) session.Head {
		return session.Head{ID: id, Agent: session.ClaudeCode, Parent: &session.Link{Session: parent.ID}}
	}
	texts := []string{"go", big + "1", "on", big + "2", "and on", big + "3"}
	broken := talk(kid("a"), texts...)
	broken.Messages = func(yield func(*session.Message, error) bool) {
		for m, err := range talk(kid("a"), texts...).Messages {
			if !yield(m, err) {
				return
			}
		}
		yield(nil, errors.New("torn"))
	}
	make := func(list ...*session.Session) string {
		k := Format().Writer.New().(formats.FamilySink)
		path := filepath.Join(t.TempDir(), "chat")
		var verify func(context.Context) error
		for _, s := range list {
			d, err := k.Put(t.Context(), s, formats.SessionBuild{Path: path, Root: &parent})
			if (err != nil) != (s == broken) {
				t.Fatal(err)
			}
			if s.Parent == nil {
				verify = d.Verify
			}
		}
		if err := errors.Join(k.Finish(t.Context()), verify(t.Context())); err != nil {
			t.Fatal(err)
		}
		if is, err := unmodified(t.Context(), path); err != nil || !is {
			t.Errorf("modified when it is new: %v", err)
		}
		ids, err := blobIDs(t.Context(), filepath.Join(path, storeName))
		if err != nil {
			t.Fatal(err)
		}
		return string(ids)
	}
	root, next := talk(parent, "hello", "hi"), talk(kid("b"), texts[:4]...)
	if make(root, broken, next) != make(root, next) {
		t.Error("the chat is another one with a subagent that failed")
	}
	if make(root, broken) != make(root) {
		t.Error("blobs of a subagent that failed are left")
	}
}
