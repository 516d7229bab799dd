package check

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"rehome/convert"
	"rehome/formats"
	"rehome/formats/rule"
)

// git runs git in a folder.
func git(t *testing.T, dir string, args ...string) {
	t.Helper()
	cmd := exec.Command("git", append([]string{"-c", "user.name=a", "-c", "user.email=a@b.invalid", "-c", "init.defaultBranch=main"}, args...)...)
	cmd.Dir = dir
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("git %v: %v: %s", args, err, out)
	}
}

// TestMachine: without paths, the stores in the clients' places are checked, each
// once, and no ignore file counts.
func TestMachine(t *testing.T) {
	home := t.TempDir()
	client := lint()
	client.Home = &formats.Home{Roots: func(m formats.Machine) []string {
		return []string{m.Home + "/client/in", m.Home + "/client", m.Home + "/missing", m.Home + "/link"}
	}}
	o := Options{Layers: allLayers, Machine: formats.Machine{Home: home, Getenv: os.Getenv}}
	run := func(want ...string) {
		t.Helper()
		r, err := Check(t.Context(), formats.NewRegistry(client), o)
		if err != nil {
			t.Fatal(err)
		}
		expectSpelled(t, spelled(r), want...)
	}
	run(filepath.Base(home))
	o.Require = true
	run(filepath.Base(home) + " !" + home + ": no sessions found")
	git(t, home, "init", "-q")
	laid(t, home+"/.gitignore", "*\n")
	laid(t, home+"/client/.rehomeignore", "*\n")
	laid(t, home+"/client/in/a.x", "lint\n")
	laid(t, home+"/client/b.x", "lint\n")
	laid(t, home+"/c.x", "lint\n")
	_ = os.Symlink(home+"/client", home+"/link") // where the system allows it
	run("b.x", "a.x")
	o.Exclude = []string{"in/"}
	run("b.x")
	// Named outright, a client's place does not obey .gitignore either; nor does what
	// git ignores itself.
	o.Exclude, o.Paths = nil, []string{home}
	done(t, os.Remove(home+"/client/.rehomeignore"))
	run("b.x", "a.x")
	o.Paths = []string{home + "/c.x"}
	run("c.x")
}

// TestBase: the ignore files and the baseline of a commit count, not those of the
// work tree.
func TestBase(t *testing.T) {
	dir := t.TempDir()
	t.Chdir(dir)
	laid(t, dir+"/old/a.x", "lint\nRH301 bad\n")
	laid(t, dir+"/b.x", "lint\nRH301 bad\n")
	laid(t, dir+"/.rehomeignore", "/old\n")
	r, _ := checked(t, Options{Paths: []string{"."}, Baseline: baselineOf(t, "base.json", true)})
	if r.Skipped != 1 {
		t.Errorf("%d skipped", r.Skipped)
	}
	done(t, r.Baseline.Write(r, rule.Error))
	git(t, dir, "init", "-q")
	git(t, dir, "add", ".rehomeignore", "base.json")
	git(t, dir, "commit", "-qm", "base")
	git(t, dir, "tag", "start")

	// A change breaks a store, and turns its check off in three ways.
	laid(t, dir+"/b.x", "lint\nRH301 bad\nRH301 worse\n")
	laid(t, dir+"/.gitignore", "*.x\n")
	laid(t, dir+"/.rehomeignore", "*\n")
	r, _ = checked(t, Options{Paths: []string{"."}, Baseline: baselineOf(t, "base.json", true), NoIgnore: true})
	done(t, r.Baseline.Write(r, rule.Error))
	git(t, dir, "add", "-fA")
	git(t, dir, "commit", "-qm", "change")
	_, got := checked(t, Options{Paths: []string{"."}, Baseline: baselineOf(t, "base.json", false)})
	expectSpelled(t, got, ".")
	base, err := ReadBaselineAt(t.Context(), "base.json", "start")
	done(t, err)
	r, got = checked(t, Options{Paths: []string{"."}, Base: "start", Baseline: base})
	expectSpelled(t, got, "b.x RH301×1+1,:3")
	if r.Skipped != 1 {
		t.Errorf("%d skipped", r.Skipped)
	}
	if base, err := ReadBaselineAt(t.Context(), "none.json", "start"); err != nil || len(base.old) != 0 {
		t.Errorf("a baseline that the commit lacks: %v", err)
	}
	outside := t.TempDir()
	for what, o := range map[string]Options{
		"git cannot read this commit":  {Paths: []string{"."}, Base: "nowhere"},
		"git cannot read this commit:": {Paths: []string{"."}, Base: "--help"},
		"is not in a git work tree":    {Paths: []string{outside}, Base: "start"},
	} {
		_, err := Check(t.Context(), formats.NewRegistry(lint()), o)
		if _, misuse := err.(convert.Misuse); !misuse || !strings.Contains(err.Error(), what) {
			t.Errorf("%s: %v", what, err)
		}
	}
}

func baselineOf(t *testing.T, path string, write bool) *Baseline {
	t.Helper()
	b, err := ReadBaseline(path, write)
	done(t, err)
	return b
}

// TestSkippedBaseline: what a baseline says of a store that is skipped is kept.
func TestSkippedBaseline(t *testing.T) {
	dir := t.TempDir()
	t.Chdir(dir)
	laid(t, dir+"/a/b/c.x", "lint\nRH301 bad\n")
	r, _ := checked(t, Options{Paths: []string{"."}, Baseline: baselineOf(t, "base.json", true)})
	done(t, r.Baseline.Write(r, rule.Error))
	done(t, os.RemoveAll("a/b"))
	for _, exclude := range [][]string{{"/a/b"}, nil} {
		r, _ = checked(t, Options{Paths: []string{"."}, Baseline: baselineOf(t, "base.json", false), Exclude: exclude})
		if gone := r.Baseline.Gone == 1; gone != (exclude == nil) {
			t.Errorf("%q: %d are gone", exclude, r.Baseline.Gone)
		}
	}
}

// TestSchemaSkips: files that are validated against a schema are skipped, too.
func TestSchemaSkips(t *testing.T) {
	dir := t.TempDir()
	for _, name := range []string{"a.jsonl", "b/c.jsonl", "b/d.jsonl"} {
		laid(t, filepath.Join(dir, name), "{}\n")
	}
	r, err := Schema(t.Context(), Options{Paths: []string{dir}, Exclude: []string{"c.jsonl"}}, "canonical-1")
	if err != nil || len(r.Stores) != 2 || r.Skipped != 1 {
		t.Errorf("%v, %d", err, len(r.Stores))
	}
	r, err = Schema(t.Context(), Options{Paths: []string{dir}, Exclude: []string{"b"}}, "canonical-1")
	if err != nil || len(r.Stores) != 1 || r.Skipped != 1 {
		t.Errorf("%v, %d", err, len(r.Stores))
	}
}

func done(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
