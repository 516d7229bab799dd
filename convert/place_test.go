package convert

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"rehome/formats"
	"rehome/internal/fsx"
)

func TestExistingTargetIsRefused(t *testing.T) {
	for _, kind := range []string{"file", "folder", "dangling link"} {
		dir := t.TempDir()
		src, dst := write(t, filepath.Join(dir, "a"), leftText(3)), filepath.Join(dir, "b")
		switch kind {
		case "file":
			write(t, dst, "mine")
		case "folder":
			os.Mkdir(dst, 0o777)
		default:
			os.Symlink("nowhere", dst)
		}
		leavesNothing(t, dir, func() {
			_, err := Convert(t.Context(), fakes(nil, nil), src, dst, Options{To: "right"})
			if !errors.Is(err, formats.ErrExists) || !strings.Contains(formats.Hint(err), "--replace") {
				t.Errorf("%s: %v (hint %q)", kind, err, formats.Hint(err))
			}
		})
	}
}

func TestReplaceKeepsEveryOldOne(t *testing.T) {
	dir := t.TempDir()
	src, dst := write(t, filepath.Join(dir, "a"), leftText(3)), write(t, filepath.Join(dir, "b"), "mine")
	for n := 1; n <= 3; n++ {
		rep := must(t, fakes(nil, nil), src, dst+"/", Options{To: "left", Replace: true})
		if want := fmt.Sprintf("%s.bak-%d", dst, n); rep.Backup != want {
			t.Errorf("backup %s, want %s", rep.Backup, want)
		}
	}
	if b, _ := os.ReadFile(dst + ".bak-1"); string(b) != "mine" {
		t.Errorf(".bak-1 holds %q", b)
	}
	if b, _ := os.ReadFile(dst + ".bak-3"); string(b) != leftText(3) {
		t.Errorf(".bak-3 holds %q", b)
	}
	if got := len(tree(t, dir)); got != 6 {
		t.Errorf("%q", tree(t, dir))
	}
	os.Remove(dst + ".bak-2")
	if rep := must(t, fakes(nil, nil), src, dst, Options{To: "left", Replace: true}); rep.Backup != dst+".bak-2" {
		t.Errorf("the first free name is .bak-2, not %s", rep.Backup)
	}
}

func TestReplaceMovesALinkNotWhatItLeadsTo(t *testing.T) {
	dir := t.TempDir()
	src := write(t, filepath.Join(dir, "a"), leftText(3))
	write(t, filepath.Join(dir, "theirs"), "theirs")
	os.Symlink("theirs", filepath.Join(dir, "b"))
	must(t, fakes(nil, nil), src, filepath.Join(dir, "b"), Options{To: "left", Replace: true})
	if to, err := os.Readlink(filepath.Join(dir, "b.bak-1")); err != nil || to != "theirs" {
		t.Errorf("%s, %v", to, err)
	}
	if b, _ := os.ReadFile(filepath.Join(dir, "theirs")); string(b) != "theirs" {
		t.Errorf("written through the link: %q", b)
	}
}

// TestSecondRenameFails: the old target and its sidecar are put back.
func TestSecondRenameFails(t *testing.T) {
	for _, ext := range []string{"", "/deep/er"} {
		for fail := 1; fail <= 4; fail++ {
			dir := t.TempDir()
			src := write(t, filepath.Join(dir, "a", "rows.txt"), "right\norigin left\ntable t\n1\t!withheld\n2\tx\n")
			dst := filepath.Join(dir, "b") + ext
			if ext == "" {
				write(t, dst, "mine")
				write(t, dst+formats.SidecarSuffix, "my sidecar")
			}
			n := 0
			rename := func(from, to string) error {
				if n++; n == fail {
					return errors.New("no luck")
				}
				return fsx.Move(from, to)
			}
			leavesNothing(t, dir, func() {
				rep, err := convertWith(t.Context(), fakes(nil, nil), filepath.Dir(src), dst, Options{To: "left", Replace: true}, rename)
				if err == nil && n >= fail {
					t.Errorf("rename %d failed unheard", fail)
				}
				if err != nil && (rep.Placed || rep.Backup != "" || rep.Sidecar != "") {
					t.Errorf("the report speaks of what is not there: %+v", rep)
				}
				if err == nil { // fewer renames than that: undo by hand
					os.RemoveAll(filepath.Join(dir, "b"))
					if ext == "" {
						t.Errorf("%d renames, want 4", n)
					}
				}
			})
		}
	}
}

func TestTargetAppearsMeanwhile(t *testing.T) {
	for _, replace := range []bool{false, true} {
		dir := t.TempDir()
		src, dst := write(t, filepath.Join(dir, "a"), leftText(3)), filepath.Join(dir, "b")
		rename := func(from, to string) error {
			if to == dst {
				write(t, dst, "theirs")
			}
			return fsx.Move(from, to)
		}
		_, err := convertWith(t.Context(), fakes(nil, nil), src, dst, Options{To: "right", Replace: replace}, rename)
		if !errors.Is(err, formats.ErrExists) {
			t.Errorf("got %v", err)
		}
		if b, _ := os.ReadFile(dst); string(b) != "theirs" {
			t.Errorf("theirs is gone: %q", b)
		}
		if got := len(tree(t, dir)); got != 3 {
			t.Errorf("%q", tree(t, dir))
		}
	}
}

func TestMissingFolders(t *testing.T) {
	dir := t.TempDir()
	src, dst := write(t, filepath.Join(dir, "a"), leftText(3)), filepath.Join(dir, "x", "y", "b")
	rename := func(from, to string) error {
		if to == filepath.Join(dir, "x") { // somebody else makes the same folders
			write(t, filepath.Join(dir, "x", "y", "theirs"), "theirs")
		}
		return fsx.Move(from, to)
	}
	rep, err := convertWith(t.Context(), fakes(nil, nil), src, dst, Options{To: "right"}, rename)
	if err != nil || !rep.Placed {
		t.Fatal(err)
	}
	want := "./ a x/ x/y/ x/y/b/ x/y/b/rows.txt x/y/theirs"
	var got []string
	for _, l := range tree(t, dir) {
		got = append(got, strings.Fields(l)[0])
	}
	if s := strings.Join(got, " "); s != want {
		t.Errorf("got %s, want %s", s, want)
	}
}

func TestModesFollowTheUmask(t *testing.T) {
	if runtime.GOOS == "windows" {
		return // modes mean nothing there
	}
	dir := t.TempDir()
	src, dst := write(t, filepath.Join(dir, "a"), leftText(3)), filepath.Join(dir, "x", "b")
	must(t, fakes(nil, nil), src, dst, Options{To: "right"})
	plain := filepath.Join(dir, "plain")
	os.Mkdir(plain, 0o777)
	want, _ := os.Stat(plain)
	for _, p := range []string{filepath.Join(dir, "x"), dst} {
		if got, err := os.Stat(p); err != nil || got.Mode() != want.Mode() {
			t.Errorf("%s: %v, want %v (%v)", p, got.Mode(), want.Mode(), err)
		}
	}
}
