package convert

import (
	"bytes"
	"context"
	"errors"
	"io/fs"
	"iter"
	"maps"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"rehome/formats"
	"rehome/formats/loss"
	"rehome/formats/session"
	"rehome/internal/fsx"
)

// client is a format of sessions that a client looks for below its config
// folder: what was said, a line each, and a last one that says it is ours.
func client() *formats.Format {
	const end = "end\n"
	return &formats.Format{
		Name:  "client",
		Title: "client",
		Home:  &formats.Home{Roots: func(formats.Machine) []string { return nil }, Folder: "projects"},
		Writer: &formats.Writer{
			New: func() formats.Sink {
				return putter(func(_ context.Context, s *session.Session, b formats.SessionBuild) (*formats.Draft, error) {
					root := &s.Head
					if b.Root != nil {
						root = b.Root
					}
					out := []byte(s.ID + " in " + b.Cwd + " below " + root.ID + "\n")
					for m, err := range s.Messages {
						if err != nil {
							return nil, err
						}
						out = append(out, m.Parts[0].(*session.Text).Text+"\n"...)
					}
					d := &formats.Draft{Verify: func(context.Context) error {
						if b, err := os.ReadFile(b.Path); err != nil || bytes.Contains(b, []byte("unwritable")) {
							return errors.Join(err, errors.New("the client would not read it"))
						}
						return nil
					}}
					if s.Parent != nil {
						d.Companion = ".note"
						if err := os.WriteFile(b.Path+".note", []byte(s.Title+" below "+root.ID), 0o600); err != nil {
							return nil, err
						}
					}
					return d, os.WriteFile(b.Path, append(out, end...), 0o666)
				})
			},
			Path: func(h *session.Head) string {
				at := "projects/" + strings.ReplaceAll(filepath.ToSlash(h.Workspace), "/", "-") + "/"
				if h.Parent != nil {
					return at + h.Parent.Session + "/" + h.ID + ".txt"
				}
				return at + h.ID + ".txt"
			},
			ID: func(h *session.Head) string { return h.ID },
			Unmodified: func(_ context.Context, path string) (bool, error) {
				b, err := os.ReadFile(path)
				return bytes.HasSuffix(b, []byte(end)), err
			},
		},
	}
}

// mover migrates talk, which has no folder and no parents but those given.
type mover struct {
	t        *testing.T
	src, dir string
	cwd      string
	parents  map[string]string
	rename   *renameFuncs
	to       *formats.Format
}

func newMover(t *testing.T, text string) *mover {
	dir := t.TempDir()
	cwd, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	return &mover{t: t, to: client(), src: write(t, filepath.Join(dir, "talk.txt"), "talk\n"+text), dir: filepath.Join(dir, "config"), cwd: cwd}
}

func (m *mover) say(text string) { write(m.t, m.src, "talk\n"+text) }

func (m *mover) run(o MigrateOptions, ids ...string) *Migration {
	m.t.Helper()
	o.To, o.Dir = "client", m.dir
	if o.Cwd == "" {
		o.Cwd = m.cwd
	}
	with := renameFuncs{fsx.Move, fsx.Replace}
	if m.rename != nil {
		with = *m.rename
	}
	rep, err := migrate(m.t.Context(), formats.NewRegistry(m.format(), m.to), []MigrateSource{{Path: m.src, Sessions: ids}}, o, with)
	if err != nil {
		m.t.Fatal(err)
	}
	return rep
}

// format is talk with parents.
func (m *mover) format() *formats.Format {
	f := talk(nil)
	decode := f.Sessions.Decode
	f.Sessions.Decode = func(ctx context.Context, l *formats.Location, v formats.View, sel session.Selection) iter.Seq2[*session.Session, error] {
		return func(yield func(*session.Session, error) bool) {
			for s, err := range decode(ctx, l, v, session.Selection{Account: sel.Account}) {
				if s != nil && m.parents[s.ID] != "" {
					s.Parent = &session.Link{Session: m.parents[s.ID]}
				}
				if s != nil && err == nil && !sel.Includes(s.ID) {
					continue
				}
				if !yield(s, err) {
					return
				}
			}
		}
	}
	return f
}

// files is what stands in the config folder.
func (m *mover) files() map[string]string {
	out := map[string]string{}
	filepath.WalkDir(m.dir, func(path string, e fs.DirEntry, err error) error {
		if err == nil && !e.IsDir() {
			b, _ := os.ReadFile(path)
			rel, _ := filepath.Rel(m.dir, path)
			parts := strings.SplitN(filepath.ToSlash(rel), "/", 3)
			out[parts[len(parts)-1]] = string(b)
		}
		return nil
	})
	return out
}

func (m *mover) status(rep *Migration, want ...string) {
	m.t.Helper()
	var got []string
	for _, one := range rep.Migrated {
		got = append(got, one.ID+" "+one.Status)
		if (one.Error != nil) != (one.Status == Failed) || (one.Err() != nil) != (one.Status == Failed) {
			m.t.Errorf("%s is %s, with %+v", one.ID, one.Status, one.Error)
		}
	}
	if strings.Join(got, ", ") != strings.Join(want, ", ") {
		m.t.Errorf("got %q, want %q", got, want)
	}
}

func TestMigrate(t *testing.T) {
	m := newMover(t, "session a Anna\nsay one\nsession b\nsay two\n")
	rep := m.run(MigrateOptions{})
	m.status(rep, "a placed", "b placed")
	got := m.files()
	if len(got) != 2 || got["a.txt"] != "a in "+m.cwd+" below a\none\nend\n" {
		t.Errorf("%q", got)
	}
	one := rep.Migrated[0]
	if one.Session != "a" || one.Cwd != m.cwd || one.Title != "Anna" || one.Messages != 1 || one.Turns != 1 || one.Source != m.src {
		t.Errorf("%+v", one)
	}
	if info, err := os.Stat(one.File); err != nil || runtime.GOOS != "windows" && info.Mode().Perm() != 0o600 {
		t.Errorf("%v %v: the client's own files are private", info.Mode(), err)
	}
	m.status(m.run(MigrateOptions{}), "a same", "b same")
	list, err := os.ReadDir(filepath.Join(m.dir, "projects"))
	if err != nil || len(list) != 1 {
		t.Errorf("%v %v: something is left behind", list, err)
	}
}

func TestMigrateOne(t *testing.T) {
	m := newMover(t, "session a\nsay one\nsession b\nsay two\n")
	m.status(m.run(MigrateOptions{DryRun: true}, "b"), "b checked")
	if got := m.files(); len(got) != 0 {
		t.Errorf("a dry run placed %q", got)
	}
	m.status(m.run(MigrateOptions{}, "b"), "b placed")
	if got := m.files(); len(got) != 1 {
		t.Errorf("%q", got)
	}
}

func TestMigrateSubagents(t *testing.T) {
	const talked = "session a\nsay one\nsession b Bea\nsay two\nsession c\nsay three\nsession d\nsay four\n"
	m := newMover(t, talked)
	m.parents = map[string]string{"b": "a", "c": "b"}
	rep := m.run(MigrateOptions{}, "a")
	m.status(rep, "a placed")
	got := m.files()
	if rep.Migrated[0].Subagents != 2 || got["a/b.txt"] == "" || got["a/c.txt"] != "c in "+m.cwd+" below a\nthree\nend\n" || len(got) != 5 || got["a/b.note"] != "Bea below a" || got["a/c.note"] != " below a" {
		t.Errorf("%d subagents: %q", rep.Migrated[0].Subagents, got)
	}
	m.status(m.run(MigrateOptions{}, "a"), "a same")
	note := filepath.Join(filepath.Dir(rep.Migrated[0].File), "a", "b.note")
	if err := os.Remove(note); err != nil {
		t.Fatal(err)
	}
	m.status(m.run(MigrateOptions{}, "a"), "a updated") // as one that an older rehome migrated
	write(t, note, "theirs")
	m.status(m.run(MigrateOptions{}, "a"), "a same")
	if got := m.files()["a/b.note"]; got != "theirs" {
		t.Errorf("what the client keeps is %q", got)
	}
	m.say(strings.Replace(talked, "say two", "say two\nsay more", 1))
	m.status(m.run(MigrateOptions{Update: true}, "a"), "a updated")
	if got := m.files()["a/b.note"]; got != "Bea below a" {
		t.Errorf("beside a subagent that is written again: %q", got)
	}
	m.say(talked)
	m.dir += "-2"
	rep = m.run(MigrateOptions{}, "b")
	m.status(rep, "b placed") // without its parent it is a session like others
	if list := rep.Migrated[0].Losses; len(list) != 1 || list[0].Code != loss.LinkDropped {
		t.Errorf("the losses of a subagent without its parent are %+v", list)
	}
	if got := m.files(); got["b.txt"] == "" || got["b/c.txt"] == "" {
		t.Errorf("%q", got)
	}
}

// What is there is never overwritten, but for what is ours to the last line.
func TestMigrateAgain(t *testing.T) {
	m := newMover(t, "session a\nsay one\n")
	m.run(MigrateOptions{})
	m.say("session a\nsay one\nsay two\n")
	rep := m.run(MigrateOptions{})
	m.status(rep, "a failed")
	if !strings.Contains(rep.Migrated[0].Error.Hint, "--update") || !errors.Is(rep.Migrated[0].Err(), formats.ErrExists) {
		t.Errorf("%+v", rep.Migrated[0].Error)
	}
	m.status(m.run(MigrateOptions{Update: true}), "a updated")
	grown := m.files()["a.txt"]
	if !strings.Contains(grown, "two") {
		t.Errorf("%q", grown)
	}
	at := m.run(MigrateOptions{}).Migrated[0].File
	write(t, at, grown+"theirs\n")
	m.say("session a\nsay one\nsay two\nsay three\n")
	rep = m.run(MigrateOptions{Update: true})
	m.status(rep, "a failed")
	if !strings.Contains(rep.Migrated[0].Error.Hint, "--again") || m.files()["a.txt"] != grown+"theirs\n" {
		t.Errorf("%+v, %q", rep.Migrated[0].Error, m.files())
	}
	rep = m.run(MigrateOptions{Again: true})
	m.status(rep, "a placed")
	if rep.Migrated[0].Session != "a#2" || len(m.files()) != 2 {
		t.Errorf("%+v %q", rep.Migrated[0], m.files())
	}
	if rep = m.run(MigrateOptions{Again: true}); rep.Migrated[0].Session != "a#3" {
		t.Errorf("%+v", rep.Migrated[0])
	}
}

// TestMigrateReadAgain: sessions are read again while the next ones are written,
// and are reported in their order, whatever that took and came to.
func TestMigrateReadAgain(t *testing.T) {
	to := client()
	began, release := make(chan struct{}), make(chan struct{})
	verifying(to, func(path string) error {
		switch filepath.Base(path) {
		case "0": // the first is the last to be done
			close(began)
			<-release // or nobody else is read meanwhile, and this waits for ever
		case "1":
			<-began
			close(release)
			return errors.New("not what was written")
		}
		return nil
	})
	for _, dry := range []bool{true, false} {
		began, release = make(chan struct{}), make(chan struct{})
		m := newMover(t, "session a\nsay one\nsession b\nsay two\nbad c\nsession d\nsay four\n")
		m.parents = map[string]string{"d": "a"}
		rep, err := Migrate(t.Context(), formats.NewRegistry(m.format(), to), []MigrateSource{{Path: m.src}}, MigrateOptions{To: "client", Dir: m.dir, Cwd: m.cwd, Jobs: 4, DryRun: dry})
		if err != nil {
			t.Fatal(err)
		}
		m.status(rep, "a "+map[bool]string{true: Checked, false: Placed}[dry], "b failed", "c failed")
		if rep.Migrated[0].Subagents != 1 || !strings.Contains(rep.Migrated[1].Error.Message, "not what was written") || dry != (len(m.files()) == 0) {
			t.Errorf("%+v", rep.Migrated)
		}
	}
}

// TestConvertSubagents: all that one session started lies with it, in its
// folder, however deep it was started; without it, each with who started it.
func TestConvertSubagents(t *testing.T) {
	m := newMover(t, "session a\nsay one\nsession b\nsay two\nsession c\nsay three\nsession e\nsay five\n")
	m.parents = map[string]string{"b": "a", "c": "b", "e": "gone"}
	reg := formats.NewRegistry(m.format(), client())
	convert := func(dst string, ids ...string) map[string]string {
		t.Helper()
		if _, err := Convert(t.Context(), reg, m.src, dst, Options{To: "client", Sessions: ids, Sidecar: "none"}); err != nil {
			t.Fatal(err)
		}
		return placed(t, dst)
	}
	got := convert(m.dir)
	if got["projects/a/c.txt"] != "c in  below a\nthree\nend\n" || got["projects/a/c.note"] != " below a" || got["projects/a/b.txt"] == "" || got["projects/gone/e.txt"] == "" || len(got) != 7 {
		t.Errorf("%q", got)
	}
	if got := convert(m.dir+"-2", "c"); got["projects/b/c.txt"] == "" || len(got) != 2 {
		t.Errorf("%q", got)
	}
}

func TestMigrateFailures(t *testing.T) {
	m := newMover(t, "session a\nsay one\nbad b\nsession c\nsay unwritable\nsession d\nsay four\n")
	rep := m.run(MigrateOptions{})
	m.status(rep, "a placed", "b failed", "c failed", "d placed")
	if rep.Count(Placed) != 2 || rep.Count(Placed, Failed) != 4 {
		t.Errorf("%d placed", rep.Count(Placed))
	}
	o := MigrateOptions{To: "client", Dir: m.dir}
	rep, err := Migrate(t.Context(), formats.NewRegistry(talk(nil), client()), []MigrateSource{{Path: m.src}}, o)
	if err != nil || !strings.Contains(rep.Migrated[0].Error.Hint, "--cwd") {
		t.Errorf("%+v, %v: no folder is known", rep.Migrated[0].Error, err)
	}
	m = newMover(t, "session a\nsay one\nsession b\nsay two\nsession c\nsay three\n")
	m.parents = map[string]string{"b": "a", "c": "b"}
	rep, err = Migrate(t.Context(), formats.NewRegistry(m.format(), client()), []MigrateSource{{Path: m.src}}, o)
	if m.status(rep, "a failed"); err != nil || len(rep.Migrated[0].Losses) > 0 { // where a session has no place, its subagents have none
		t.Errorf("%+v, %v", rep.Migrated, err)
	}
	for _, to := range []string{"talk", "nothing"} {
		if _, err := Migrate(t.Context(), formats.NewRegistry(talk(nil), client()), nil, MigrateOptions{To: to}); err == nil {
			t.Errorf("%s: no client looks for that", to)
		}
	}
}

func TestWorkspaceOf(t *testing.T) {
	dir := t.TempDir()
	real, err := filepath.EvalSymlinks(dir)
	if err != nil {
		t.Fatal(err)
	}
	if got, err := workspaceOf(&session.Head{Workspace: dir}); err != nil || got != real {
		t.Errorf("%q, %v, want %q", got, err, real)
	}
	for _, folder := range []string{"", filepath.Join(dir, "gone"), write(t, filepath.Join(dir, "file"), ""), "relative"} {
		if got, err := workspaceOf(&session.Head{Workspace: folder}); err == nil || !strings.Contains(formats.Hint(err), "--cwd") {
			t.Errorf("%q is %q: %v", folder, got, err)
		}
	}
}

// A client removes what looks old.
func TestKept(t *testing.T) {
	now := time.Date(2026, 11, 20, 12, 0, 0, 0, time.UTC)
	before := now
	for _, days := range []int{0, 3, 7, 8, 29, 31, 400, 20000} {
		last := now.AddDate(0, 0, -days)
		got := (&formats.Home{Keep: 30 * 24 * time.Hour}).ShownTime(last, now)
		if days <= 7 && !got.Equal(last) || now.Sub(got) > 8*24*time.Hour || days > 0 && !got.Before(before) {
			t.Errorf("%d days: %s, behind %s", days, got, before)
		}
		before = got
		if got := (&formats.Home{}).ShownTime(last, now); !got.Equal(last) {
			t.Errorf("%d days, in a client that deletes nothing: %s", days, got)
		}
	}
}

// TestMigrateSweeps: a killed migration waited above the folder of projects,
// which was not there yet.
func TestMigrateSweeps(t *testing.T) {
	m := newMover(t, "session a First\nsay hello\n")
	dead := filepath.Join(filepath.Dir(m.dir), ".sessions.rehome-0123456789abcdef")
	write(t, filepath.Join(dead, "lock"), "")
	write(t, filepath.Join(dead, "tree", "0"), "hello")
	m.status(m.run(MigrateOptions{}), "a placed")
	if _, err := os.Lstat(dead); err == nil {
		t.Error("still there")
	}
}

// TestMigrateFromAbove: sessions can come from a folder that the client's own
// lies in, and no name below that is taken for the target.
func TestMigrateFromAbove(t *testing.T) {
	m := newMover(t, "session a First\nsay hello\n")
	m.dir = filepath.Join(filepath.Dir(m.src), "config")
	for _, name := range []string{"rehome", "sessions"} {
		if err := os.MkdirAll(filepath.Join(m.dir, "projects", name), 0o777); err != nil {
			t.Fatal(err)
		}
	}
	file := m.src
	m.src = filepath.Dir(m.src)
	m.status(m.run(MigrateOptions{}), "a placed")
	if b, err := os.ReadFile(file); err != nil || string(b) != "talk\nsession a First\nsay hello\n" {
		t.Errorf("the source is %q, %v", b, err)
	}
	m.status(m.run(MigrateOptions{}), "a same")
}

// TestMigrateRace: of two runs that place the same session at once the later one
// finds what it would have written.
func TestMigrateRace(t *testing.T) {
	for _, theirs := range []bool{false, true} {
		m := newMover(t, "session a First\nsay hello\nsession k Kid\nsay hi\n")
		m.parents = map[string]string{"k": "a"}
		m.rename = &renameFuncs{replace: os.Rename, create: func(from, to string) error {
			b, err := os.ReadFile(from)
			if err == nil && theirs && strings.HasSuffix(to, "a.txt") {
				b = append(b, "and more\n"...)
			}
			if err == nil {
				err = os.WriteFile(to, b, 0o600) // the other run
			}
			return errors.Join(err, fsx.Move(from, to))
		}}
		rep := m.run(MigrateOptions{})
		if theirs {
			m.status(rep, "a failed")
			if !errors.Is(rep.Migrated[0].Err(), formats.ErrExists) {
				t.Error(rep.Migrated[0].Err())
			}
			continue
		}
		m.status(rep, "a same")
	}
}

// TestMigrateUpdateIsUndone: what was replaced is put back, and what was made is
// removed, where the last file of a session cannot have its name.
func TestMigrateUpdateIsUndone(t *testing.T) {
	m := newMover(t, "session a First\nsay hello\nsession k Kid\nsay hi\n")
	m.parents = map[string]string{"k": "a", "l": "a"}
	m.status(m.run(MigrateOptions{}), "a placed")
	before := m.files()
	m.say("session a First\nsay hello\nsay more\nsession k Kid\nsay hi\nsay more\nsession l Late\nsay late\n")
	broken := errors.New("the disk says no")
	m.rename = &renameFuncs{create: fsx.Move, replace: func(from, to string) error {
		if strings.HasSuffix(to, "a.txt") {
			return broken
		}
		return os.Rename(from, to)
	}}
	rep := m.run(MigrateOptions{Update: true})
	m.status(rep, "a failed")
	if !errors.Is(rep.Migrated[0].Err(), broken) {
		t.Error(rep.Migrated[0].Err())
	}
	if after := m.files(); !maps.Equal(before, after) {
		t.Errorf("before %q\nafter %q", before, after)
	}
	m.rename = nil
	m.status(m.run(MigrateOptions{Update: true}), "a updated")
}

// TestMigrateBroken: of a store that cannot be read to its end nothing is placed,
// and each session says why.
func TestMigrateBroken(t *testing.T) {
	m := newMover(t, "session a First\nsay hello\nbreak\n")
	rep := m.run(MigrateOptions{})
	m.status(rep, "a failed")
	if !strings.Contains(rep.Migrated[0].Error.Message, "malformed page") || len(m.files()) != 0 {
		t.Errorf("%+v, %q", rep.Migrated[0].Error, m.files())
	}
}
