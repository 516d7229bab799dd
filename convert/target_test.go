package convert

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestTargetTouchesSource(t *testing.T) {
	dir := t.TempDir()
	src := filepath.Join(dir, "src")
	write(t, filepath.Join(src, "s"), leftText(3))
	write(t, filepath.Join(src, "sub", "s"), leftText(3))
	write(t, filepath.Join(dir, "single"), leftText(3))
	os.Symlink("src", filepath.Join(dir, "link"))
	os.Symlink("src/sub", filepath.Join(dir, "sub"))
	os.Symlink("single", filepath.Join(dir, "also"))
	os.Link(filepath.Join(dir, "single"), filepath.Join(dir, "hard"))
	t.Chdir(dir)
	same, inside, around := "source and target are the same", "the target is inside the source", "the source is inside the target"
	cases := []struct{ src, dst, want string }{
		{"src", "src", same},
		{"src", "./src/", same},
		{"src", "src/.", same},
		{"src", "src/sub/..", same},
		{"src", "link", same},
		{"link", "src", same},
		{"src", "x/../src", "does not exist"}, // x is not there: neither is the path
		{"src", "src/new", inside},
		{"src", "src/new/deep", inside},
		{"src", "link/new", inside},
		{"src", "sub/new", inside},
		{"src", "sub/../new", inside}, // the parent of what sub leads to is src
		{"src", dir + "/sub/../new", inside},
		{"link", "src/new", inside},
		{"src/sub", "src", around},
		{"sub", "src", around},
		{"src/sub/s", "link", around},
		{"single", "also", same},
		{"single", "hard", same},
		{"single", "single-wal", "SQLite uses this name"},
		{"also", "single-journal", "SQLite uses this name"},
		{"single", "single/x", "not a directory"},
		{"single", "", "empty target name"},
		{"single", "/", "root of a disk"},
		{"single", "..", "source is inside the target"},
		{"single", "gone/../x", "does not exist"},
	}
	for _, c := range cases {
		leavesNothing(t, dir, func() {
			_, err := Convert(t.Context(), fakes(nil, nil), c.src, c.dst, Options{To: "right", Replace: true})
			if err == nil || !strings.Contains(err.Error()+hintOf(err), c.want) {
				t.Errorf("%s to %q: got %v, want %s", c.src, c.dst, err, c.want)
			}
		})
	}
}

func TestSymlinkedParent(t *testing.T) {
	dir := t.TempDir()
	write(t, filepath.Join(dir, "a"), leftText(3))
	os.MkdirAll(filepath.Join(dir, "real", "inner"), 0o777)
	os.Symlink("real/inner", filepath.Join(dir, "link"))
	t.Chdir(dir)
	rep := must(t, fakes(nil, nil), "a", "link/../b", Options{To: "right"})
	if _, err := os.Stat(filepath.Join(dir, "real", "b", "rows.txt")); err != nil || !rep.Placed {
		t.Errorf("the parent of what the link leads to is real: %v, %q", err, tree(t, dir))
	}
	must(t, fakes(nil, nil), "a", "link/x/c", Options{To: "right"})
	if _, err := os.Stat(filepath.Join(dir, "real", "inner", "x", "c", "rows.txt")); err != nil {
		t.Error(err)
	}
	os.Symlink("gone", filepath.Join(dir, "dangling"))
	leavesNothing(t, dir, func() {
		_, err := Convert(t.Context(), fakes(nil, nil), "a", "dangling/b", Options{To: "right"})
		if err == nil || !strings.Contains(err.Error(), "dangling link") {
			t.Errorf("got %v", err)
		}
	})
}

func TestTargetNamedByDot(t *testing.T) {
	dir := t.TempDir()
	src := write(t, filepath.Join(dir, "a"), leftText(3))
	here := filepath.Join(dir, "here")
	os.Mkdir(here, 0o777)
	t.Chdir(here)
	rep := must(t, fakes(nil, nil), src, ".", Options{To: "right", Replace: true})
	if !strings.HasSuffix(rep.Backup, "here.bak-1") {
		t.Errorf("backup %q", rep.Backup)
	}
	if _, err := os.Stat(filepath.Join(dir, "here", "rows.txt")); err != nil {
		t.Error(err)
	}
}
