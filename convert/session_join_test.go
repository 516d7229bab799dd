package convert

import (
	"bytes"
	"cmp"
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
		"the same": {faults{}, "session a\nsay 1\nsession A\nsay 2\nunder A b\nsay 3\nsession d\nsay 4\n", "", "a placed, A placed, b placed, d placed"},
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

// TestJoinSame: of two stores with the same session, the second one's is not written.
func TestJoinSame(t *testing.T) {
	dir := t.TempDir()
	write(t, dir+"/in/1/talk.txt", "talk\nsession a\nsay 1\n")
	write(t, dir+"/in/2/talk.txt", "talk\nsession A\nsay 2\nsession b\nsay 3\n")
	rep, err := Convert(t.Context(), withShelf(nil), dir+"/in", dir+"/out", Options{To: "shelf"})
	if got := fates(rep); err != nil || got != "a placed, A failed, b placed" {
		t.Errorf("%s, %v", got, err)
	}
}

// TestFolderDrafts: each session becomes a folder with its subagents, under an id of its own,
// and an update replaces only what changed.
func TestFolderDrafts(t *testing.T) {
	reg := withShelf(nil)
	reg.Lookup("shelf").Writer.Join = nil
	dir := t.TempDir()
	src := write(t, dir+"/talk.txt", "talk\n"+family+"session A\nsay else\n")
	rep, err := Convert(t.Context(), reg, src, dir+"/dry", Options{To: "shelf", DryRun: true})
	if err != nil || fates(rep) != "a checked, b checked, c checked, d checked, A checked" {
		t.Errorf("%v %+v", err, rep)
	}
	rep, err = Convert(t.Context(), reg, src, dir+"/out", Options{To: "shelf"})
	if err != nil || !rep.Placed {
		t.Fatal(err)
	}
	var files []string
	for _, s := range rep.Stores[0].Sessions {
		files = append(files, s.File)
	}
	if want := "shelves/a shelves/a shelves/a shelves/d shelves/A#2"; strings.Join(files, " ") != want {
		t.Errorf("%q, want %q", files, want)
	}
	got := placed(t, dir+"/out")
	if !strings.Contains(got["shelves/a/rows.txt"], "inmost") || !strings.Contains(got["shelves/A#2/rows.txt"], "else") || len(got) != 3 {
		t.Errorf("%q", got)
	}
	nothingBut(t, dir, "out", "talk.txt")
	write(t, dir+"/talk.txt", "talk\n"+strings.Replace(family, "bye", "bye, then", 1))
	rep, err = Convert(t.Context(), reg, src, dir+"/out", Options{To: "shelf", Update: true, State: NoState, Force: true})
	if err != nil || rep.Stores[0].Change != Updated {
		t.Fatalf("%v %+v", err, rep)
	}
	now := placed(t, dir+"/out")
	if changed := now["shelves/d/rows.txt"]; !strings.Contains(changed, "bye, then") || now["shelves/a/rows.txt"] != got["shelves/a/rows.txt"] || len(now) != 3 {
		t.Errorf("%q", now)
	}
}

// TestJoinSelected: selected sessions are converted session by session, with their
// subagents, also if their store could be converted exactly as a whole.
func TestJoinSelected(t *testing.T) {
	reg := withShelf(nil)
	shelf := reg.Lookup("shelf")
	shelf.Records.Kinds[0] = formats.Kind{Name: formats.Tables, Schema: formats.AnySchema}
	dir := t.TempDir()
	src := write(t, dir+"/left", "left\norigin left\ntable things\n1\thello\n")
	for _, o := range []Options{{}, {BySession: true}, {Sessions: []string{"left"}}} {
		o.To, o.Replace = "shelf", true
		rep, err := Convert(t.Context(), reg, src, dir+"/out", o)
		if want := o.BySession || len(o.Sessions) > 0; err != nil || (rep.Lane == SessionConversion) != want || strings.Contains(placed(t, dir+"/out")["rows.txt"], "left in") != want {
			t.Errorf("%+v: %v %+v", o, err, rep)
		}
	}
	write(t, dir+"/both/left", "left\norigin left\ntable things\n1\thello\n")
	write(t, dir+"/both/talk.txt", "talk\n"+family)
	rep, err := Convert(t.Context(), reg, dir+"/both", dir+"/mixed", Options{To: "shelf"})
	if err != nil || rep.Stores[1].Error == nil || !strings.Contains(rep.Stores[1].Error.Hint, "--by-session") {
		t.Errorf("%v %+v", err, rep.Stores)
	}
	rep, err = Convert(t.Context(), reg, dir+"/both/talk.txt", dir+"/some", Options{To: "shelf", Sessions: []string{"a"}})
	if err != nil || fates(rep) != "a placed, b placed, c placed" {
		t.Errorf("%v %s", err, fates(rep))
	}
	for _, o := range []Options{{Update: true}, {Compress: "gzip"}, {WithSecrets: true}, {Sidecar: "x"}, {To: "canonical", DropThinking: true}, {To: "canonical", FullHistory: true}, {To: "right", BySession: true}} {
		o.To = cmp.Or(o.To, "shelf")
		if _, err := Convert(t.Context(), reg, dir+"/both/talk.txt", dir+"/no", o); !errors.As(err, new(Misuse)) {
			t.Errorf("%+v: %v", o, err)
		}
	}
}
