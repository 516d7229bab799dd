//go:build linux || darwin

package convert

import (
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"rehome/formats"
)

// modes are the permissions below a folder, a line each.
func modes(t *testing.T, root string) string {
	t.Helper()
	var out []string
	err := filepath.WalkDir(root, func(path string, e fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		info, err := e.Info()
		rel, _ := filepath.Rel(root, path)
		out = append(out, rel+" "+info.Mode().Perm().String())
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return strings.Join(out, ", ")
}

// TestAsPrivateAsItsSource: text is no more open than the store it is of.
func TestAsPrivateAsItsSource(t *testing.T) {
	defer syscall.Umask(syscall.Umask(0o022))
	const open, ours = "-rw-r--r--", "-rw-------"
	for _, c := range []struct {
		store, folder fs.FileMode
		to            string // "" is the other fake
		dst           string
		want          string
	}{
		{0o644, 0o755, "", "out", ". -rwxr-xr-x, rows.txt " + open},
		{0o600, 0o755, "", "out", ". -rwx------, rows.txt " + ours},
		{0o640, 0o755, "", "out", ". -rwxr-x---, rows.txt -rw-r-----"},
		{0o600, 0o755, "", "new/deep/out", ". -rwx------, rows.txt " + ours},
	} {
		dir := t.TempDir()
		src := write(t, filepath.Join(dir, "src", "a"), leftText(2)+"9\tsecret: x\n")
		if err := os.Chmod(src, c.store); err != nil {
			t.Fatal(err)
		}
		dst := filepath.Join(dir, c.dst)
		rep := must(t, fakes(nil, nil), src, dst, Options{To: "right"})
		if got := modes(t, dst); got != c.want {
			t.Errorf("%v: %s, want %s", c.store, got, c.want)
		}
		if up := modes(t, filepath.Dir(dst)); strings.Contains(c.dst, "/") && !strings.HasPrefix(up, ". -rwx------") {
			t.Errorf("%v: above it %s", c.store, up)
		}
		if info, err := os.Stat(dst + formats.SidecarSuffix); rep.Sidecar == "" && err == nil || err == nil && info.Mode().Perm() != c.store {
			t.Errorf("%v: sidecar %v, %v", c.store, info.Mode(), err)
		}
	}
	dir := t.TempDir()
	write(t, filepath.Join(dir, "src", "public", "a"), leftText(2))
	os.Chmod(write(t, filepath.Join(dir, "src", "mine", "a"), leftText(2)), 0o600)
	must(t, fakes(nil, nil), filepath.Join(dir, "src"), filepath.Join(dir, "out"), Options{To: "right"})
	want := ". -rwxr-xr-x, mine -rwxr-xr-x, mine/a -rwx------, mine/a/rows.txt -rw-------, public -rwxr-xr-x, public/a -rwxr-xr-x, public/a/rows.txt -rw-r--r--"
	if got := modes(t, filepath.Join(dir, "out")); got != want {
		t.Errorf("many: %s", got)
	}
}

// TestSessionsAsPrivateAsTheirStores: of several stores each has its own, and
// one file of all is as closed as the most closed of them.
func TestSessionsAsPrivateAsTheirStores(t *testing.T) {
	defer syscall.Umask(syscall.Umask(0o022))
	src := t.TempDir()
	write(t, filepath.Join(src, "a.txt"), "talk\nsession a First\nsay hello\n")
	os.Chmod(write(t, filepath.Join(src, "b.txt"), "talk\nsession b Second\nsay hi\n"), 0o600)
	reg := withShelf(nil)
	at := filepath.Join(t.TempDir(), "out")
	must(t, reg, src, at, Options{To: "shelf"})
	if got := modes(t, at); got != ". -rwx------, rows.txt -rw-------" {
		t.Errorf("one store: %s", got)
	}
	for dst, want := range map[string]string{
		"out":           ". -rwxr-xr-x, talk -rwxr-xr-x, talk/a.jsonl -rw-r--r--, talk/b.jsonl -rw-------",
		"all.jsonl":     ". -rw-------",
		"new/all.jsonl": ". -rw-------",
	} {
		at := filepath.Join(t.TempDir(), dst)
		must(t, reg, src, at, Options{To: "canonical"})
		if got := modes(t, at); got != want {
			t.Errorf("%s: %s, want %s", dst, got, want)
		}
	}
}
