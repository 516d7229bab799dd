package convert

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"rehome/formats"
	"rehome/formats/session"
	"rehome/internal/fsx"
)

// folders is a client with a folder for each session and its subagents: a line for each
// message in the file talk, and the file opened, which it writes when it opens one.
func folders() *formats.Format {
	to := client()
	to.Writer = &formats.Writer{
		New:     func() formats.Sink { return &folderSink{} },
		Path:    func(h *session.Head) string { return "projects/" + filepath.Base(h.Workspace) + "/" + h.ID },
		ID:      func(h *session.Head) string { return h.ID },
		Folders: true,
		Unmodified: func(_ context.Context, path string) (bool, error) {
			b, err := os.ReadFile(filepath.Join(path, "talk"))
			return strings.HasSuffix(string(b), "end\n"), err
		},
		State: func(_ context.Context, path string) (string, error) {
			b, err := os.ReadFile(filepath.Join(path, "talk"))
			if errors.Is(err, fs.ErrNotExist) || !strings.HasSuffix(string(b), "end\n") {
				return "", nil
			}
			return string(b), err
		},
	}
	return to
}

type folderSink struct{ path, text string }

func (k *folderSink) Put(_ context.Context, s *session.Session, b formats.SessionBuild) (*formats.Draft, error) {
	if s.Parent == nil {
		k.path, k.text = b.Path, ""
		if err := os.Mkdir(b.Path, 0o755); err != nil {
			return nil, err
		}
	}
	for m, err := range s.Messages {
		if err != nil {
			return nil, err
		}
		k.text += s.ID + ": " + m.Parts[0].(*session.Text).Text + "\n"
	}
	return &formats.Draft{Within: s.Parent != nil, Verify: func(context.Context) error { return nil }}, nil
}

func (k *folderSink) Finish(context.Context) error {
	return os.WriteFile(filepath.Join(k.path, "talk"), []byte(k.text+"end\n"), 0o644)
}

// TestMigrateFolders: a session and its subagents are one folder, which is placed, kept and
// replaced like a file.
func TestMigrateFolders(t *testing.T) {
	const first = "session a\nsay one\nsession b\nsay two\n"
	m := newMover(t, first)
	m.to, m.parents = folders(), map[string]string{"b": "a"}
	rep := m.run(MigrateOptions{DryRun: true})
	if m.status(rep, "a checked"); len(m.files()) != 0 {
		t.Errorf("a dry run placed %q", m.files())
	}
	rep = m.run(MigrateOptions{})
	m.status(rep, "a placed")
	at := rep.Migrated[0].File
	talk := func() string {
		t.Helper()
		b, err := os.ReadFile(filepath.Join(at, "talk"))
		if err != nil {
			t.Fatal(err)
		}
		return string(b)
	}
	if talk() != "a: one\nb: two\nend\n" || rep.Migrated[0].Subagents != 1 || rep.Migrated[0].Session != "a" || len(m.files()) != 1 {
		t.Errorf("%q, %+v", m.files(), rep.Migrated[0])
	}
	for path, want := range map[string]fs.FileMode{at: 0o700, filepath.Join(at, "talk"): 0o600} {
		if info, err := os.Stat(path); err != nil || info.Mode().Perm() != want && os.PathSeparator == '/' {
			t.Errorf("%v %v: the client's own files are private", info.Mode(), err)
		}
	}
	m.status(m.run(MigrateOptions{}), "a same")
	write(t, filepath.Join(at, "opened"), "")
	m.status(m.run(MigrateOptions{}), "a same")

	m.say(first + "say more\n")
	rep = m.run(MigrateOptions{})
	if m.status(rep, "a failed"); !strings.Contains(rep.Migrated[0].Error.Hint, "--update") {
		t.Errorf("%+v", rep.Migrated[0].Error)
	}
	broken := errors.New("the disk says no")
	m.rename = &renameFuncs{create: fsx.Move, replace: func(from, to string) error { return broken }}
	rep = m.run(MigrateOptions{Update: true})
	if m.status(rep, "a failed"); !errors.Is(rep.Migrated[0].Err(), broken) || talk() != "a: one\nb: two\nend\n" {
		t.Errorf("%v, %q", rep.Migrated[0].Err(), talk())
	}
	m.rename = nil
	m.status(m.run(MigrateOptions{Update: true}), "a updated")
	if talk() != "a: one\nb: two\nb: more\nend\n" || len(m.files()) != 1 {
		t.Errorf("%q", m.files())
	}

	write(t, filepath.Join(at, "talk"), talk()+"theirs\n")
	rep = m.run(MigrateOptions{Update: true})
	if m.status(rep, "a failed"); !strings.Contains(rep.Migrated[0].Error.Hint, "--again") || !strings.HasSuffix(talk(), "theirs\n") {
		t.Errorf("%+v, %q", rep.Migrated[0].Error, talk())
	}
	if rep = m.run(MigrateOptions{Again: true}); rep.Migrated[0].Session != "a#2" || len(m.files()) != 2 {
		t.Errorf("%+v, %q", rep.Migrated[0], m.files())
	}
	if err := errors.Join(os.RemoveAll(at), os.WriteFile(at, nil, 0o600)); err != nil {
		t.Fatal(err)
	}
	m.status(m.run(MigrateOptions{Update: true}), "a failed") // a file that is no session
	if list, err := os.ReadDir(filepath.Dir(filepath.Dir(at))); err != nil || len(list) != 1 {
		t.Errorf("%v, %v: something is left behind", list, err)
	}
}

// TestMigrateFolderRace: of two runs that place the same folder at once, the later one finds
// what it would have written, or refuses.
func TestMigrateFolderRace(t *testing.T) {
	for text, want := range map[string]string{"a: one\nend\n": "a same", "a: other\nend\n": "a failed"} {
		m := newMover(t, "session a\nsay one\n")
		m.to = folders()
		m.rename = &renameFuncs{replace: fsx.Replace, create: func(from, to string) error {
			return errors.Join(os.Mkdir(to, 0o700), os.WriteFile(filepath.Join(to, "talk"), []byte(text), 0o600), fsx.Move(from, to))
		}}
		m.status(m.run(MigrateOptions{}), want)
	}
}
