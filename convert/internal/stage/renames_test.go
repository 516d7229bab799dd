package stage

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"testing"

	"rehome/internal/fsx"
)

// TestPlace: a target appears with one rename, also if another program makes the folders above
// it meanwhile. What it replaces is kept, and comes back if it cannot be placed.
func TestPlace(t *testing.T) {
	broken := errors.New("the disk says no")
	appears := func(names ...string) func(string) error {
		return func(dir string) error { return os.MkdirAll(filepath.Join(append([]string{dir}, names...)...), 0o700) }
	}
	for _, test := range []struct {
		name, target string
		old          bool                        // something is there
		meanwhile    func(dir string) error      // by another program
		rename       func(from, to string) error // nil = fsx.Move
		want         error
		is, bak      string // what is at the target and at its backup then
	}{
		{name: "new", target: "t", is: "new"},
		{name: "new below new folders", target: "a/b/t", is: "new"},
		{name: "one folder appears", target: "a/b/t", meanwhile: appears("a"), is: "new"},
		{name: "all folders appear", target: "a/b/t", meanwhile: appears("a", "b"), is: "new"},
		{name: "a file appears", target: "a/b/t", meanwhile: func(d string) error {
			return os.WriteFile(filepath.Join(d, "a"), nil, 0o600)
		}, want: ErrNotFolder},
		{name: "the target appears", target: "a/t", meanwhile: func(d string) error {
			return errors.Join(os.Mkdir(filepath.Join(d, "a"), 0o700), os.WriteFile(filepath.Join(d, "a", "t"), []byte("theirs"), 0o600))
		}, want: ErrAppeared, is: "theirs"},
		{name: "replaced", target: "t", old: true, is: "new", bak: "old"},
		{name: "not replaced", target: "t", old: true, rename: func(from, to string) error {
			if filepath.Base(to) == "t" {
				return broken
			}
			return fsx.Move(from, to)
		}, want: broken, is: "old"},
	} {
		t.Run(test.name, func(t *testing.T) {
			dir, err := filepath.EvalSymlinks(t.TempDir())
			if err != nil {
				t.Fatal(err)
			}
			path := filepath.Join(dir, filepath.FromSlash(test.target))
			if test.old {
				err = os.WriteFile(path, []byte("old"), 0o600)
			}
			to, e := Resolve(path)
			s, e2 := New(to)
			if err := errors.Join(err, e, e2); err != nil {
				t.Fatal(err)
			}
			defer s.Remove()
			staged := s.StorePath(to, ".")
			if err := errors.Join(os.MkdirAll(filepath.Dir(staged), 0o700), os.WriteFile(staged, []byte("new"), 0o600)); err != nil {
				t.Fatal(err)
			}
			if test.meanwhile != nil {
				if err := test.meanwhile(dir); err != nil {
					t.Fatal(err)
				}
			}
			m := &Renames{Rename: fsx.Move}
			if test.rename != nil {
				m.Rename = test.rename
			}
			kept, err := m.Place(s.Tree, to, test.old)
			if !errors.Is(err, test.want) || (kept != "") != (test.bak != "") {
				t.Errorf("%q, %v, want %v", kept, err, test.want)
			}
			for at, want := range map[string]string{path: test.is, path + BackupMark + "1": test.bak} {
				got, err := os.ReadFile(at)
				if string(got) != want || want == "" && !errors.Is(err, fs.ErrNotExist) && !errors.Is(err, errNotDir()) {
					t.Errorf("%s: %q, %v, want %q", at, got, err, want)
				}
			}
		})
	}
}

// errNotDir is the error of a path that leads through a file.
func errNotDir() error {
	_, err := os.Stat(filepath.Join(os.Args[0], "x"))
	return errors.Unwrap(err)
}
