package convert

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"rehome/formats"
)

func hintOf(err error) string { return " " + formats.Hint(err) }

const deadName = ".b.rehome-0123456789abcdef"

// left behind in every state that a killed run can leave.
func TestSweeping(t *testing.T) {
	states := map[string][]string{
		"just made": {},
		"locked":    {"lock"},
		"half way":  {"lock", "tree/b/rows.txt", "tree/b.residue.ndjson"},
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
		must(t, fakes(nil, nil), src, filepath.Join(dir, "b"), Options{To: "right", Say: func(s string) { said = append(said, s) }})
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

func TestLivingRunIsNotSwept(t *testing.T) {
	dir := t.TempDir()
	src := write(t, filepath.Join(dir, "a"), leftText(3))
	goal, err := resolve(filepath.Join(dir, "b"))
	if err != nil {
		t.Fatal(err)
	}
	alive, err := newStaging(goal, func(s string) { t.Error(s) })
	if err != nil {
		t.Fatal(err)
	}
	must(t, fakes(nil, nil), src, filepath.Join(dir, "b"), Options{To: "right", Say: func(s string) { t.Error(s) }})
	if _, err := os.Stat(alive.tree); err != nil {
		t.Errorf("the folder of a living run was swept: %v", err)
	}
	if err := alive.remove(); err != nil {
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
	for _, base := range []string{strings.Repeat("n", 255), strings.Repeat("é", 120), "a\nb", "*?[", " ", "-rf", "..."} {
		dir := t.TempDir()
		src := write(t, filepath.Join(dir, "a"), leftText(3))
		if rep := must(t, fakes(nil, nil), src, filepath.Join(dir, base), Options{To: "right"}); !rep.Placed {
			t.Errorf("%q", base)
		}
	}
}
