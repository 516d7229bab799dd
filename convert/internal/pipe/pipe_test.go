package pipe

import (
	"context"
	"errors"
	"iter"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"rehome/formats"
	"rehome/formats/loss"
	"rehome/formats/session"
)

var errFatal = errors.New("fatal")

// fixture is a pipe with a fake format and a fake destination. A session is its id and
// the text of its only message.
type fixture struct {
	*Pipe
	t      *testing.T
	plan   map[string]Action
	keep   func(r *Result) bool
	verify func(ctx context.Context, id string) error
	read   func(written *session.Session) []*session.Session // what the format decodes from a draft

	mu      sync.Mutex
	written map[string]*session.Session // by path
	results []string
}

func newFixture(t *testing.T) *fixture {
	f := &fixture{t: t, written: map[string]*session.Session{}, keep: func(r *Result) bool { return r.Err == nil }}
	f.verify = func(context.Context, string) error { return nil }
	f.read = func(s *session.Session) []*session.Session { return []*session.Session{s} }
	f.Pipe = New(&formats.Format{
		Name:     "fake",
		Text:     true,
		Writer:   &formats.Writer{New: func() formats.Sink { return f }},
		Sessions: &formats.Sessions{Decode: f.decode},
	})
	f.Dest, f.Dir, f.Jobs = f, t.TempDir(), 4
	f.OnLoss = func(loss.Loss) {}
	f.Fatal = func(err error) bool { return errors.Is(err, errFatal) }
	return f
}

func (f *fixture) decode(_ context.Context, l *formats.Location, _ formats.View, _ session.Selection) iter.Seq2[*session.Session, error] {
	f.mu.Lock()
	defer f.mu.Unlock()
	return stream(f.read(f.written[l.Path])...)
}

// Put writes two files. It fails after the first one for a message that says so.
func (f *fixture) Put(_ context.Context, s *session.Session, build formats.SessionBuild) (*formats.Draft, error) {
	var text string
	for m, err := range s.Messages {
		if err != nil {
			return nil, err
		}
		text = m.Parts[0].(*session.Text).Text
	}
	f.mu.Lock()
	f.written[build.Path] = talk(s.ID, text)
	f.mu.Unlock()
	build.OnLoss(loss.Loss{Code: loss.ToolRenamed})
	if err := os.WriteFile(build.Path, []byte(s.ID), 0o600); err != nil {
		return nil, err
	}
	switch text {
	case "unwritable":
		return nil, errors.New(text)
	case "fatal":
		return nil, errFatal
	}
	verify := func(ctx context.Context) error { return f.verify(ctx, s.ID) }
	return &formats.Draft{Verify: verify, Companion: ".note"}, os.WriteFile(build.Path+".note", nil, 0o600)
}

func (f *fixture) Plan(s *session.Session) (Plan, error) { return Plan{Do: f.plan[s.ID]}, nil }

func (f *fixture) Done(r *Result) bool {
	text := r.ID
	if r.Err != nil {
		text += ": " + r.Err.Error()
	}
	f.results = append(f.results, text)
	return f.keep(r)
}

// is compares the results, and the ids of the sessions whose drafts exist.
func (f *fixture) is(results, drafts string) {
	f.t.Helper()
	if got := strings.Join(f.results, ", "); got != results {
		f.t.Errorf("results are %q, want %q", got, results)
	}
	list, err := os.ReadDir(f.Dir)
	if err != nil {
		f.t.Fatal(err)
	}
	var ids []string
	for _, e := range list {
		content, err := os.ReadFile(filepath.Join(f.Dir, e.Name()))
		if id := string(content); err == nil && id != "" {
			ids = append(ids, id)
		}
	}
	if got := strings.Join(ids, " "); got != drafts || len(list) != 2*len(ids) {
		f.t.Errorf("drafts of %q in %d files, want those of %q", got, len(list), drafts)
	}
}

func talk(id, text string) *session.Session {
	s := &session.Session{Head: session.Head{ID: id}}
	s.Messages = func(yield func(*session.Message, error) bool) {
		yield(&session.Message{ID: "m", Role: session.User, Parts: []session.Part{&session.Text{Text: text}}}, nil)
	}
	return s
}

func stream(list ...*session.Session) iter.Seq2[*session.Session, error] {
	return func(yield func(*session.Session, error) bool) {
		for _, s := range list {
			if !yield(s, nil) {
				return
			}
		}
	}
}

// TestOrder checks that results are in the order of the sessions, that each has its
// own losses, and that only the drafts to be kept remain.
func TestOrder(t *testing.T) {
	f := newFixture(t)
	f.plan = map[string]Action{"count": Count, "skip": Skip}
	late := make(chan struct{})
	f.verify = func(_ context.Context, id string) error {
		switch id {
		case "a":
			<-late // the first session is the last to be verified
		case "different":
			return errors.New("not what was written")
		case "c":
			close(late)
		}
		return nil
	}
	f.keep = func(r *Result) bool {
		want := int64(1)
		if r.Plan.Do != Write || r.ID == "bad" {
			want = 0
		}
		var n int64
		for _, g := range r.Losses.Groups() {
			n += g.Count
		}
		if n != want {
			t.Errorf("%s has %d losses, want %d", r.ID, n, want)
		}
		return r.Err == nil && r.ID != "withheld"
	}
	in := func(yield func(*session.Session, error) bool) {
		for s := range stream(talk("a", "1"), talk("different", "2"), talk("c", "3"), talk("withheld", "4"), talk("count", "5"), talk("skip", "6"), talk("full", "unwritable")) {
			if !yield(s, nil) {
				return
			}
		}
		if yield(talk("bad", ""), errors.New("no root")) && yield(talk("z", "7"), nil) {
			f.Note(loss.Loss{Code: loss.TimeUnknown})
		}
	}
	trailing, err := f.Run(t.Context(), in)
	if err != nil || len(trailing.Groups()) != 1 {
		t.Errorf("%v, %v", trailing, err)
	}
	f.is("a, different: not what was written, c, withheld, count, skip, full: unwritable, bad: no root, z", "a c z")
}

// TestFatal checks that no session is read after a fatal error, wherever it occurs,
// and that earlier ones are finished.
func TestFatal(t *testing.T) {
	for _, in := range []string{"sink", "verification", "stream", "verification after a failure"} {
		f := newFixture(t)
		text, failed := "2", in == "verification after a failure"
		f.verify = func(_ context.Context, id string) error {
			switch {
			case strings.HasPrefix(in, "verification") && id == "b":
				return errFatal
			case failed:
				return errors.New("different")
			}
			return nil
		}
		if in == "sink" {
			text = "fatal"
		}
		_, err := f.Run(t.Context(), func(yield func(*session.Session, error) bool) {
			if !yield(talk("a", "1"), nil) || !yield(talk("b", text), nil) {
				return
			}
			if in == "stream" {
				yield(nil, errFatal)
			} else if !yield(talk("bad", ""), errors.New("no root")) { // finishes those before it
				return
			} else {
				t.Errorf("%s: the next session is read", in)
			}
		})
		if !errors.Is(err, errFatal) {
			t.Errorf("%s: %v", in, err)
		}
		switch {
		case in == "stream":
			f.is("a, b", "a b")
		case failed:
			f.is("a: different, b: fatal", "")
		default:
			f.is("a, b: fatal", "a")
		}
	}
}

// TestCancel checks that a canceled run waits for what it started, and leaves no draft
// that nobody received.
func TestCancel(t *testing.T) {
	f := newFixture(t)
	ctx, cancel := context.WithCancel(t.Context())
	var ended atomic.Int32
	f.verify = func(ctx context.Context, id string) error {
		<-ctx.Done()
		ended.Add(1)
		return ctx.Err()
	}
	_, err := f.Run(ctx, func(yield func(*session.Session, error) bool) {
		if yield(talk("a", "1"), nil) && yield(talk("b", "2"), nil) {
			cancel()
			if yield(talk("c", "3"), nil) {
				t.Error("the next session is read")
			}
		}
	})
	if !errors.Is(err, context.Canceled) || ended.Load() != 3 {
		t.Errorf("%v, after %d of 3 verifications", err, ended.Load())
	}
	f.is("", "")
}

// TestFull checks that a full pipe finds text that decodes to something else.
func TestFull(t *testing.T) {
	for name, c := range map[string]struct {
		read func(*session.Session) []*session.Session
		want string
	}{
		"same":      {func(s *session.Session) []*session.Session { return []*session.Session{s} }, ""},
		"different": {func(s *session.Session) []*session.Session { return []*session.Session{talk(s.ID, "2")} }, "1 session written, 1 read back"},
		"renamed":   {func(s *session.Session) []*session.Session { return []*session.Session{talk("b", "1")} }, "1 session written, 1 read back"},
		"none":      {func(*session.Session) []*session.Session { return nil }, "1 session written, 0 read back"},
		"two":       {func(s *session.Session) []*session.Session { return slices.Repeat([]*session.Session{s}, 2) }, "1 session written, 2 read back"},
	} {
		for _, full := range []bool{true, false} {
			f := newFixture(t)
			f.read, f.Full = c.read, full
			var got error
			f.keep = func(r *Result) bool { got = r.Err; return got == nil }
			if _, err := f.Run(t.Context(), stream(talk("a", "1"))); err != nil {
				t.Fatal(err)
			}
			left, err := os.ReadDir(f.Dir)
			if err != nil {
				t.Fatal(err)
			}
			if !full || c.want == "" {
				if got != nil || len(left) != 2 {
					t.Errorf("%s, full %t: %v, %d files", name, full, got, len(left))
				}
			} else if got == nil || !strings.Contains(got.Error(), c.want) || formats.Hint(got) != BugHint || len(left) != 0 {
				t.Errorf("%s: %v, %d files", name, got, len(left))
			}
		}
	}
}
