package golden

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// witness is a testing.TB that remembers whether it was failed.
type witness struct {
	testing.TB
	failed bool
}

func (w *witness) Helper()               {}
func (w *witness) Errorf(string, ...any) { w.failed = true }

func TestPlay(t *testing.T) {
	dir := t.TempDir()
	t.Chdir(dir)
	greet := func(c Call) int {
		fmt.Fprintf(c.Stdout, "hello %q from %s\n\nmode %s", c.Args, dir, c.Env["MODE"])
		fmt.Fprintln(c.Stderr, "rehome: talk")
		return 3
	}
	script := "# a remark\n$ MODE=loud greet \"a b\\x1b\" c=\"d e\"\n| stale output\nexit 9\n\n$ write x/y.txt \"one\\n\"\n$ cat x/y.txt\n$ cp x z\n$ same x z\n$ ls\n! exists nowhere\n"
	want := strings.Join([]string{
		"# a remark", "$ MODE=loud greet \"a b\\x1b\" c=\"d e\"",
		`| hello ["a b\x1b" "c=d e"] from $WORK`, "|", "| mode loud", `|\ no line end`, "2| rehome: talk", "exit 3", "",
		"$ write x/y.txt \"one\\n\"", "$ cat x/y.txt", "| one", "$ cp x z", "$ same x z", "| the same", "$ ls", "| x/y.txt", "| z/y.txt", "! exists nowhere", "",
	}, "\n")
	if got := play(t, script, dir, map[string]Command{"greet": greet}); got != want {
		t.Errorf("got:\n%s\nwant:\n%s", got, want)
	}
}

func TestTree(t *testing.T) {
	root, dir := t.TempDir(), t.TempDir()
	t.Chdir(root)
	write(t, filepath.Join(root, "go.mod"), nil)
	for _, d := range []string{filepath.Join(root, "golden", "case"), dir} {
		write(t, filepath.Join(d, "a"), []byte("1\n"))
		write(t, filepath.Join(d, "b", "c"), []byte("2\n"))
	}
	check := func(want bool) {
		t.Helper()
		w := &witness{TB: t}
		Tree(w, "case", dir)
		if w.failed == want {
			t.Errorf("failed: %v", w.failed)
		}
	}
	check(true)
	write(t, filepath.Join(dir, "a"), []byte("other\n"))
	check(false)
	write(t, filepath.Join(dir, "a"), []byte("1\n"))
	write(t, filepath.Join(dir, "extra"), nil)
	check(false)
	if err := os.Remove(filepath.Join(dir, "extra")); err != nil {
		t.Fatal(err)
	}
	if err := os.Remove(filepath.Join(dir, "a")); err != nil {
		t.Fatal(err)
	}
	check(false)

	*update = true
	defer func() { *update = false }()
	check(true)
	*update = false
	check(true)
}

// TestOwners: each folder under golden/ has an owner whose tests end in Main.
func TestOwners(t *testing.T) {
	entries, err := os.ReadDir(".")
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		name := e.Name()
		owner, ok := withLines(".")[name]
		if ok == (name == "compat" || filepath.Ext(name) == ".go") {
			t.Errorf("golden/%s: owned: %v", name, ok)
		}
		if !ok {
			continue
		}
		files, err := filepath.Glob(filepath.Join("..", filepath.FromSlash(owner), "*_test.go"))
		if err != nil {
			t.Fatal(err)
		}
		if !slices.ContainsFunc(files, func(file string) bool {
			text, err := os.ReadFile(file)
			return err == nil && bytes.Contains(text, []byte("golden.Main(m)"))
		}) {
			t.Errorf("golden/%s: no TestMain of %s calls golden.Main", name, owner)
		}
	}
	for name := range owners {
		if _, err := os.Stat(name); err != nil {
			t.Error(err)
		}
	}
}
