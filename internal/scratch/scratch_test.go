package scratch

import (
	"bufio"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
)

// TestMain lets this binary be the victim of its own test: it makes a folder
// and a file for each purpose, says so, and waits to be killed.
func TestMain(m *testing.M) {
	if len(os.Args) > 1 && os.Args[1] == "victim" {
		if err := victim(); err != nil {
			fmt.Println(err)
			os.Exit(1)
		}
		select {}
	}
	os.Exit(m.Run())
}

func victim() error {
	for _, purpose := range purposes {
		d, err := New("", purpose)
		if err != nil {
			return err
		}
		if err := os.WriteFile(filepath.Join(d.Path, "state.vscdb"), []byte("a token"), 0o600); err != nil {
			return err
		}
	}
	f, err := NewFile("lines")
	if err == nil {
		_, err = f.Write([]byte("a token"))
	}
	if err != nil {
		return err
	}
	os.Stdout.WriteString("ready\n")
	runtime.KeepAlive(f)
	return nil
}

var purposes = []string{"copy", "dry-run", "check", "try", "stdin"}

// temporary makes a folder of the test's own the system's for temporary files.
func temporary(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	for _, name := range []string{"TMPDIR", "TMP", "TEMP"} {
		t.Setenv(name, dir)
	}
	return dir
}

func names(t *testing.T, dir string) (out []string) {
	t.Helper()
	list, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range list {
		out = append(out, e.Name())
	}
	return out
}

// TestKilled: what a killed process leaves is gone after the next sweep, and
// not while it lives; of a single file nothing is left at all.
func TestKilled(t *testing.T) {
	dir := temporary(t)
	cmd := exec.Command(os.Args[0], "victim")
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	line, err := bufio.NewReader(out).ReadString('\n')
	if err != nil || line != "ready\n" {
		t.Fatalf("%q, %v", line, err)
	}
	Sweep()
	living := len(purposes)
	if !namesGo {
		living++ // the folder of the single file
	}
	if n := len(names(t, dir)); n != living {
		t.Errorf("while it lives there are %d of %d: %q", n, living, names(t, dir))
	}
	if err := cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	cmd.Wait()
	for _, name := range []string{"rehome-copy-mine", "rehome-", "rehome-0123456789abcdef", "other-copy-0123456789abcdef", "rehome-copy-0123456789ABCDEF", "rehome-copy-0123456789abcdef.txt"} {
		if err := os.Mkdir(filepath.Join(dir, name), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, name, "lock"), nil, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	Sweep()
	if left := names(t, dir); len(left) != 6 || slices.ContainsFunc(left, func(s string) bool { return strings.HasPrefix(s, "rehome-stdin") }) {
		t.Errorf("left: %q", left)
	}
}

// TestRemove: a folder is private, and goes with all that is in it.
func TestRemove(t *testing.T) {
	dir := temporary(t)
	d, err := New("", "copy")
	if err != nil {
		t.Fatal(err)
	}
	if info, err := os.Stat(d.Root); err != nil || runtime.GOOS != "windows" && info.Mode().Perm() != 0o700 {
		t.Errorf("%v, %v", info, err)
	}
	if err := os.MkdirAll(filepath.Join(d.Path, "a", "b"), 0o777); err != nil {
		t.Fatal(err)
	}
	f, err := NewFile("rows")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := f.WriteString("x"); err != nil {
		t.Error(err)
	}
	b := make([]byte, 1)
	if _, err := f.ReadAt(b, 0); err != nil || string(b) != "x" {
		t.Errorf("%q, %v", b, err)
	}
	for _, err := range []error{f.Close(), d.Remove(), (*Dir)(nil).Remove()} {
		if err != nil {
			t.Error(err)
		}
	}
	if left := names(t, dir); len(left) > 0 {
		t.Errorf("left: %q", left)
	}
	if _, err := New(filepath.Join(dir, "none"), "copy"); err == nil {
		t.Error("made in a folder that is not there")
	}
}

// TestMakeFails: if the folder cannot be made after its lock, the error says so and
// nothing is left.
func TestMakeFails(t *testing.T) {
	dir := temporary(t)
	d := &Dir{Root: filepath.Join(dir, "rehome-copy-x"), Path: filepath.Join(dir, "rehome-copy-x", "none", "tree")}
	if ok, err := d.open(); ok || !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("made %v, error %v", ok, err)
	}
	if left := names(t, dir); len(left) > 0 {
		t.Errorf("left: %q", left)
	}
}

// TestSweepFollowsNoLinks: a name and a lock that somebody planted lead nowhere.
func TestSweepFollowsNoLinks(t *testing.T) {
	dir := temporary(t)
	theirs := filepath.Join(dir, "theirs")
	for _, name := range []string{"tree/f", "lock"} {
		path := filepath.Join(theirs, name)
		os.MkdirAll(filepath.Dir(path), 0o755)
		if err := os.WriteFile(path, []byte("theirs"), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Symlink("theirs", filepath.Join(dir, "rehome-copy-0123456789abcdef")); err != nil {
		return // a system that does not let everybody make one
	}
	planted := filepath.Join(dir, "rehome-copy-fedcba9876543210")
	os.Mkdir(planted, 0o777)
	os.Symlink(filepath.Join(theirs, "lock"), filepath.Join(planted, "lock"))
	os.Symlink("../theirs/tree", filepath.Join(planted, "tree"))
	Sweep()
	if b, err := os.ReadFile(filepath.Join(theirs, "tree", "f")); err != nil || string(b) != "theirs" {
		t.Errorf("swept through a link: %q, %v", b, err)
	}
}
