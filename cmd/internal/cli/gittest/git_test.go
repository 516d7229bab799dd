package gittest

import (
	"os"
	"path/filepath"
	"regexp"
	"runtime"
	"strings"
	"testing"

	"rehome/cmd/internal/clitest"
	"rehome/golden"
)

// step is a script, and what it must print.
type step struct {
	script string
	exit   int
	has    string // separated by |
	lacks  string
}

func (s step) run(t *testing.T, run func(string) (string, int)) {
	t.Helper()
	out, code := run(s.script)
	if code != s.exit {
		t.Errorf("%s: exit status %d\n%s", s.script, code, out)
	}
	for want := range strings.SplitSeq(s.has, "|") {
		if !strings.Contains(out, want) {
			t.Errorf("%s: no %q in\n%s", s.script, want, out)
		}
	}
	if s.lacks != "" && strings.Contains(out, s.lacks) {
		t.Errorf("%s: %q in\n%s", s.script, s.lacks, out)
	}
}

// TestGitSetup: git shows sessions as text and refuses to commit broken ones, as they are
// staged; unset leaves the repository as it was.
func TestGitSetup(t *testing.T) {
	if runtime.GOOS == "windows" {
		return // see TestDownload
	}
	dir, run := clitest.Repository(t)
	clitest.Write(t, "*.txt text", dir, ".gitattributes")
	state := func() string {
		out, _ := run("cat .git/config .gitattributes; ls -l .git/hooks .git/info | grep -v total; cat .git/hooks/pre-commit 2>&1")
		return out
	}
	before := state()
	const was, is = "\n-> TestLogin fails about one run in ten.", "\n+> TestLogin fails in every run."
	const edit = `sed -i.bak 's/about one run in ten/in every run/' sessions/*/*.jsonl; rm sessions/*/*.bak; `
	const broken = `sed -i.bak 's/"role":"user"/"role":"nobody"/' sessions/*/*.jsonl; rm sessions/*/*.bak; `
	for _, s := range []step{
		{"rehome git unset", 0, "nothing to change", ""},
		{"rehome git setup --dry-run", 0, "would be added  diff.rehome.textconv|/sessions/**/*.jsonl diff=rehome|/db/**/store.db diff=rehome|/archive/** diff=rehome|/archive/** merge=rehome|.git/hooks/pre-commit|.git/hooks/pre-merge-commit", ""},
	} {
		s.run(t, run)
	}
	if now := state(); now != before {
		t.Errorf("a dry run changed something:\n%s\n%s", before, now)
	}
	for _, s := range []step{
		{"rehome git setup", 0, "added  diff.rehome.textconv\n  rehome git textconv", "would"},
		{"rehome git setup", 0, "nothing to change", ""},
		{edit + "git diff", 0, was + "|" + is, `{"`},
		{"git diff --no-textconv", 0, "\n+{\"", ""},
		{"git commit -qam two && git show && git log -p -1", 0, is, `{"`},
		{"git log -p --follow --format=%s db/store.db", 0, "\n+> TestLogin fails", "Binary"},
		{"printf 'no session\\n' > sessions/notes.jsonl; git add -N . ; git diff sessions/notes.jsonl; git reset -q; rm sessions/notes.jsonl", 0,
			"\n+no session", ""},
		{broken + "git commit -qam three", 1, "RH203|sessions/cursor-cli/|not committed", "staged-"},
		{"git add sessions && git checkout -q HEAD -- db && f=$(git ls-files 'sessions/*.jsonl') && git show \"HEAD:$f\" > \"$f\" && git commit -qm three", 1, "not committed", ""}, // it is mended, but not staged
		{"git reset -q --hard; sed -i.bak \"s/Find out why/ghp_$(printf 'a1B2c3D4e5F6%.0s' 1 2 3)/\" sessions/*/*.jsonl; rm sessions/*/*.bak; git commit -qam token", 1, "RH501|not committed", "ghp_a1B2c3D4e5F6a1"},
		{"git reset -q --hard; echo x > other.txt; git add other.txt; " + broken + "git commit -qm three", 0, "", "RH"},
		{"git commit -qam four --no-verify", 0, "", "RH"},
		{"git reset -q --hard HEAD~1; echo >> archive/blobs.ndjson; git commit -qam five", 1, "archive|not committed", ""},
		{"git reset -q --hard; git rm -q archive/manifest.json; git commit -qm six", 1,
			"archive/manifest.json: removed, but not the rest of its store|hint: remove the folder archive", "rehome-staged"},
		{"git reset -q --hard; git rm -q archive/blobs.ndjson; git commit -qm six", 1, "RH382|not committed", ""},
		{"git reset -q --hard; mkdir web && echo {} > web/manifest.json && echo '{}' > web/x.jsonl && git add web && git commit -qm web && git rm -q web/manifest.json && git commit -qm seven", 0, "", "RH"},
		{"git rm -qr archive && git commit -qm eight && git reset -q --hard HEAD~3", 0, "", "RH"},
		{"git reset -q --hard; git rm -q db/store.db; git commit -qm six", 0, "", "RH"},
		{"rehome git unset", 0, "removed  diff.rehome.textconv|removed  .gitattributes|removed  .git/hooks/pre-commit", ""},
	} {
		s.run(t, run)
	}
	if now := state(); now != before {
		t.Errorf("left behind:\n%s\n%s", before, now)
	}
}

// TestGitRuns: what git runs prints sessions, other text without what would act on a
// terminal, and the digest of anything else.
func TestGitRuns(t *testing.T) {
	if runtime.GOOS == "windows" {
		return // see TestDownload
	}
	dir, run := clitest.Repository(t)
	t.Chdir(dir)
	clitest.Write(t, "no\x1b[2J session\n"+strings.Repeat("x", 1<<17), dir, "notes.jsonl")
	clitest.Write(t, "no\x00thing", dir, "x.db")
	for name, want := range map[string]string{"db/store.db": "> TestLogin fails about", "notes.jsonl": "no\\x1b[2J session\n", "x.db": "[file: 8 bytes, sha256:720608007a6fb80dbdee7a5266777f2d]"} {
		if stdout, stderr, code := call(t, "git", "textconv", name); code != 0 || stderr != "" || !strings.Contains(stdout, want) {
			t.Errorf("%s: exit %d, %.300s%s", name, code, stdout, stderr)
		}
	}
	if stdout, stderr, code := call(t, "git", "pre-commit"); code != 0 || stdout+stderr != "" {
		t.Errorf("nothing is staged: exit %d, %s%s", code, stdout, stderr)
	}
	run("sed -i.bak 's/\"role\":\"user\"/\"role\":\"nobody\"/' sessions/*/*.jsonl; git add .")
	if stdout, stderr, code := call(t, "git", "pre-commit"); code != 4 || !strings.Contains(stdout, "RH203") ||
		!strings.Contains(stderr, "not committed") {
		t.Errorf("exit %d, %s%s", code, stdout, stderr)
	}
	for _, args := range [][]string{{"git", "textconv"}, {"git", "unset", "x"}, {"git", "pre-commit", "--dry-run"}, {"git", "nothing"}} {
		if _, stderr, code := call(t, args...); code != 2 {
			t.Errorf("%q: exit %d, %s", args, code, stderr)
		}
	}
}

// TestGitAgents: git shows the files of agents as lines as text, each by itself; of other
// text of several files, it shows the lines.
func TestGitAgents(t *testing.T) {
	if runtime.GOOS == "windows" {
		return // see TestDownload
	}
	dir, run := clitest.Repository(t)
	if err := os.CopyFS(filepath.Join(dir, "store"), os.DirFS("../../../../testdata/sdk/e2e-jsonl")); err != nil {
		t.Fatal(err)
	}
	replace := func(file, old, by string) string {
		return "f=$(ls " + file + "); sed -i.bak 's/" + old + "/" + by + "/' $f; rm $f.bak; git diff -- $f"
	}
	for _, s := range []step{
		{"rehome convert store agents --to cursor-ndjson -q && rehome git setup agents -q && git add agents && git commit -qm agents --no-verify", 0, "", ""},
		{"git show --format= -- agents/*/run_events.ndjson", 0, "\n+> Prompt 0 – wörld 你好\n|\n+● All done.\n|\n+  shell  printf", `{"`},
		{"git show --format= -- agents/*/checkpoints.ndjson", 0, "\n+> Prompt 0 – wörld 你好\n|\n+● All done.\n|\n+  You are a fixture.\n", `{"`},
		{"git show --format= -- agents/*/runs.ndjson agents/*/agents.ndjson", 0, "\n+● All done.\n|\n+E2E 0\n", `{"`},
		{replace("agents/*/run_events.ndjson", "Prompt 0", "Prompt 1"), 0, "\n-> Prompt 0 – wörld 你好\n+> Prompt 1 – wörld 你好\n", `{"`},
		{replace("agents/*/runs.ndjson", "All done", "Nearly done"), 0, "\n-● All done.\n+● Nearly done.\n", `{"`},
		{replace("agents/*/agents.ndjson", "E2E 0", "E2E 1"), 0, "\n-E2E 0\n+E2E 1\n", `{"`},
		{replace("agents/*/sidecar.ndjson", `"line":1`, `"line":2`), 0, "\n+{\"at\"", "Binary"},
		{"git commit -qam edits --no-verify && git log -p -1 --format=", 0, "\n+> Prompt 1|\n+● Nearly done.|\n+E2E 1\n", `{"agentId`},
		{"git reset -q --hard HEAD~1; rehome git setup -q; " + replace("archive/meta.ndjson", "a", "b"), 0, "\n+[", "Binary"},
	} {
		s.run(t, run)
	}
	const script = "git checkout -q .; sed -i.bak 's/All done/All tests pass/' agents/*/run_events.ndjson; rm agents/*/*.bak; git diff -U2 agents"
	out, code := run(script)
	if code != 0 {
		t.Fatal(out)
	}
	golden.Bytes(t, "git/git-diff.txt", []byte("$ git diff -U2 agents\n"+
		regexp.MustCompile(`(?m)^(?:diff --git|index) .*\n`).ReplaceAllString(out, "")))
}

// TestGitAlone: what is beside a file in the work tree is no difference, and a folder of
// Claude Code can be the repository, although its name starts like a flag.
func TestGitAlone(t *testing.T) {
	if runtime.GOOS == "windows" {
		return // see TestDownload
	}
	dir, run := clitest.Repository(t)
	const project = "-home-ann-app"
	for _, at := range []string{"", "claude/projects"} {
		if err := os.CopyFS(filepath.Join(dir, at, project), os.DirFS("../../../../testdata/claude/config/projects/"+project)); err != nil {
			t.Fatal(err)
		}
	}
	const file = project + "/20000000-0000-4000-8000-000000000004.jsonl"
	for _, s := range []step{
		{"rehome git setup", 0, "/-home-ann-app/**/*.jsonl diff=rehome|/claude/**/*.jsonl diff=rehome", ""},
		{"git add . && git commit -qm two --no-verify && for f in ./" + file + " claude/projects/" + file +
			"; do sed -i.bak 's/what is this/what is that/' \"$f\" && rm \"$f.bak\"; done", 0, "", ""},
		{"git diff -- ./" + file, 0, "\n-> what is this\n+> what is that\n", "\n+a look"},
		{"git diff -- claude", 0, "\n-> what is this\n+> what is that\n", "subagent: "},
	} {
		s.run(t, run)
	}
}

// TestGitHookKept: what others have made is left alone, and setup says what to add.
func TestGitHookKept(t *testing.T) {
	if runtime.GOOS == "windows" {
		return // see TestDownload
	}
	_, run := clitest.Repository(t)
	for _, s := range []step{
		{"printf '#!/bin/sh\\ntrue\\n' > .git/hooks/pre-commit; git config diff.rehome.textconv mine; rehome git setup", 0,
			"left  diff.rehome.textconv|left  .git/hooks/pre-commit\n  there is a hook already; add this line to it: rehome git pre-commit || exit",
			"added  .git/hooks/pre-commit"},
		{"rehome git unset; cat .git/hooks/pre-commit; git config diff.rehome.textconv", 0, "#!/bin/sh\ntrue\n|mine",
			"removed  .git/hooks/pre-commit"},
		{"git config core.hooksPath shared; rehome git setup; ls shared", 2, "core.hooksPath is set", ""},
		{"git config --unset core.hooksPath; rm .git/hooks/pre-commit; rehome git setup -q; echo '# more' >> .git/hooks/pre-commit; rehome git unset", 0, "it was edited", "removed  .git/hooks/pre-commit"},
		{"rehome git setup sessions 'new folder'; cat .gitattributes", 0,
			"/sessions/**/*.jsonl diff=rehome\n|\"/new folder/**/*.jsonl\" diff=rehome\n", ""},
		{"rehome git setup /", 1, "not in the work tree", ""},
		{"mkdir \"$HOME/out\"; git init -q \"$HOME/other\"; cd \"$HOME/out\"; GIT_DIR=\"$HOME/other/.git\" rehome git setup", 1,
			"GIT_DIR names a repository or a work tree elsewhere|hint: unset it", ""},
		{"GIT_DIR=\"$HOME/other/.git\" rehome diff HEAD -- sessions", 1, "GIT_DIR names", ""},
		{"GIT_DIR=.git GIT_WORK_TREE=. rehome diff HEAD -- sessions", 0, "no differences", ""},
		{"git worktree add -q ../linked; cd ../linked; GIT_DIR=\"$(git rev-parse --git-dir)\" rehome diff HEAD -- sessions && cd - && git worktree remove --force ../linked", 0, "no differences", ""},
		{"printf '*.md text' > .gitattributes; rehome git setup -q sessions; rehome git setup -q db; echo '*.c text' >> .gitattributes; rehome git unset; cat .gitattributes", 0, "removed  .gitattributes\n  /sessions/|\n*.md text\n*.c text\n", "newline"},
		{"rehome git setup -q sessions; sed -i.bak '/setup: end/d' .gitattributes; rehome git unset", 1,
			"the line that ends the part of rehome is missing", ""},
		{"cd \"$HOME\"; rehome git setup", 1, "not in a git work tree", ""},
		{"mkdir \"$HOME/empty\"; cd \"$HOME/empty\"; git init -q; rehome git setup", 1, "hint: name the folder", ""},
	} {
		s.run(t, run)
	}
}

// TestDiffCommits: commits are compared, and nothing that the repository configures is
// run.
func TestDiffCommits(t *testing.T) {
	if runtime.GOOS == "windows" {
		return // see TestDownload
	}
	dir, run := clitest.Repository(t)
	ran := filepath.Join(t.TempDir(), "ran")
	touch := filepath.ToSlash(ran)
	for _, s := range []step{
		{"git config core.fsmonitor 'touch " + touch + "'; git config filter.x.smudge 'touch " + touch +
			"'; git config diff.x.textconv 'touch " + touch + "'; git config core.pager 'touch " + touch +
			"'; echo '* filter=x diff=x' > .git/info/attributes", 0, "", ""},
		{"rehome diff HEAD -- .", 0, "no differences in 3 sessions", ""},
		{`sed -i.bak 's/about one run in ten/in every run/' sessions/*/*.jsonl; rm sessions/*/*.bak; rehome diff HEAD -- .`, 4,
			"1 session changed, 2 without|-TestLogin fails about|+TestLogin fails in every", "rehome-commit"},
		{"git -c filter.x.smudge= -c core.fsmonitor=false commit -qam two && rm -f " + touch +
			" && rehome diff HEAD~1 HEAD --stat -- sessions db", 4, "1 turn changed", ""},
		{"cd sessions; rehome diff HEAD~1 --path . --json", 4, `"path": "HEAD~1:sessions`, "commit-"},
		{"rm -r sessions; rehome diff HEAD -- sessions", 4, "1 session removed", ""},
		{"rehome diff HEAD HEAD -- sessions/cursor-cli archive sessions", 0, "2 sessions", ""},
		{"rehome diff HEAD -- nowhere", 1, "not found on either side", ""},
		{"rehome diff nowhere HEAD -- sessions", 1, "nowhere: git cannot read this commit", ""},
		{"rehome diff --output=x HEAD -- sessions", 2, "unknown flag", ""},
		{"rehome diff HEAD HEAD~1", 1, "rehome diff REV1 REV2 -- PATH", ""},
		{"ls \"$TMPDIR\"", 0, "", "rehome"},
	} {
		s.run(t, run)
	}
	if _, err := os.Stat(ran); err == nil {
		t.Error("a program of the repository's configuration ran")
	}
	if _, err := os.Stat(filepath.Join(dir, "x")); err == nil {
		t.Error("a commit was taken for a flag")
	}
}

// TestDiffTracked: with the work tree, the files that git tracks are compared, as git diff
// does.
func TestDiffTracked(t *testing.T) {
	if runtime.GOOS == "windows" {
		return // see TestDownload
	}
	_, run := clitest.Repository(t)
	for _, s := range []step{
		{"mkdir more && cp sessions/*/*.jsonl more/a.jsonl && echo x > sessions/notes.md && rehome diff HEAD -- . 2>&1", 0,
			"rehome: left out files that git does not track: 1\nno differences in 3 sessions\n", ""},
		{"rehome diff HEAD -- sessions 2>&1", 0, "no differences in 1 session\n", "left out"},
		{"cp more/a.jsonl sessions/; rehome diff HEAD --exact -- sessions 2>&1; rehome diff HEAD -- more 2>&1", 1,
			"no differences in 1 store\n|left out files that git does not track: 1\n|more: not found on either side", ""},
		{"git add sessions/a.jsonl; cd more; rehome diff HEAD --json --exact -- .. 2>/dev/null", 4, `"added": 1,|"path": "../sessions/a.jsonl"`,
			"commit-"},
		{"git reset -q; rm -r more sessions/a.jsonl sessions/notes.md; git init -q inside && (cd inside && cp ../sessions/*/*.jsonl . && git add . && git commit -qm one); rehome diff HEAD -- . 2>&1", 0, "left out submodules: 1\nno differences in 3 sessions", ""},
		{"git -c protocol.file.allow=always submodule --quiet add ./inside module && git commit -qm two && rehome diff HEAD -- . 2>&1", 0,
			"left out submodules: 2\nno differences in 3 sessions", ""},
		{"rm -r inside; git rm -q --cached db/store.db; rehome diff HEAD --stat -- db 2>&1", 4,
			"left out files that git does not track: 1\n1 session removed", ""},
		{"ls \"$TMPDIR\"", 0, "", "rehome"},
	} {
		s.run(t, run)
	}
}

// TestActionDifference: the job summary gets what changed since the base.
func TestActionDifference(t *testing.T) {
	if runtime.GOOS == "windows" {
		return // see TestDownload
	}
	dir, run := clitest.Repository(t)
	temp := t.TempDir()
	script := "export RUNNER_TEMP='" + temp + "' GITHUB_STEP_SUMMARY='" + temp +
		"/summary.md' BASE=HEAD~1 PATHS=$'sessions\\ndb\\n'\nmkdir -p \"$RUNNER_TEMP/rehome\"; cp \"$(command -v rehome)\" \"$RUNNER_TEMP/rehome/\"\n"
	const edit = `sed -i.bak 's/about one run in ten/in every run ### @user ![x](http:y)/' sessions/*/*.jsonl; rm sessions/*/*.bak; git commit -qam two`
	for _, s := range []step{
		{edit, 0, "", ""},
		{script + clitest.ActionSteps(t)["difference"], 0, "", "::"},
		{"cat '" + temp + "/summary.md'", 0, "**Sessions:** 1 session changed, 1 without differences\n|\n```diff\n|\n+TestLogin fails in every run ### @user ![x](http:y). Find", ""},
		{script + strings.ReplaceAll(clitest.ActionSteps(t)["difference"], "$BASE", "nowhere"), 0, "::warning::rehome diff could not", ""},
	} {
		s.run(t, run)
	}
	if _, err := os.Stat(filepath.Join(dir, "db", "store.db")); err != nil {
		t.Error(err)
	}
}
