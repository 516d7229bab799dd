package convert

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"rehome/formats"
	"rehome/formats/session"
	"rehome/formats/store"
)

// shelf is a table format whose store has many sessions. A draft is a folder with the
// rows of a family, of which each is what was said, or the end of the family.
func shelf(h *faults) *formats.Format {
	f := fake("shelf", true, h)
	f.Clients = []string{"shelf"}
	f.Records.Kinds = []formats.Kind{{Name: formats.PlainFiles, Schema: "shelf"}}
	f.Writer = &formats.Writer{
		New:     func() formats.Sink { return &shelver{} },
		Path:    func(h *session.Head) string { return "shelves/" + h.ID },
		ID:      func(h *session.Head) string { return "s-" + strings.ToLower(h.ID) },
		Folders: true,
		Join: func(ctx context.Context, drafts []string, v formats.View) (store.Reader, error) {
			var all *fakeReader
			for _, d := range drafts {
				r, err := openFake(filepath.Join(d, "rows.txt"), "shelf", v, &faults{})
				if err != nil {
					return nil, err
				}
				if all != nil {
					r.rows = append(all.rows, r.rows...)
				}
				all = r
			}
			for i := range all.rows {
				all.rows[i].id = int64(i + 1)
			}
			return all, nil
		},
	}
	return f
}

type shelver struct {
	path string
	rows bytes.Buffer
}

func (s *shelver) Put(_ context.Context, one *session.Session, b formats.SessionBuild) (*formats.Draft, error) {
	within := one.Parent != nil
	if !within {
		s.path = b.Path
		s.rows.Reset()
		s.rows.WriteString("shelf\norigin shelf\ntable things\n")
	}
	for m, err := range one.Messages {
		if err != nil {
			return nil, err
		}
		fmt.Fprintf(&s.rows, "1\t%s in %s: %s\n", one.ID, b.Cwd, m.Parts[0].(*session.Text).Text)
	}
	path := s.path
	return &formats.Draft{Within: within, Verify: func(context.Context) error {
		if b, err := os.ReadFile(filepath.Join(path, "rows.txt")); err != nil || !bytes.HasSuffix(b, []byte("\tend\n")) {
			return errors.Join(err, errors.New("not complete"))
		}
		return nil
	}}, nil
}

func (s *shelver) Finish(context.Context) error {
	s.rows.WriteString("1\tend\n")
	return errors.Join(os.Mkdir(s.path, 0o777), os.WriteFile(filepath.Join(s.path, "rows.txt"), s.rows.Bytes(), 0o666))
}

func withShelf(h *faults) *formats.Registry {
	return formats.NewRegistry(append(talkers(nil).All(), shelf(h))...)
}

const family = "session a First\nsay hello\nunder a b\nsay inner\nunder b c\nsay inmost\nsession d\nsay bye\n"

// TestJoin: all sessions of all sources become one store, each with its subagents, and
// the store is created, verified and placed as in an exact conversion.
func TestJoin(t *testing.T) {
	dir := t.TempDir()
	write(t, dir+"/in/1/talk.txt", "talk\n"+family)
	write(t, dir+"/in/2/talk.txt", "talk\nsession e\nsay ho\nbad f\n")
	for _, dry := range []bool{true, false} {
		rep, err := Convert(t.Context(), withShelf(nil), dir+"/in", dir+"/out", Options{To: "shelf", DryRun: dry, Cwd: "/w", Jobs: 2})
		state := map[bool]string{true: Checked, false: Placed}[dry]
		if want := strings.ReplaceAll("a +, b +, c +, d +, e +, f failed", "+", state); err != nil || rep.Placed == dry || rep.Lane != SessionConversion || fates(rep) != want {
			t.Fatalf("%v %+v", err, rep)
		}
		if s := rep.Stores[0].Sessions[0]; s.File != "" || s.Workspace != "/w" {
			t.Errorf("%+v", s)
		}
		if dry {
			nothingBut(t, dir, "in")
		}
	}
	want := "shelf\norigin shelf\ntable things\n"
	for i, row := range []string{"a in /w: hello", "b in /w: inner", "c in /w: inmost", "end", "d in /w: bye", "end", "e in /w: ho", "end"} {
		want += fmt.Sprintf("%d\t%s\n", i+1, row)
	}
	if got := placed(t, dir+"/out"); len(got) != 1 || got["rows.txt"] != want {
		t.Errorf("%q", got)
	}
	nothingBut(t, dir, "in", "out")
	if _, err := Convert(t.Context(), withShelf(nil), dir+"/in", dir+"/out", Options{To: "shelf"}); !errors.Is(err, formats.ErrExists) {
		t.Errorf("it exists: %v", err)
	}
	rep, err := Convert(t.Context(), withShelf(nil), dir+"/in/1", dir+"/out", Options{To: "shelf", Replace: true, Sessions: []string{"b", "c"}})
	if err != nil || fates(rep) != "b placed, c placed" || !strings.Contains(placed(t, dir+"/out")["rows.txt"], "inner\n2\tc in : inmost\n3\tend\n") || rep.Backup == "" {
		t.Errorf("%v %+v", err, rep)
	}
	nothingBut(t, dir, "in", "out", "out.bak-1")
}

// TestJoinFails: nothing is placed if the store does not hold what the sessions are.
func TestJoinFails(t *testing.T) {
	for name, c := range map[string]struct {
		faults faults
		talks  string
		want   string
		fates  string
	}{
		"written":  {faults{write: func(i int, v string) string { return strings.Replace(v, "inner", "other", 1) }}, family, "differs when read back", "a failed, b failed, c failed, d failed"},
		"finish":   {faults{finish: errors.New("no room")}, family, "no room", "a failed, b failed, c failed, d failed"},
		"all bad":  {faults{}, "bad a\n", "its root is missing", "a failed"},
		"the same": {faults{}, "session a\nsay 1\nsession A\nsay 2\nunder A b\nsay 3\nsession d\nsay 4\n", "", "a placed, A failed, b failed, d placed"},
		"nothing":  {faults{}, "", "", ""},
	} {
		dir := t.TempDir()
		src := write(t, dir+"/talk.txt", "talk\n"+c.talks)
		rep, err := Convert(t.Context(), withShelf(&c.faults), src, dir+"/out", Options{To: "shelf"})
		if fates(rep) != c.fates || (c.want == "") != (err == nil) || err != nil && !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %s, %v", name, fates(rep), err)
		}
		if rep.Placed != strings.Contains(c.fates, Placed) {
			t.Errorf("%s: %+v", name, rep)
		}
		if !rep.Placed {
			nothingBut(t, dir, "talk.txt")
		}
	}
}
