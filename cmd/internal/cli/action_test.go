package cli

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"regexp"
	"runtime"
	"strings"
	"testing"
	"time"

	"rehome/cmd/internal/clitest"
	"rehome/cmd/internal/console"
	"rehome/golden"
)

func TestMain(m *testing.M) {
	if now, err := time.Parse(time.RFC3339, os.Getenv(clitest.AsProgram)); err == nil {
		os.Exit(runAt(console.Setup(), os.Args[1:], os.Stdout, os.Stderr, os.Getenv, func() time.Time { return now }))
	}
	if os.Getenv(clitest.AsProgram) != "" {
		os.Exit(run(Setup(), os.Args[1:], os.Stdout, os.Stderr, os.Getenv))
	}
	golden.Main(m)
}

// published is a checkout of a release, and a server that publishes it: an archive with
// a script in the place of the program, which runs this very binary. change, if any,
// is applied to both before the server runs.
func published(t *testing.T, change func(root string, files map[string][]byte)) (root, releases string, files map[string][]byte) {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	root = t.TempDir()
	for _, name := range []string{"download", "hook"} {
		text, err := os.ReadFile(filepath.Join(clitest.Checkout(t), ".ci", name))
		if err != nil {
			t.Fatal(err)
		}
		clitest.Write(t, string(text), root, ".ci", name)
	}
	clitest.Write(t, "# Changelog\n\n## 9.8.7 (2026-11-22)\n\n## 0.1.0 (2026-11-21)\n", root, "CHANGELOG.md")
	clitest.Write(t, "", root, ".changes", "README.md")
	var packed bytes.Buffer
	z := gzip.NewWriter(&packed)
	w := tar.NewWriter(z)
	program := "#!/bin/sh\necho run >> \"$RUNS\"\nexec '" + self + "' \"$@\"\n"
	done := errors.Join(w.WriteHeader(&tar.Header{Name: "rehome", Mode: 0o755, Size: int64(len(program))}))
	_, err = io.WriteString(w, program)
	if done = errors.Join(done, err, w.Close(), z.Close()); done != nil {
		t.Fatal(done)
	}
	name := "rehome_9.8.7_" + runtime.GOOS + "_" + runtime.GOARCH + ".tar.gz"
	files = map[string][]byte{
		"/v9.8.7/" + name:       packed.Bytes(),
		"/v9.8.7/checksums.txt": fmt.Appendf(nil, "%x  other.tar.gz\n%x  %s\n", sha256.Sum256(nil), sha256.Sum256(packed.Bytes()), name),
	}
	if change != nil {
		change(root, files)
	}
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if text, ok := files[r.URL.Path]; ok {
			_, _ = w.Write(text)
			return
		}
		http.NotFound(w, r)
	}))
	t.Cleanup(server.Close)
	return root, server.URL, files
}

// TestDownload: what is published is used only with the right checksum, and what is
// not published is built.
func TestDownload(t *testing.T) {
	if runtime.GOOS == "windows" {
		return // the action runs there; the server would need a program for it
	}
	for _, c := range []struct {
		what   string
		change func(root string, files map[string][]byte)
		code   int
		says   string
	}{
		{"a release", func(string, map[string][]byte) {}, 0, ""},
		{"pending changes", func(root string, _ map[string][]byte) { clitest.Write(t, "fixed:\nx\n", root, ".changes", "x.md") }, 3,
			"not a release"},
		{"no version", func(root string, _ map[string][]byte) { clitest.Write(t, "# Changelog\n", root, "CHANGELOG.md") }, 3, "not a release"},
		{"not published", func(_ string, files map[string][]byte) { clear(files) }, 3, "has no checksums.txt"},
		{"not for this system", func(_ string, files map[string][]byte) {
			maps.DeleteFunc(files, func(name string, _ []byte) bool { return strings.HasSuffix(name, ".gz") })
		}, 3, "has no rehome_9.8.7_"},
		{"another file", func(_ string, files map[string][]byte) {
			for name := range files {
				if strings.HasSuffix(name, ".gz") {
					files[name] = append([]byte("x"), files[name]...)
				}
			}
		}, 1, "checksum"},
		{"no checksum", func(_ string, files map[string][]byte) { files["/v9.8.7/checksums.txt"] = nil }, 1, "checksum"},
		{"no server", func(_ string, files map[string][]byte) { files["off"] = nil }, 1, "cannot download"},
	} {
		root, releases, files := published(t, c.change)
		if _, off := files["off"]; off {
			releases = "http://127.0.0.1:1"
		}
		out, code := clitest.Bash(t, root, ".ci/download 'a b'", "REHOME_RELEASES="+releases)
		if code != c.code || !strings.Contains(out, c.says) {
			t.Errorf("%s: exit %d: %s", c.what, code, out)
		}
		left, err := os.ReadDir(filepath.Join(root, "a b"))
		if want := map[bool]int{true: 1}[c.code == 0]; len(left) != want || err != nil && !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("%s: %v %v is left", c.what, left, err)
		}
	}
}

// TestAction runs what the GitHub action runs: it downloads the release and runs it
// once, with the paths and flags as they come from a workflow.
func TestAction(t *testing.T) {
	if runtime.GOOS == "windows" {
		return // see TestDownload
	}
	root, releases, _ := published(t, nil)
	temp, dir := t.TempDir(), t.TempDir()
	env := []string{"CHECKOUT=" + root, "REHOME_RELEASES=" + releases, "RUNNER_TEMP=" + temp, "GITHUB_OUTPUT=" + temp + "/output",
		"RUNS=" + temp + "/runs", "GITHUB_STEP_SUMMARY=" + temp + "/summary.md"}
	if out, code := clitest.Bash(t, dir, clitest.ActionSteps(t)["download rehome"], env...); code != 0 {
		t.Fatalf("exit %d: %s", code, out)
	}
	if text, err := os.ReadFile(temp + "/output"); err == nil {
		t.Errorf("a release is built: %s", text)
	}
	furnish(t, dir)
	clitest.Write(t, `{"runId":`, dir, "a b", "runs.ndjson")
	for i, c := range []struct {
		paths, flags string
		code         int
		want         string
	}{
		{"chat\nlater", "", 0, "ok, "},
		{"chat\na b\n", "", 4, "::error file=a b/runs.ndjson,title=RH190 "},
		{".", "--skip=RH190\n--notes", 0, "::notice file="},
		{"--rules", "", 1, "not examined"},
	} {
		out, code := clitest.Bash(t, dir, clitest.ActionSteps(t)["check"], append(env, "PATHS="+c.paths, "FLAGS="+c.flags, "BASE=")...)
		if code != c.code || !strings.Contains(out, c.want) {
			t.Errorf("%q %q: exit %d: %s", c.paths, c.flags, code, out)
		}
		if page, err := os.ReadFile(temp + "/summary.md"); err != nil || strings.Count(string(page), "### rehome check") != 1 {
			t.Errorf("%v: %s", err, page)
		}
		if runs, err := os.ReadFile(temp + "/runs"); err != nil || strings.Count(string(runs), "run") != i+1 {
			t.Errorf("%d: %v: %s", i, err, runs)
		}
	}
	clitest.Write(t, "fixed:\nx\n", root, ".changes", "x.md")
	if out, code := clitest.Bash(t, dir, clitest.ActionSteps(t)["download rehome"], env...); code != 0 {
		t.Errorf("exit %d: %s", code, out)
	}
	if text, err := os.ReadFile(temp + "/output"); string(text) != "build=true\n" ||
		!strings.Contains(clitest.ActionSteps(t)["build rehome"], `go build -trimpath -o "$RUNNER_TEMP/rehome/" ./cmd/rehome`) {
		t.Errorf("%s %v: another version is not built", text, err)
	}
}

// TestActionBase: a pull request that breaks a store cannot turn its check off, neither
// with ignore files nor with a baseline. The base is fetched into a shallow clone.
func TestActionBase(t *testing.T) {
	if runtime.GOOS == "windows" {
		return // see TestDownload
	}
	root, releases, _ := published(t, nil)
	temp, origin := t.TempDir(), t.TempDir()
	env := []string{"CHECKOUT=" + root, "REHOME_RELEASES=" + releases, "RUNNER_TEMP=" + temp, "GITHUB_OUTPUT=" + temp + "/output",
		"RUNS=" + temp + "/runs", "GITHUB_STEP_SUMMARY=" + temp + "/summary.md"}
	must := func(dir, script string) string {
		t.Helper()
		out, code := clitest.Bash(t, dir, "export GIT_AUTHOR_NAME=a GIT_AUTHOR_EMAIL=a@b.invalid GIT_COMMITTER_NAME=a GIT_COMMITTER_EMAIL=a@b.invalid\n"+
			script, env...)
		if code != 0 {
			t.Fatalf("%s: exit %d: %s", script, code, out)
		}
		return strings.TrimSpace(out)
	}
	must(origin, clitest.ActionSteps(t)["download rehome"])
	clitest.Write(t, "/drafts/\n", origin, ".rehomeignore")
	clitest.Write(t, `{"runId":`, origin, "drafts", "runs.ndjson")
	base := must(origin, "git init -q -b main . && git config uploadpack.allowAnySHA1InWant true && git add -fA && git commit -qm base && git rev-parse HEAD")
	clitest.Write(t, `{"runId":`, origin, "broken", "runs.ndjson")
	clitest.Write(t, "*\n", origin, ".rehomeignore")
	clitest.Write(t, "*.ndjson\n", origin, ".gitignore")
	must(origin, `"$RUNNER_TEMP/rehome/rehome" check . --no-ignore --quiet --baseline known.json --write-baseline
		git add -fA && git commit -qm change`)
	clone := t.TempDir()
	must(clone, "git clone -q --depth 1 'file://"+origin+"' .")
	for _, c := range []struct {
		base string
		code int
		want string
	}{{"", 0, "known"}, {base, 4, "::error file=broken/runs.ndjson,title=RH190 "}, {strings.Repeat("1", len(base)), 128, "fatal: "}} {
		flags := "--baseline=known.json"
		if c.base == "" {
			flags += "\n--no-ignore"
		}
		out, code := clitest.Bash(t, clone, clitest.ActionSteps(t)["check"], append(env, "PATHS=.", "FLAGS="+flags, "BASE="+c.base)...)
		if code != c.code || !strings.Contains(out, c.want) || strings.Contains(out, "drafts") {
			t.Errorf("base %s: exit %d: %s", c.base, code, out)
		}
	}
}

// TestActionPages: a page of each session with findings, and of no other, is made for the
// artifact, without secrets. It is made only if the workflow names the artifact.
func TestActionPages(t *testing.T) {
	if runtime.GOOS == "windows" {
		return // see TestDownload
	}
	root, releases, _ := published(t, nil)
	temp, dir := t.TempDir(), t.TempDir()
	env := []string{"CHECKOUT=" + root, "REHOME_RELEASES=" + releases, "RUNNER_TEMP=" + temp, "GITHUB_OUTPUT=" + temp + "/output",
		"RUNS=" + temp + "/runs", "GITHUB_STEP_SUMMARY=" + temp + "/summary.md", "BASE="}
	all := clitest.ActionSteps(t)
	if out, code := clitest.Bash(t, dir, all["download rehome"], env...); code != 0 {
		t.Fatalf("exit %d: %s", code, out)
	}
	furnish(t, dir)
	token := "ghp_" + strings.Repeat("a1B2c3D4e", 4)
	said := `{"type":"session","version":1,"id":"%[1]s","agent":"cursor-cli","title":"%[1]s"}
{"type":"message","id":"m1","role":"user","turn":{"number":1},"parts":[{"type":"text","text":"use ` + token + `"}]}
%[2]s
`
	clitest.Write(t, fmt.Sprintf(said, "whole", `{"type":"message","id":"m2","role":"assistant","parts":[{"type":"text","text":"done"}]}`),
		dir,
		"sessions", "whole.jsonl")
	clitest.Write(t, fmt.Sprintf(said, "broken", `{"type":`), dir, "sessions", "broken one's.jsonl")
	clitest.Write(t, `{"runId":`, dir, "torn", "runs.ndjson")
	outside := clitest.Write(t, fmt.Sprintf(said, "outside", `{"type":`), t.TempDir(), "outside.jsonl")
	clitest.Write(t, fmt.Sprintf(said, "lured", `{"type":`), dir, "sessions", "x\n"+outside)
	pages := func(flags string) (names []string, text string) {
		t.Helper()
		_ = os.Remove(temp + "/output")
		out, code := clitest.Bash(t, dir, all["check"], append(env, "PATHS=.", "FLAGS="+flags)...)
		if want := map[bool]int{true: 4}[flags == ""]; code != want {
			t.Fatalf("exit %d: %s", code, out)
		}
		out, code = clitest.Bash(t, dir, all["pages"], env...)
		if code != 0 || strings.Contains(out, token) {
			t.Fatalf("exit %d: %s", code, out)
		}
		err := filepath.WalkDir(temp+"/rehome/pages", func(path string, d fs.DirEntry, err error) error {
			if err == nil && !d.IsDir() {
				names = append(names, d.Name())
				page, err := os.ReadFile(path)
				text += string(page)
				return err
			}
			return err
		})
		made, _ := os.ReadFile(temp + "/output")
		if err != nil || (string(made) == "made=true\n") != (len(names) > 0) {
			t.Fatalf("%v: %q for %q", err, made, names)
		}
		return names, text
	}
	if names, text := pages(""); len(names) != 1 || !strings.HasSuffix(names[0], "-broken.html") ||
		!strings.Contains(text, "<title>broken") || strings.Contains(text, token) {
		t.Errorf("%q: %s", names, text)
	}
	if names, _ := pages("--skip=RH190,RH131\n--fail-on=error"); len(names) != 0 {
		t.Errorf("without findings: %q", names)
	}
	text, err := os.ReadFile(filepath.Join(clitest.Checkout(t), "action.yml"))
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{
		"if: ${{ failure() && steps.check.outcome == 'failure' && inputs.pages != '' }}",
		"actions/upload-artifact@", "if: ${{ failure() && steps.pages.outputs.made }}", "name: ${{ inputs.pages }}",
		"path: ${{ runner.temp }}/rehome/pages\n",
	} {
		if strings.Count(string(text), want) != 1 {
			t.Errorf("action.yml: not once: %s", want)
		}
	}
}

// TestHook runs what pre-commit runs, in its own checkout of this repository: the
// program is downloaded the first time.
func TestHook(t *testing.T) {
	text, err := os.ReadFile(filepath.Join(clitest.Checkout(t), ".pre-commit-hooks.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	entry := regexp.MustCompile(`(?m)^  entry: (.*)\n  args: \[(.*)\]\n  language: script$`).FindSubmatch(text)
	if entry == nil {
		t.Fatalf("no entry in %s", text)
	}
	dir := t.TempDir()
	furnish(t, dir)
	if runtime.GOOS != "windows" { // see TestDownload
		root, releases, _ := published(t, nil)
		for _, server := range []string{releases, "http://127.0.0.1:1"} {
			out, code := clitest.Bash(t, dir, root+"/"+string(entry[1])+" "+string(entry[2]), "REHOME_RELEASES="+server, "RUNS="+root+"/runs")
			if code != 0 || !strings.Contains(out, "2 stores") {
				t.Errorf("exit %d: %s", code, out)
			}
		}
	}
	files := regexp.MustCompile(`(?m)^  files: '(.*)'$`).FindSubmatch(text)
	if files == nil {
		t.Fatal("no files")
	}
	pattern := regexp.MustCompile(string(files[1]))
	for name, want := range map[string]bool{
		"agents/runs.ndjson": true, "chat/manifest.json": true, "chat/blobs.ndjson.zst": true, "store.db": true, "x/state.vscdb": true,
		"said.jsonl": true,
		"main.go":    false, "package.json": false, "notstore.db": false,
	} {
		if pattern.MatchString(name) != want {
			t.Errorf("%s: %v", name, !want)
		}
	}
}

// TestActionWithoutSessions: what the action and the hook check by default may
// hold no sessions at all.
func TestActionWithoutSessions(t *testing.T) {
	t.Chdir(t.TempDir())
	if err := os.WriteFile("main.go", []byte("package main\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		args []string
		code int
	}{{[]string{"check", "--format", "github", "--", "."}, 0}, {[]string{"check", "."}, 0}, {[]string{"check", ".", "--require"}, 1}} {
		if stdout, stderr, code := call(t, c.args...); code != c.code || !strings.Contains(stdout+stderr, "no sessions found") {
			t.Errorf("%q: exit %d, %s%s", c.args, code, stdout, stderr)
		}
	}
}
