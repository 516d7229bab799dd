package convert

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"rehome/convert/internal/stage"
	"rehome/formats"
	"rehome/formats/store"
	"rehome/internal/fsx"
)

// aparts is homes, but for a right client that keeps the folder side of its
// stores in side, beside the folder of its stores.
func aparts() *formats.Registry {
	reg := homes()
	right := reg.Lookup("right")
	right.Home.Store = func(home, cwd string) string { return filepath.Join(home, ".client", "proj", "stores", "s") }
	right.Home.External = func(home, cwd string) (string, string) { return "side", filepath.Join(home, ".client", "proj", "side") }
	create := right.Records.Create
	right.Records.Create = func(ctx context.Context, b formats.Build) (store.Writer, error) {
		w, err := create(ctx, b)
		for _, name := range []string{"one", "two"} {
			err = errors.Join(err, os.MkdirAll(filepath.Join(b.Path, "side", name), 0o777),
				os.WriteFile(filepath.Join(b.Path, "side", name, "a"), []byte(name), 0o666), os.WriteFile(filepath.Join(b.Path, "side", name, "b"), nil, 0o666))
		}
		return w, err
	}
	return reg
}

// apartScene is a source, and a home in which some of the client's folders are
// there already.
type apartScene struct{ dir, src, home, place, side string }

func newApartScene(t *testing.T, there ...string) apartScene {
	dir := t.TempDir()
	s := apartScene{dir: dir, src: write(t, filepath.Join(dir, "a"), leftText(3)), home: filepath.Join(dir, "home")}
	s.place, s.side = filepath.Join(s.home, ".client", "proj", "stores", "s"), filepath.Join(s.home, ".client", "proj", "side")
	for _, name := range there {
		if strings.HasSuffix(name, "/") {
			os.MkdirAll(filepath.Join(s.home, name), 0o777)
			continue
		}
		write(t, filepath.Join(s.home, name), "theirs")
	}
	return s
}

func (s apartScene) carry(t *testing.T, o Options, rename func(from, to string) error) (*Report, error) {
	o.To, o.Cwd, o.Home = "right", "/ws", s.home
	return convertWith(t.Context(), aparts(), s.src, "", o, rename)
}

// whole is why what stands in the home folder is no state to be found in: a
// store that is there is complete, and so is each entry beside it; and the
// store does not come first.
func (s apartScene) whole() string {
	placed := false
	if _, err := os.Lstat(s.place); err == nil {
		if _, err := os.Lstat(filepath.Join(s.place, "rows.txt")); err == nil {
			placed = true
		}
		if _, err := os.Lstat(filepath.Join(s.place, "side")); err == nil {
			return "the folder is inside the store"
		}
	}
	for _, name := range []string{"one", "two"} {
		a, err := os.ReadFile(filepath.Join(s.side, name, "a"))
		if _, also := os.Lstat(filepath.Join(s.side, name, "b")); err == nil && string(a) == name && also != nil {
			return name + " is there by half"
		}
		if placed && string(a) != name {
			return "the store is there, " + name + " is not"
		}
	}
	return ""
}

var apartHomes = map[string][]string{
	"no home":           nil,
	"a client":          {".client/"},
	"a project":         {".client/proj/"},
	"stores":            {".client/proj/stores/"},
	"another's store":   {".client/proj/stores/other/x", ".client/proj/side/other/a"},
	"a side folder":     {".client/proj/side/"},
	"a link in the way": nil,
	"one is there":      nil,
}

// TestOutside: whatever of the client's folders is there, the store comes into
// its place, its folder beside it, and nothing else is touched.
func TestOutside(t *testing.T) {
	for name, there := range apartHomes {
		s := newApartScene(t, there...)
		if name == "a link in the way" {
			os.MkdirAll(filepath.Join(s.dir, "elsewhere"), 0o777)
			os.MkdirAll(s.home, 0o777)
			os.Symlink("../elsewhere", filepath.Join(s.home, ".client"))
		}
		if name == "one is there" { // an interrupted run left it
			write(t, filepath.Join(s.side, "one", "a"), "one")
			write(t, filepath.Join(s.side, "one", "b"), "")
		}
		rep, err := s.carry(t, Options{}, fsx.Move)
		if err != nil || !rep.Placed || rep.Target != s.place {
			t.Errorf("%s: %v, %+v", name, err, rep)
			continue
		}
		if bad := s.whole(); bad != "" {
			t.Errorf("%s: %s", name, bad)
		}
		if b, err := os.ReadFile(filepath.Join(s.side, "two", "a")); err != nil || string(b) != "two" {
			t.Errorf("%s: %q, %v", name, b, err)
		}
		for _, l := range tree(t, s.home) {
			if strings.Contains(l, formats.StagingMark) || strings.Contains(l, stage.BackupMark) {
				t.Errorf("%s: left behind: %s", name, l)
			}
		}
	}
}

// TestOutsideFails: whichever rename fails, and wherever the run is stopped,
// nothing is half there.
func TestOutsideFails(t *testing.T) {
	for name, there := range apartHomes {
		for _, replace := range []bool{false, true} {
			for fail := 1; ; fail++ {
				s := newApartScene(t, there...)
				if replace {
					write(t, filepath.Join(s.side, "one", "a"), "mine")
					write(t, filepath.Join(s.place, "rows.txt"), "mine")
				}
				before, n := tree(t, s.dir), 0
				rename := func(from, to string) error {
					if n++; n == fail {
						return errors.New("no luck")
					}
					err := fsx.Move(from, to)
					if bad := s.whole(); bad != "" && !replace {
						t.Errorf("%s: after rename %d of %s: %s", name, n, to, bad)
					}
					return err
				}
				_, err := s.carry(t, Options{Replace: replace}, rename)
				if n < fail {
					if err != nil {
						t.Errorf("%s: %v", name, err)
					}
					break
				}
				if after := tree(t, s.dir); err == nil || !slices.Equal(before, after) {
					t.Errorf("%s, replace %v: rename %d failed (%v) and left\n%q\n%q", name, replace, fail, err, before, after)
				}
			}
		}
	}
}

// TestOutsideTaken: what the client has is never written into.
func TestOutsideTaken(t *testing.T) {
	s := newApartScene(t, ".client/proj/side/one/a", ".client/proj/side/one.bak-1/a")
	for _, dry := range []bool{true, false} {
		leavesNothing(t, s.dir, func() {
			_, err := s.carry(t, Options{DryRun: dry}, fsx.Move)
			if !errors.Is(err, formats.ErrExists) || !strings.Contains(formats.Hint(err), "one.bak-1") || !strings.Contains(err.Error(), filepath.Join("side", "one")) {
				t.Errorf("dry run %v: %v, hint %q", dry, err, formats.Hint(err))
			}
		})
	}
	said := ""
	if _, err := s.carry(t, Options{Replace: true, OnNotice: func(line string) { said += line + "\n" }}, fsx.Move); err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]string{"one/a": "one", "two/a": "two", "one.bak-1/a": "theirs", "one.bak-2/a": "theirs"} {
		if b, err := os.ReadFile(filepath.Join(s.side, filepath.FromSlash(name))); err != nil || string(b) != want {
			t.Errorf("%s: %q, %v, want %s", name, b, err, want)
		}
	}
	if !strings.Contains(said, "kept as one.bak-2") || !strings.Contains(said, s.side) {
		t.Errorf("said %q", said)
	}
	// What a stopped run has left is the same, and no hindrance.
	os.RemoveAll(s.place)
	if _, err := s.carry(t, Options{}, fsx.Move); err != nil {
		t.Error(err)
	}
	// A file of that name is nobody's folder.
	s = newApartScene(t, ".client/proj/side")
	leavesNothing(t, s.dir, func() {
		if _, err := s.carry(t, Options{Replace: true}, fsx.Move); err == nil || !strings.Contains(err.Error(), "not a folder") {
			t.Errorf("got %v", err)
		}
	})
	// With a target of its own the store is in one piece.
	s = newApartScene(t)
	rep, err := Convert(t.Context(), aparts(), s.src, filepath.Join(s.dir, "b"), Options{To: "right", Cwd: "/ws"})
	if _, e := os.Stat(filepath.Join(s.dir, "b", "side", "one", "a")); err != nil || e != nil || !rep.Placed {
		t.Error(err, e)
	}
}

// TestOutsideAppears: an entry that somebody makes meanwhile is theirs.
func TestOutsideAppears(t *testing.T) {
	for _, there := range []string{".client/proj/side/x", ".client/", "./"} {
		s := newApartScene(t, there)
		done := false
		rename := func(from, to string) error {
			if !done && !strings.HasPrefix(to, s.place) {
				done = true
				write(t, filepath.Join(s.side, "one", "a"), "theirs")
			}
			return fsx.Move(from, to)
		}
		_, err := s.carry(t, Options{}, rename)
		if !errors.Is(err, formats.ErrExists) {
			t.Errorf("%q: %v", there, err)
		}
		if b, _ := os.ReadFile(filepath.Join(s.side, "one", "a")); string(b) != "theirs" {
			t.Errorf("%q: theirs is now %q", there, b)
		}
		for _, p := range []string{s.place, filepath.Join(s.side, "two")} {
			if _, err := os.Lstat(p); err == nil {
				t.Errorf("%q: %s is there", there, p)
			}
		}
	}
}
