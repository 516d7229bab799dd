package convert

import (
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"rehome/convert/internal/stage"
	"rehome/formats"
)

func hintOf(err error) string { return " " + formats.Hint(err) }

const deadName = ".b.rehome-0123456789abcdef"

// left behind in every state that a killed run can leave.
func TestSweeping(t *testing.T) {
	states := map[string][]string{
		"just made": {},
		"locked":    {"lock"},
		"half way":  {"lock", "tree/b/rows.txt", "tree/b.sidecar.ndjson"},
	}
	for name, files := range states {
		dir := t.TempDir()
		src := write(t, filepath.Join(dir, "a"), leftText(3))
		dead := filepath.Join(dir, deadName)
		os.Mkdir(dead, 0o700)
		for _, f := range files {
			write(t, filepath.Join(dead, f), "")
		}
		other := write(t, filepath.Join(dir, ".c.rehome-0123456789abcdef", "lock"), "") // another target's
		longer := write(t, filepath.Join(dir, ".b.rehome-0123456789abcdef0", "lock"), "")
		var said []string
		must(t, fakes(nil, nil), src, filepath.Join(dir, "b"), Options{To: "right", OnNotice: func(s string) { said = append(said, s) }})
		if _, err := os.Lstat(dead); err == nil {
			t.Errorf("%s: still there", name)
		}
		if len(said) != 1 || !strings.Contains(said[0], deadName) {
			t.Errorf("%s: said %q", name, said)
		}
		for _, p := range []string{other, longer} {
			if _, err := os.Lstat(p); err != nil {
				t.Errorf("%s: somebody else's folder was swept: %v", name, err)
			}
		}
	}
}

// TestSweepingBehindARefusal: a run that was killed behind its last rename left
// a target and a folder beside it. The next run is refused for the one and
// sweeps the other, also where the folder was made further up: because there
// was none nearer then.
func TestSweepingBehindARefusal(t *testing.T) {
	for _, at := range []string{".", "..", "../.."} {
		dir := filepath.Join(t.TempDir(), "x", "y")
		src := write(t, filepath.Join(dir, "a"), leftText(3))
		write(t, filepath.Join(dir, "b", "rows.txt"), "")
		dead := filepath.Join(dir, at, deadName)
		write(t, filepath.Join(dead, "lock"), "")
		write(t, filepath.Join(dead, "tree", "b"), "a key")
		for _, dry := range []bool{true, false} {
			_, err := Convert(t.Context(), fakes(nil, nil), src, filepath.Join(dir, "b"), Options{To: "right", DryRun: dry})
			if !errors.Is(err, formats.ErrExists) {
				t.Errorf("%s: %v", at, err)
			}
			if _, err := os.Lstat(dead); dry != (err == nil) {
				t.Errorf("%s, dry %v: %v", at, dry, err)
			}
		}
	}
}

func TestLivingRunIsNotSwept(t *testing.T) {
	dir := t.TempDir()
	src := write(t, filepath.Join(dir, "a"), leftText(3))
	goal, err := stage.Resolve(filepath.Join(dir, "b"))
	if err != nil {
		t.Fatal(err)
	}
	alive, err := stage.New(goal)
	if err != nil {
		t.Fatal(err)
	}
	must(t, fakes(nil, nil), src, filepath.Join(dir, "b"), Options{To: "right", OnNotice: func(s string) { t.Error(s) }})
	if _, err := os.Stat(alive.Tree); err != nil {
		t.Errorf("the folder of a living run was swept: %v", err)
	}
	if err := alive.Remove(); err != nil {
		t.Error(err)
	}
}

// A name and a lock that somebody planted must not lead anywhere.
func TestSweepingFollowsNoLinks(t *testing.T) {
	dir := t.TempDir()
	src := write(t, filepath.Join(dir, "a"), leftText(3))
	theirs := write(t, filepath.Join(dir, "theirs", "tree", "f"), "theirs")
	lock := write(t, filepath.Join(dir, "theirs", "lock"), "")
	os.Symlink("theirs", filepath.Join(dir, deadName))
	planted := filepath.Join(dir, ".b.rehome-fedcba9876543210")
	os.Mkdir(planted, 0o777)
	os.Symlink(lock, filepath.Join(planted, "lock"))
	os.Symlink("../theirs/tree", filepath.Join(planted, "tree"))
	must(t, fakes(nil, nil), src, filepath.Join(dir, "b"), Options{To: "right"})
	if b, _ := os.ReadFile(theirs); string(b) != "theirs" {
		t.Error("swept through a link")
	}
}

func TestLongAndOddNames(t *testing.T) {
	names := []string{strings.Repeat("n", 255), strings.Repeat("é", 120), "a\nb", "*?[", " ", "-rf", "..."}
	if runtime.GOOS == "linux" { // other disks take UTF-8 alone
		names = append(names, "not \xff UTF-8", strings.Repeat("\xfe", 250))
	}
	for _, base := range names {
		dir := t.TempDir()
		src := write(t, filepath.Join(dir, "a"), leftText(3))
		if rep := must(t, fakes(nil, nil), src, filepath.Join(dir, base), Options{To: "right"}); !rep.Placed {
			t.Errorf("%q", base)
		}
	}
}
