package cli

import (
	"encoding/json"
	"os"
	"path/filepath"
	"regexp"
	"runtime"
	"strings"
	"testing"

	"rehome/cmd/internal/clitest"
	"rehome/cmd/internal/demochat"
	"rehome/golden"
	"rehome/testdata/picture"
)

// TestDemo compares the whole walk with what is checked in: four steps that
// fit a screen, with the working directory as it was.
func TestDemo(t *testing.T) {
	tmp, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	t.Setenv("TMPDIR", tmp)
	t.Setenv("TMP", tmp) // the same on Windows
	before, err := os.Getwd()
	if err != nil {
		t.Fatal(err)
	}
	stdout, stderr, code := call(t, "demo")
	if code != 0 || stderr != "" {
		t.Fatalf("exit %d: %s", code, stderr)
	}
	if after, err := os.Getwd(); err != nil || after != before {
		t.Errorf("the working directory is %s now, %v", after, err)
	}
	folders, err := filepath.Glob(filepath.Join(tmp, "rehome-demo-*"))
	if err != nil || len(folders) != 1 {
		t.Fatalf("%q, %v", folders, err)
	}
	golden.Bytes(t, "demo.txt", []byte(strings.ReplaceAll(stdout, folders[0], "$FOLDER")))
	if n := strings.Count(stdout, "\n"); n > 46 {
		t.Errorf("%d lines", n)
	}
	// The key of the sample is a dummy of zeros, which is not for git.
	tree, err := clitest.ReadTree(folders[0])
	if err != nil {
		t.Fatal(err)
	}
	for name, data := range tree {
		if strings.HasSuffix(name, ".ndjson") && strings.Contains(string(data), strings.Repeat("00", 32)) {
			t.Errorf("%s holds the key", name)
		}
	}
}

// TestPicture keeps the picture in the README true: it is a run of the demo.
func TestPicture(t *testing.T) {
	tmp, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	t.Setenv("TMPDIR", tmp)
	t.Setenv("TMP", tmp)
	stdout, stderr, code := call(t, "demo", "--color", "always")
	if code != 0 {
		t.Fatalf("exit %d: %s", code, stderr)
	}
	folder := regexp.MustCompile(regexp.QuoteMeta(tmp) + `.rehome-demo-[0-9]+`)
	golden.Bytes(t, "../docs/demo.svg", picture.Draw("rehome demo", folder.ReplaceAllString(stdout, "/tmp/rehome-demo")))
}

// TestDiffPicture draws the README's second picture: a chat that was continued, and whose
// text was edited.
func TestDiffPicture(t *testing.T) {
	if runtime.GOOS == "windows" {
		return // see TestDownload
	}
	dir, run := clitest.Repository(t)
	b, err := demochat.Stores.ReadFile("login-later.db")
	if err != nil {
		t.Fatal(err)
	}
	clitest.Write(t, string(b), dir, "db", "store.db")
	const edit = `rm -r sessions; rehome convert db sessions --to canonical -q; sed -i.bak 's/Find out why, and fix it/Fix it/; s/count=50/count=100/g' sessions/*/*.jsonl; rm sessions/*/*.bak; git commit -qam two`
	if out, code := run(edit); code != 0 {
		t.Fatal(out)
	}
	stdout, code := run("rehome diff --color always HEAD~1 -- sessions")
	if code != 4 {
		t.Fatalf("exit %d: %s", code, stdout)
	}
	golden.Bytes(t, "../docs/diff.svg", picture.Draw("rehome diff HEAD~1 -- sessions", stdout))
}

// TestDemoJSON: the session lies where the printed command finds it.
func TestDemoJSON(t *testing.T) {
	t.Setenv("TMPDIR", t.TempDir())
	t.Setenv("TMP", os.Getenv("TMPDIR"))
	stdout, stderr, code := call(t, "demo", "--json")
	var got demoResult
	if err := json.Unmarshal([]byte(stdout), &got); code != 0 || err != nil {
		t.Fatalf("exit %d, %v: %s", code, err, stderr)
	}
	checkJSON(t, []string{"demo"}, []byte(stdout))
	if !got.Equal || !got.Caught || got.Diff.Added == 0 {
		t.Errorf("%+v", got)
	}
	files, err := filepath.Glob(filepath.Join(got.Folder, "claude", "projects", "*", got.Session+".jsonl"))
	if err != nil || len(files) != 1 {
		t.Errorf("session files: %q, %v", files, err)
	}
	if !strings.Contains(got.Continue, "cd "+filepath.Join(got.Folder, "my-app")+" && ") ||
		!strings.HasSuffix(got.Continue, " claude --resume "+got.Session) {
		t.Errorf("it continues with %s", got.Continue)
	}
}

// TestDemoSaysWhenItFails: a demo that cannot write is an error, not a demo.
func TestDemoSaysWhenItFails(t *testing.T) {
	t.Setenv("TMPDIR", filepath.Join(t.TempDir(), "missing"))
	t.Setenv("TMP", filepath.Join(t.TempDir(), "missing"))
	stdout, stderr, code := call(t, "demo")
	if code != 1 || stdout != "" || !strings.HasPrefix(stderr, "rehome: demo: ") {
		t.Errorf("exit %d, stdout %q, stderr %q", code, stdout, stderr)
	}
}
