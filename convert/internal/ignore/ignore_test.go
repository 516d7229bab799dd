package ignore

import (
	"bytes"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"
)

func write(t *testing.T, path, text string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o777); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o666); err != nil {
		t.Fatal(err)
	}
}

// repository is a folder that git and a Tree take for a work tree.
func repository(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	if out, err := exec.Command("git", "init", "-q", dir).CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	return dir
}

// walked returns what a walk that asks the tree does not skip.
func walked(t *testing.T, tree *Tree, dir string) (out []string) {
	t.Helper()
	err := filepath.WalkDir(dir, func(at string, e fs.DirEntry, err error) error {
		rel, _ := filepath.Rel(dir, at)
		switch {
		case err != nil:
			return err
		case e.Name() == ".git", tree.Skip(filepath.ToSlash(rel), e.IsDir()) && e.IsDir():
			return fs.SkipDir
		case rel != ".":
			out = append(out, filepath.ToSlash(rel))
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// kept is walked without the files that were skipped and the ignore files.
func kept(t *testing.T, dir string, o Options) (out []string, tree *Tree) {
	t.Helper()
	tree, err := New(dir, o)
	if err != nil {
		t.Fatal(err)
	}
	for _, rel := range walked(t, tree, dir) {
		info, err := os.Lstat(filepath.Join(dir, filepath.FromSlash(rel)))
		if err != nil {
			t.Fatal(err)
		}
		if base := filepath.Base(rel); !info.IsDir() && base != File && base != GitFile && !tree.Covers(rel, false) {
			out = append(out, rel)
		}
	}
	return out, tree
}

// TestAsGit compares the patterns with git's own, over random ignore files in a
// root folder and one below, and names that are special in patterns.
func TestAsGit(t *testing.T) {
	dir := repository(t)
	atoms := []string{"a", "b", "*", "**", "?", "/", "/", "[ab]", "[!a]", "[^b]", "[a-c]", "\\a", "\\*", "[[:alpha:]]", ".", "a.b", "**/", "/**", "!", " ", "\\ ", "[", "]", "[]a]", "é", "[é]", "[a-", "#", "\\", "\r", "[c-a]", "[.-0]", "[[:punct:]]", "[[:no:]]", "[[:a]", "[a\\]b]", "\t"}
	names := []string{"a", "b", "c", "ab", "a.b", "é", "[", "!a", "#b", "d ", "-", ".x"}
	rnd := rand.New(rand.NewPCG(1, 2))
	paths := []string{"b/c/a"}
	for range 80 {
		var p []string
		for range 1 + rnd.IntN(3) {
			p = append(p, names[rnd.IntN(len(names))])
		}
		at := filepath.Join(dir, filepath.Join(p...))
		if rnd.IntN(2) == 0 {
			_ = os.MkdirAll(at, 0o777) // or a file is in its way
		} else if os.MkdirAll(filepath.Dir(at), 0o777) == nil {
			_ = os.WriteFile(at, nil, 0o666)
		}
	}
	isDir := map[string]bool{}
	if err := filepath.WalkDir(dir, func(at string, e fs.DirEntry, err error) error {
		if e.Name() == ".git" {
			return fs.SkipDir
		}
		if rel, _ := filepath.Rel(dir, at); rel != "." {
			paths = append(paths, filepath.ToSlash(rel))
			isDir[filepath.ToSlash(rel)] = e.IsDir()
		}
		return err
	}); err != nil {
		t.Fatal(err)
	}
	// Two stars after something else than a slash are one star, says git's manual. Some
	// versions compare two unrelated pointers there.
	undefined := regexp.MustCompile(`[^/*]\*\*|\*\*\\\\?/`)
	file := func() string {
		var lines []string
		for range 1 + rnd.IntN(3) {
			line := ""
			if rnd.IntN(4) == 0 {
				line = "!"
			}
			for range 1 + rnd.IntN(4) {
				line += atoms[rnd.IntN(len(atoms))]
			}
			if undefined.MatchString(strings.TrimPrefix(line, "!")) {
				line = "a"
			}
			lines = append(lines, line)
		}
		return strings.Join(lines, "\n")
	}
	for range 200 {
		root, below := file(), file()
		write(t, filepath.Join(dir, GitFile), root)
		write(t, filepath.Join(dir, "b", GitFile), below)
		git := exec.Command("git", "-c", "core.excludesFile="+os.DevNull, "check-ignore", "--no-index", "--stdin", "-z")
		git.Dir, git.Stdin = dir, strings.NewReader(strings.Join(paths, "\x00")+"\x00")
		out, err := git.Output()
		if code := git.ProcessState.ExitCode(); err != nil && code != 1 { // 1: none is ignored
			t.Fatalf("%v: %s", err, out)
		}
		want := strings.Split(string(bytes.TrimSuffix(out, []byte{0})), "\x00")
		tree, err := New(dir, Options{})
		if err != nil {
			t.Fatal(err)
		}
		for _, p := range paths {
			if got := tree.Covers(p, isDir[p]); got != slices.Contains(want, p) {
				t.Errorf("%q, %q: %q is ignored: %v, git does the opposite", root, below, p, got)
			}
		}
	}
}

// TestFiles: which ignore files count, and which of them wins.
func TestFiles(t *testing.T) {
	dir := repository(t)
	for _, name := range []string{"a/keep", "a/build/x", "b/x", "b/y", "c/.git/HEAD", "c/x", "home/x", "home/deep/x", "log/x"} {
		write(t, filepath.Join(dir, filepath.FromSlash(name)), "")
	}
	write(t, filepath.Join(dir, GitFile), "x\nlog/\n")
	write(t, filepath.Join(dir, "b", File), "!x\ny\n")
	for _, c := range []struct {
		what, start string
		o           Options
		want        string
		skipped     int
	}{
		{"both files; not in a work tree inside", ".", Options{}, "a/keep b/x c/x", 5},
		{"no files", ".", Options{NoFiles: true}, "a/build/x a/keep b/x b/y c/x home/deep/x home/x log/x", 0},
		{"a client's home", ".", Options{Homes: []string{filepath.Join(dir, "home")}}, "a/keep b/x c/x home/deep/x home/x", 3},
		{"excluded", ".", Options{Exclude: []string{"/a", "deep/"}, NoFiles: true}, "b/x b/y c/x home/x log/x", 2},
		{"files above the start", "a", Options{}, "keep", 1},
		{"an ignored folder, named outright", "log", Options{}, "x", 0},
		{"a folder in it", "log/../log/.", Options{}, "x", 0},
	} {
		got, tree := kept(t, filepath.Join(dir, c.start), c.o)
		if strings.Join(got, " ") != c.want || tree.Skipped != c.skipped || tree.Err() != nil {
			t.Errorf("%s: %v, %d skipped, %v", c.what, got, tree.Skipped, tree.Err())
		}
	}

	// Outside of a work tree.
	plain := t.TempDir()
	write(t, filepath.Join(plain, "x"), "")
	write(t, filepath.Join(plain, "in", "x"), "")
	write(t, filepath.Join(plain, "in", "y"), "")
	write(t, filepath.Join(plain, GitFile), "x\n")
	if got, _ := kept(t, plain, Options{}); len(got) != 3 {
		t.Errorf(".gitignore counts outside of a work tree: %v", got)
	}
	write(t, filepath.Join(plain, File), "y\n")
	if got, _ := kept(t, plain, Options{}); strings.Join(got, " ") != "in/x x" {
		t.Errorf("%v", got)
	}
	if got, _ := kept(t, filepath.Join(plain, "in"), Options{}); len(got) != 2 {
		t.Errorf("a file above the start counts: %v", got)
	}
}

// TestRefused: a bad pattern of the user is an error; a bad file has no effect, and
// says so.
func TestRefused(t *testing.T) {
	for _, bad := range []string{"", "[", "#x", "!x", "a\\"} {
		if _, err := New(t.TempDir(), Options{Exclude: []string{bad}}); err == nil {
			t.Errorf("%q is accepted", bad)
		}
	}
	for what, text := range map[string]string{"size": strings.Repeat("#", MaxSize+1), "patterns": strings.Repeat("x\n", maxPatterns+1)} {
		dir := t.TempDir()
		write(t, filepath.Join(dir, "x"), "")
		write(t, filepath.Join(dir, File), text)
		if got, tree := kept(t, dir, Options{}); len(got) != 1 || tree.Err() == nil {
			t.Errorf("%s: %v, %v", what, got, tree.Err())
		}
	}
	// The bounds are of all files together.
	dir := repository(t)
	for i := range 20 {
		write(t, filepath.Join(dir, fmt.Sprint(i), GitFile), strings.Repeat("y\n", maxPatterns/15))
		write(t, filepath.Join(dir, fmt.Sprint(i), "y"), "")
	}
	if got, tree := kept(t, dir, Options{}); len(got) != 5 || tree.Err() == nil {
		t.Errorf("%v, %v", got, tree.Err())
	}
	dir = t.TempDir()
	write(t, filepath.Join(dir, "x"), "")
	if err := os.Symlink(filepath.Join(dir, "x"), filepath.Join(dir, File)); err == nil {
		write(t, filepath.Join(dir, "x"), "x\n")
		if got, _ := kept(t, dir, Options{}); len(got) != 1 {
			t.Error("a link is obeyed")
		}
	}
}

// TestHostilePatterns: no pattern takes more than linear time.
func TestHostilePatterns(t *testing.T) {
	path := strings.Repeat("a/", 1000) + "c"
	for _, bad := range []string{strings.Repeat("a*", 500) + "b", strings.Repeat("**/", 300) + "b", strings.Repeat("*", 10_000) + "b", strings.Repeat("[a-z]", 1000)} {
		list := parse(bad)
		start := time.Now()
		if match(list, path, false) != nil {
			t.Errorf("%.20s… matches", bad)
		}
		if d := time.Since(start); d > 30*time.Second {
			t.Errorf("%.20s… took %v", bad, d)
		}
	}
}

func FuzzPattern(f *testing.F) {
	f.Add("a/**/[!b]*\\ ", "a/x/c ")
	f.Fuzz(func(t *testing.T, line, path string) {
		match(parse(fmt.Sprintf("%s\n!%s\n/%s/", line, line, line)), path, true)
	})
}
