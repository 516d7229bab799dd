// Package golden compares what a test made with what is checked in under this
// folder, and runs command cases, which are transcripts.
//
// Expected results are stored by route: golden/<from>-to-<to>/<case>. A test names
// them by that path:
//
//	golden.Tree(t, "cursor-chat-to-archive/one-turn", dir)
//	golden.Bytes(t, "cursor-chat-to-archive/diff.txt", text)
//
// After a wanted change, `make golden` runs the tests with -update: they write
// what they got and say which files changed. Read that difference before it is
// committed; it is what the change does to people's files.
package golden

import (
	"bytes"
	"errors"
	"flag"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
)

var update = flag.Bool("update", false, "rewrite the files under golden/ instead of comparing with them")

// Updating reports whether the tests were asked to rewrite what is expected.
func Updating() bool { return *update }

// Path returns the path of an expected result on this machine.
func Path(t testing.TB, name string) string {
	t.Helper()
	dir, err := os.Getwd()
	if err != nil {
		t.Fatal(err)
	}
	root, err := folder(dir)
	if err != nil {
		t.Fatal(err)
	}
	return filepath.Join(root, filepath.FromSlash(name))
}

// folder finds golden/ beside the go.mod above a folder.
func folder(dir string) (string, error) {
	for {
		if _, err := os.Stat(filepath.Join(dir, "go.mod")); err == nil {
			return filepath.Join(dir, "golden"), nil
		}
		up := filepath.Dir(dir)
		if up == dir {
			return "", errors.New("no go.mod above the test")
		}
		dir = up
	}
}

// Bytes compares one result with the file of that name.
func Bytes(t testing.TB, name string, got []byte) {
	t.Helper()
	compare(t, name, Path(t, name), got)
}

// compared has the path of each file that was compared.
var compared sync.Map

// compare compares one file with its expected bytes, or rewrites it.
func compare(t testing.TB, name, path string, got []byte) {
	t.Helper()
	compared.Store(filepath.Clean(path), true)
	want, err := os.ReadFile(path)
	if err == nil && bytes.Equal(want, got) {
		return
	}
	if *update {
		write(t, path, got)
		t.Logf("golden: %s rewritten", name)
		return
	}
	if err != nil {
		t.Errorf("%s: %v\nrun make golden to write it", name, err)
		return
	}
	t.Errorf("%s is not as expected; run make golden if it should be, and read the difference\n%s", name, Diff(want, got))
}

// Tree compares a folder, file by file, with the folder of that name.
func Tree(t testing.TB, name, dir string) {
	t.Helper()
	root := Path(t, name)
	want, got := files(t, root), files(t, dir)
	all := maps.Clone(want)
	maps.Copy(all, got)
	for _, rel := range slices.Sorted(maps.Keys(all)) {
		data, ok := got[rel]
		switch {
		case ok:
			compare(t, name+"/"+rel, filepath.Join(root, filepath.FromSlash(rel)), data)
		case *update:
			if err := os.Remove(filepath.Join(root, filepath.FromSlash(rel))); err != nil {
				t.Fatal(err)
			}
			t.Logf("golden: %s/%s removed", name, rel)
		default:
			t.Errorf("%s/%s is expected and was not made", name, rel)
		}
	}
}

// files reads the files of a folder; a missing folder has none.
func files(t testing.TB, root string) map[string][]byte {
	t.Helper()
	out := map[string][]byte{}
	err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if os.IsNotExist(err) && path == root {
			return nil
		}
		if err != nil || d.IsDir() {
			return err
		}
		rel, err := filepath.Rel(root, path)
		if err != nil {
			return err
		}
		out[filepath.ToSlash(rel)], err = os.ReadFile(path)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return out
}

func write(t testing.TB, path string, data []byte) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, data, 0o644); err != nil {
		t.Fatal(err)
	}
}

// Diff returns the lines between the first and the last difference: expected lines
// with -, actual lines with +.
func Diff(want, got []byte) string {
	const most = 30
	a, b := strings.Split(string(want), "\n"), strings.Split(string(got), "\n")
	from := 0
	for from < min(len(a), len(b)) && a[from] == b[from] {
		from++
	}
	for len(a) > from && len(b) > from && a[len(a)-1] == b[len(b)-1] {
		a, b = a[:len(a)-1], b[:len(b)-1]
	}
	var out strings.Builder
	fmt.Fprintf(&out, "from line %d:\n", from+1)
	show := func(mark string, lines []string) {
		for i, l := range lines {
			if i == most {
				fmt.Fprintf(&out, "%s and %d more\n", mark, len(lines)-most)
				return
			}
			fmt.Fprintf(&out, "%s %q\n", mark, l)
		}
	}
	show("-", a[from:])
	show("+", b[from:])
	return out.String()
}
