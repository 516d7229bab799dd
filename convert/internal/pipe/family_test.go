package pipe

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"rehome/formats"
	"rehome/formats/loss"
	"rehome/formats/session"
)

// families writes each session with its subagents to a folder, a file each. A message
// says what fails.
type families struct {
	t       *testing.T
	dir     string // of the open family
	onLoss  loss.Sink
	unready bool // the family cannot be completed
}

func (f *families) Put(_ context.Context, s *session.Session, b formats.SessionBuild) (*formats.Draft, error) {
	text := ""
	for m, err := range s.Messages {
		if err != nil {
			return nil, err
		}
		text = m.Parts[0].(*session.Text).Text
	}
	within := s.Parent != nil
	if !within {
		if f.dir != "" {
			f.t.Errorf("%s is written before the family in %s is complete", s.ID, f.dir)
		}
		f.dir, f.onLoss = b.Path, b.OnLoss
		if err := os.Mkdir(b.Path, 0o700); err != nil {
			return nil, err
		}
	}
	if text == "unwritable" || text == "fatal" {
		if !within {
			f.dir = ""
		}
		return nil, map[string]error{"unwritable": errors.New(text), "fatal": errFatal}[text]
	}
	b.OnLoss(loss.Loss{Code: loss.ToolRenamed})
	if text == "drops" {
		b.OnLoss(loss.Loss{Code: loss.LineNotObject})
	}
	f.unready = f.unready || text == "unready"
	d := &formats.Draft{Within: within}
	if dir := f.dir; !within {
		d.Verify = func(context.Context) error {
			list, err := os.ReadFile(filepath.Join(dir, "complete"))
			if err == nil && text == "different" {
				err = errors.New(text)
			}
			return errors.Join(err, os.WriteFile(filepath.Join(dir, "verified"), list, 0o600))
		}
	}
	return d, os.WriteFile(filepath.Join(f.dir, s.ID), nil, 0o600)
}

func (f *families) Finish(context.Context) error {
	list, err := os.ReadDir(f.dir)
	if err != nil {
		return err
	}
	var ids []string
	for _, e := range list {
		ids = append(ids, e.Name())
	}
	dir, unready := f.dir, f.unready
	f.onLoss(loss.Loss{Code: loss.TimeUnknown})
	if f.dir, f.unready = "", false; unready {
		return errors.New("unready")
	}
	return os.WriteFile(filepath.Join(dir, "complete"), []byte(strings.Join(ids, " ")), 0o600)
}

// TestFamilies checks which sessions fail together, that a draft is verified when all of
// its family is in it, and that results keep the order of the sessions. A session is its
// path of ids, and after a colon what its message says.
func TestFamilies(t *testing.T) {
	for _, c := range []struct{ sessions, results, drafts string }{
		{"a a/b a/b/c d e e/f", "a, b, c, d, e, f", "a b c|d|e f"},
		{"a a/b:unwritable a/b/c a/d e", `a, b: unwritable, c: c: its parent session "b" was not written, d, e`, "a d|e"},
		{"a:unwritable a/b a/b/c d", `a: unwritable, b: b: its parent session "a" was not written, c: c: its parent session "b" was not written, d`, "d"},
		{"a:unready a/b d", `a: unready, b: b: its parent session "a" was not written, d`, "d"},
		{"a a/b:unready d", `a: unready, b: b: its parent session "a" was not written, d`, "d"},
		{"a:different a/b c c/d", `a: different, b: b: its parent session "a" was not written, c, d`, "c d"},
		{"a:bad a/b c", `a: no root, b: b: its parent session "a" was not written, c`, "c"},
		{"a a/b:bad a/c d", `a, b: no root, c, d`, "a c|d"},
		{"x/a a/b", `a, b`, "a b"},
		{"a a/a a/b c/c", `a, a, b, c`, "a|a b|c"},
		{"a b a/c", `a, b, c: c: a subagent of session "a", but not next to it in the source`, "a|b"},
		{"a a/b:fatal c", `a, b: fatal`, "a"},
		{"a a/b:drops c", "c", "c"},
		{"a:count a/b:count c", "a, b, c", "c"},
	} {
		sink, f := &families{t: t}, newFixture(t)
		f.Pipe.To.Writer.New = func() formats.Sink { return sink }
		p := New(f.Pipe.To)
		p.Dir, p.Jobs, p.OnLoss, p.Fatal, p.Dest = t.TempDir(), 3, func(loss.Loss) {}, f.Fatal, &kin{fixture: f, ids: map[string]bool{}}
		var drafts []string
		f.keep = func(r *Result) bool {
			if r.Worst > loss.Dropped && r.Err == nil {
				f.results = f.results[:len(f.results)-1]
				return false
			}
			if r.Err == nil && r.Plan.Do == Write && r.Path != "" {
				list, err := os.ReadFile(filepath.Join(r.Path, "verified"))
				if err != nil {
					t.Errorf("%q: %s: %v", c.sessions, r.ID, err)
				}
				drafts = append(drafts, string(list))
			}
			if want := "map[L104:2 L214:1 L506:1]"; r.ID == "a" && strings.Contains(c.sessions, "b:unwritable") {
				if got := fmt.Sprint(counts(r.Losses)); got != want {
					t.Errorf("%q: losses %s, want %s", c.sessions, got, want)
				}
			}
			if alone := c.sessions == "x/a a/b" && r.ID == "a"; alone != (counts(r.Losses)[loss.LinkDropped] == 1) {
				t.Errorf("%q: %s without its parent has losses %v", c.sessions, r.ID, counts(r.Losses))
			}
			return r.Err == nil
		}
		_, err := p.Run(t.Context(), func(yield func(*session.Session, error) bool) {
			for word := range strings.FieldsSeq(c.sessions) {
				at, text, _ := strings.Cut(word, ":")
				path := strings.Split(at, "/")
				s := talk(path[len(path)-1], text)
				if n := len(path); n > 1 {
					s.Parent = &session.Link{Session: path[n-2]}
				}
				var err error
				if text == "bad" {
					err = errors.New("no root")
				}
				f.plan = map[string]Action{s.ID: map[string]Action{"count": Count}[text]}
				if !yield(s, err) {
					return
				}
			}
		})
		if fatal := strings.Contains(c.sessions, "fatal"); errors.Is(err, errFatal) != fatal {
			t.Errorf("%q: %v", c.sessions, err)
		} else if fatal {
			c.results, c.drafts = "", ""
		}
		if got := strings.Join(f.results, ", "); got != c.results {
			t.Errorf("%q: results are %q, want %q", c.sessions, got, c.results)
		}
		if got := strings.Join(drafts, "|"); got != c.drafts {
			t.Errorf("%q: drafts are %q, want %q", c.sessions, got, c.drafts)
		}
		left, err := os.ReadDir(p.Dir)
		if err != nil || len(left) != len(drafts) {
			t.Errorf("%q: %d drafts remain of %d: %v", c.sessions, len(left), len(drafts), err)
		}
	}
}

// kin plans sessions as a conversion does.
type kin struct {
	*fixture
	ids map[string]bool
}

func (k *kin) Plan(s *session.Session) (Plan, error) {
	plan := Plan{Do: k.plan[s.ID]}
	if k.ids[s.ID] = true; s.Parent != nil && s.Parent.Session != s.ID && k.ids[s.Parent.Session] {
		plan.Build.Root = &session.Head{}
	}
	return plan, nil
}

func counts(l *loss.Log) map[loss.Code]int64 {
	out := map[loss.Code]int64{}
	for _, g := range l.Groups() {
		out[g.Code] = g.Count
	}
	return out
}
