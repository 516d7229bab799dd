package gittest

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"

	"rehome/cmd/internal/clitest"
	"rehome/cmd/internal/console"
	"rehome/testdata/chat"
	"rehome/testdata/ide"
)

// teamwork is how sessions of a client are continued in a repository.
type teamwork struct {
	say  func(t *testing.T, dir string, session int, word string)
	said func(t *testing.T, dir string) []string // the words of each session, sorted
}

func teams() map[string]teamwork {
	line := func(v any) string { b, _ := json.Marshal(v); return string(b) + "\n" }
	type object = map[string]any
	appendTo := func(t *testing.T, text string, path ...string) {
		t.Helper()
		was, err := os.ReadFile(filepath.Join(path...))
		if err != nil && !errors.Is(err, os.ErrNotExist) {
			t.Fatal(err)
		}
		clitest.Write(t, string(was)+text, path...)
	}
	said := func(pattern, word string) func(t *testing.T, dir string) []string {
		return func(t *testing.T, dir string) (out []string) {
			files, err := filepath.Glob(filepath.Join(dir, filepath.FromSlash(pattern)))
			if err != nil || len(files) == 0 {
				t.Fatal(files, err)
			}
			for _, f := range files {
				b, err := os.ReadFile(f)
				if err != nil {
					t.Fatal(err)
				}
				var words []string
				for l := range strings.Lines(string(b)) {
					if _, after, ok := strings.Cut(l, word); ok {
						w, _, _ := strings.Cut(after, `"`)
						words = append(words, w)
					}
				}
				out = append(out, strings.Join(words, " "))
			}
			slices.Sort(out)
			return out
		}
	}
	return map[string]teamwork{
		"claude-code": {
			func(t *testing.T, dir string, session int, word string) {
				id := fmt.Sprintf("20000000-0000-4000-8000-%012d", session)
				appendTo(t, line(object{"type": "user", "uuid": fmt.Sprintf("%s-%d", word, session), "sessionId": id,
					"message": object{"role": "user", "content": word}}), dir, "claude", "my folder", id+".jsonl")
				clitest.Write(t, word, dir, "claude", "my folder", id, "tool-results", word[:4]+".txt")
			},
			said("claude/*/*.jsonl", `"content":"`),
		},
		"cursor-ndjson": {
			func(t *testing.T, dir string, session int, word string) {
				id := fmt.Sprintf("agent-20000000-0000-4000-8000-%012d", session)
				at := filepath.Join(dir, "agents", id)
				was, _ := os.ReadFile(filepath.Join(at, "runs.ndjson"))
				turn, run := strings.Count(string(was), "\n")+1, fmt.Sprintf("run-%s-%d", word, session)
				clitest.Write(t, `{"rehome":"cursor-ndjson","version":1}`+"\n", dir, "agents", "rehome.json")
				clitest.Write(t, line(object{"agentId": id, "cwd": "/w", "status": "idle", "activeRunId": run, "name": "An agent", "createdAt": session,
					"updatedAt": turn, "sdkMetadata": object{}, "latestCheckpoint": nil}), at, "agents.ndjson")
				appendTo(t, line(object{"runId": run, "agentId": id, "turnNumber": turn, "status": "finished", "createdAt": turn, "updatedAt": turn}),
					at, "runs.ndjson")
				appendTo(t, line(object{"runId": run, "seq": 1, "offset": "1", "eventType": "run_stream_event",
					"payload": object{"agentId": id, "runId": run, "text": word}, "createdAt": "2026-06-04T11:00:00.010Z"}), at, "run_events.ndjson")
				appendTo(t, line(object{"agentId": id, "blobId": word, "dataBase64": ""}), at, "checkpoints.ndjson")
			},
			said("agents/*/run_events.ndjson", `"text":"`),
		},
		"canonical": {
			func(t *testing.T, dir string, session int, word string) {
				id := fmt.Sprintf("5d0b2b7e-2222-4000-8000-%012d", session)
				at := filepath.Join(dir, "sessions", "cursor-cli", id+".jsonl")
				was, _ := os.ReadFile(at)
				if len(was) == 0 {
					appendTo(t, line(object{"type": "session", "version": 1, "id": id, "agent": "cursor-cli", "title": "A chat"}), at)
				}
				appendTo(t, line(object{"type": "message", "id": fmt.Sprintf("%s-%d", word, session), "role": "user",
					"turn": object{"number": max(1, strings.Count(string(was), "\n"))}, "parts": []object{{"type": "text", "text": word}}}), at)
			},
			said("sessions/*/*.jsonl", `"text":"`),
		},
		"codex": {
			func(t *testing.T, dir string, session int, word string) {
				id := fmt.Sprintf("01a202d9-0bc4-7c43-8649-%012d", session)
				at := filepath.Join(dir, "codex", "sessions", "2026", "11", "22", "rollout-2026-11-22T10-41-48-"+id+".jsonl")
				item := func(of string, payload object) string {
					return line(object{"timestamp": "2026-11-22T10:41:48.603Z", "type": of, "payload": payload})
				}
				if !console.Exists(at) {
					appendTo(t, item("session_meta", object{"id": id, "timestamp": "2026-11-22T10:41:48.520Z", "cwd": "/w", "originator": "codex_exec",
						"cli_version": "0.169.0", "source": "exec"}), at)
				}
				appendTo(t, item("response_item", object{"type": "message", "role": "user",
					"content": []object{{"type": "input_text", "text": word}}}), at)
			},
			said("codex/sessions/*/*/*/*.jsonl", `"text":"`),
		},
		"archives of chats": {
			func(t *testing.T, dir string, session int, word string) {
				id := fmt.Sprintf("5d0b2b7e-1111-4000-8000-%012d", session)
				text, db := filepath.Join(dir, "chats", "0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a", id),
					filepath.Join(t.TempDir(), "0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a", id)
				b, err := chat.Stores.ReadFile("before.db")
				if err != nil {
					t.Fatal(err)
				}
				clitest.Write(t, string(b), db, "store.db")
				if console.Exists(text) {
					if err := os.RemoveAll(db); err != nil {
						t.Fatal(err)
					}
					if _, stderr, code := call(t, "convert", text, db); code != 0 {
						t.Fatal(stderr)
					}
				}
				meta := `json_set(CAST(unhex(value) AS TEXT), '$.agentId', '` + id + `')`
				if err := ide.Exec(filepath.Join(db, "store.db"), fmt.Sprintf(`UPDATE meta SET value = lower(hex(%s)) WHERE key = '0';
					INSERT INTO blobs VALUES ('%s', CAST('%s' AS BLOB)); PRAGMA journal_mode = DELETE`, meta, clitest.DigestOf(word), word)); err != nil {
					t.Fatal(err)
				}
				if err := os.RemoveAll(text); err != nil {
					t.Fatal(err)
				}
				if _, stderr, code := call(t, "convert", db, text, "--to", "archive"); code != 0 {
					t.Fatal(stderr)
				}
			},
			func(t *testing.T, dir string) (out []string) {
				files, err := filepath.Glob(filepath.Join(dir, "chats", "*", "*", "store.db", "blobs.ndjson"))
				if err != nil {
					t.Fatal(err)
				}
				for _, f := range files {
					b, err := os.ReadFile(f)
					if err != nil {
						t.Fatal(err)
					}
					var words []string
					for l := range strings.Lines(string(b)) {
						for _, w := range []string{"base", "ours", "theirs", "later"} {
							if strings.Contains(l, clitest.DigestOf(w)) {
								words = append(words, w)
							}
						}
					}
					out = append(out, strings.Join(words, " "))
				}
				slices.Sort(out)
				return out
			},
		},
	}
}

// TestFinish merges branches of a real repository in which two people continued sessions:
// different ones without a conflict; one session becomes it and a fork, and is the same
// session in either direction and for other commands than merge.
func TestFinish(t *testing.T) {
	if runtime.GOOS == "windows" {
		return // see TestDownload
	}
	for name, c := range teams() {
		t.Run(name, func(t *testing.T) {
			dir, run := clitest.Repository(t)
			step{script: "git rm -rq . && git checkout -qb main"}.run(t, run)
			commit := func(branch, word string, sessions ...int) {
				t.Helper()
				step{script: "git checkout -q " + branch}.run(t, run)
				for _, n := range sessions {
					c.say(t, dir, n, word)
				}
				step{script: "git add . && git commit -qnm " + word}.run(t, run)
			}
			want := func(when string, words ...string) {
				t.Helper()
				if got := c.said(t, dir); !slices.Equal(got, words) {
					t.Errorf("%s: %q", when, got)
				}
			}
			commit("main", "base", 1, 2, 3)
			step{script: "rehome git setup -q && git add .gitattributes && git commit -qnm setup && git branch theirs"}.run(t, run)
			commit("theirs", "theirs", 2, 5)
			commit("main", "ours", 3, 6)
			step{script: "git merge -q -m disjoint --no-verify theirs && git status --short"}.run(t, run)
			want("disjoint", "base", "base ours", "base theirs", "ours", "theirs")
			commit("theirs", "theirs", 1)
			commit("main", "ours", 1)
			step{script: "git merge theirs", exit: 1, has: "CONFLICT|left as it is on yours|rehome merge --finish"}.run(t, run)
			step{script: "git grep -l '<<<<<<<' -- . ':!.gitattributes'", exit: 1}.run(t, run)
			step{script: "rehome merge --finish --dry-run --json && git diff --name-only --diff-filter=U",
				has: `"dry_run": true|"outcome": "forked"|"staged": []|000000000001`}.run(t, run)
			step{script: "rehome merge --finish", has: "1 new as forks|staged with git add|next: git commit"}.run(t, run)
			step{script: "git commit -qnm merged && git rev-parse HEAD^2 && git status --short && git tag merged", lacks: "??"}.run(t, run)
			all := []string{"base ours", "base ours", "base theirs", "base theirs", "ours", "theirs"}
			want("merged", all...)
			step{script: "rehome merge --finish", exit: 1, has: "no merge, rebase or cherry-pick has stopped"}.run(t, run)
			// The other way round.
			step{script: "git checkout -qb swapped theirs && ! git merge main~1 2>&1 && git merge --abort; git merge $(git rev-parse merged^1)",
				exit: 1, has: "CONFLICT"}.run(t, run)
			step{script: "rehome merge --finish -q && git commit -qnm swapped && git diff --stat merged HEAD && git rev-parse HEAD^{tree} merged^{tree} | uniq | wc -l", has: "1"}.run(t, run)
			want("swapped", all...)
			// A rebase and a cherry-pick of the same work.
			step{script: "git checkout -qb rebased theirs && git rebase $(git rev-parse merged^1)", exit: 1, has: "CONFLICT"}.run(t, run)
			step{script: "rehome merge --finish && GIT_EDITOR=true git rebase --continue && git diff --exit-code merged HEAD",
				has: "next: git rebase --continue"}.run(t, run)
			step{script: "git checkout -q --detach merged^1 && git cherry-pick theirs", exit: 1, has: "CONFLICT"}.run(t, run)
			step{script: "rehome merge --finish && git -c core.editor=true -c core.hooksPath=/dev/null cherry-pick --continue && git diff --exit-code merged HEAD", has: "next: git cherry-pick --continue"}.run(t, run)
			// Later work continues the session and its fork.
			commit("theirs", "later", 1)
			step{script: "git checkout -q main && { git merge -q --no-verify -m again theirs || { rehome merge --finish -q && git commit -qnm again; }; }; git status --short; git log -1 --format=%p | wc -w", has: "2", lacks: "??"}.run(t, run)
			want("again", "base ours", "base ours", "base theirs", "base theirs later", "ours", "theirs")
			step{script: "ls -A; ls \"$TMPDIR\"", lacks: "rehome-"}.run(t, run)
		})
	}
}

// TestFinishKeeps: what cannot be merged stays, and so does everything that git does not
// have; what one side redacted or removed does not come back.
func TestFinishKeeps(t *testing.T) {
	if runtime.GOOS == "windows" {
		return // see TestDownload
	}
	c := teams()["claude-code"]
	dir, run := clitest.Repository(t)
	one, two := "claude/my folder/20000000-0000-4000-8000-000000000001", "claude/my folder/20000000-0000-4000-8000-000000000002"
	step{script: "git rm -rq . && git checkout -qb main && mkdir web && echo {} > web/manifest.json && echo base > web/notes.txt && echo base > main.go && cp \"$(command -v rehome)\" store.db"}.run(t, run)
	for n := range 4 {
		c.say(t, dir, n+1, "base")
	}
	step{script: "git add . && git commit -qm base && git checkout -qb theirs && git rm -qr '" + one +
		"'* && git rm -qr claude/*/*03* && echo theirs | tee web/manifest.json > main.go; echo theirs >> store.db"}.run(t, run)
	c.say(t, dir, 2, strings.Repeat("theirs", 400))
	step{script: "git add . && git commit -qm theirs && git checkout -q main && echo ours | tee web/manifest.json > main.go; echo ours >> store.db; sed -i.bak s/base/gone/ claude/*/*04.jsonl; rm claude/*/*.bak"}.run(t, run)
	c.say(t, dir, 1, "ours")
	c.say(t, dir, 2, "ours")
	for _, s := range []step{
		{script: "git add . && git commit -qm ours && git merge theirs", exit: 1, has: "CONFLICT"},
		{script: "rehome check claude", exit: 4, has: "merge"},
		{script: "echo mine > '" + two + "/mine.txt'; rehome merge --finish 'claude/my folder/20000000-0000-4000-8000-000000000002.jsonl'",
			exit: 1, has: "mine.txt: not in git as it is, and would be lost"},
		{script: "rm '" + two + "/mine.txt'; echo mine > '" + two + ".jsonl'; rehome merge --finish claude", exit: 1,
			has: "02.jsonl: not in git as it is|removed on one side|because the other one has changed it"},
		{script: "git checkout -qm -- '" + two + ".jsonl'; git status --short > \"$HOME/before\"; ! (trap '' XFSZ; ulimit -f 1; rehome merge --finish claude); git status --short | diff \"$HOME/before\" - && ls -A claude/*", has: "the disk is full", lacks: "rehome-"},
		{script: "mv claude elsewhere; ln -s elsewhere claude; ! rehome merge --finish; rm claude; mv elsewhere claude; git status --short | diff \"$HOME/before\" -", has: "claude: not a folder"},
		{script: "rehome merge --finish store.db", exit: 1, has: "nothing merged|store.db: databases are not merged in git",
			lacks: "files merged"},
		{script: "rehome merge --finish", exit: 1, has: "1 new as forks|not a store, resolve it yourself: main.go|not a store, resolve it yourself: web/manifest.json|store.db: databases are not merged in git|when no conflict is left: git commit"},
		{script: "cat main.go web/notes.txt && ls claude/*", has: "<<<<<<<|base|01.jsonl", lacks: "03.jsonl"},
		{script: "git checkout --ours store.db main.go web && git add . && git commit -qnm merged && grep -c gone claude/*/*04.jsonl && git status --short", has: "1", lacks: "??"},
		{script: "git checkout -qb unrelated main~1 && echo more >> main.go && git stash -q && echo other >> main.go && git commit -qam other && git stash pop", exit: 1, has: "CONFLICT"},
		{script: "rehome merge --finish", has: "resolve it yourself: main.go|git stash drop"},
		{script: "cd \"$HOME\" && rehome merge --finish", exit: 1, has: "not in a git work tree"},
	} {
		s.run(t, run)
	}
}

// TestFinishRefuses: what git has only as staged, what people wrote between the marks of a
// conflict, and what is in a store's folder without being a part of it stays.
func TestFinishRefuses(t *testing.T) {
	if runtime.GOOS == "windows" {
		return // see TestDownload
	}
	c := teams()["cursor-ndjson"]
	dir, run := clitest.Repository(t)
	step{script: "git rm -rq . && git checkout -qb main"}.run(t, run)
	commit := func(session int, word string) {
		t.Helper()
		c.say(t, dir, session, word)
		step{script: "git add . && git commit -qm " + word}.run(t, run)
	}
	commit(1, "base")
	step{script: "git checkout -qb theirs"}.run(t, run)
	commit(1, "theirs")
	step{script: "git checkout -qb readme && echo hi > agents/README.md && git add . && git commit -qm readme && git checkout -q main"}.run(t,
		run)
	commit(1, "ours")
	const runs = "agents/agent-20000000-0000-4000-8000-000000000001/runs.ndjson"
	for name, s := range map[string]step{
		"a staged session": {script: "mkdir agents/mine && echo '{}' > agents/mine/runs.ndjson && git add agents/mine",
			has: "agents/mine/runs.ndjson: staged, but in neither commit, and would be lost"},
		"an edit in a conflict": {script: "sed -i.bak 1s/finished/mine/ " + runs + "; rm " + runs + ".bak",
			has: "runs.ndjson: edited since git merged it, and would be lost"},
		"a conflict resolved by hand": {script: "echo '{\"mine\":1}' > " + runs + " && git add " + runs,
			has: "runs.ndjson: edited since git merged it, and would be lost"},
		"a file that is no part of it": {script: "git merge --abort && ! git merge -q readme",
			has: "agents/README.md: not a part of the store, and would be lost"},
		"no conflict there":             {script: ":", has: "elsewhere: no store with a conflict is there"},
		"the store is the root, by git": {script: "git merge --abort && git checkout -qb root main && git mv agents/* . && git commit -qm root && git checkout -qb other && sed -i.bak s/idle/busy/ */agents.ndjson && git commit -qam other && git checkout -q root && sed -i.bak s/idle/gone/ */agents.ndjson && git commit -qam gone && ! git merge -q other", has: "its store is the root of the repository"},
	} {
		step{script: "git reset -q --hard && git clean -fdxq && git checkout -q main && ! git merge -q theirs"}.run(t, run)
		at := ""
		if name == "no conflict there" {
			at = " elsewhere"
		}
		const state = "{ git ls-files -s; find . -path ./.git -prune -o -type f -print | sort | xargs cat; }"
		s.script += " && " + state + " > \"$HOME/before\"; code=0; rehome merge --finish" + at + " || code=$?; " + state +
			" | diff \"$HOME/before\" - && exit $code"
		s.exit = 1
		t.Run(name, func(t *testing.T) { s.run(t, run) })
	}
	// The rest is said to have a conflict; what is ignored is staged, too.
	other := teams()["claude-code"]
	step{script: "git reset -q --hard && git clean -fdxq && git checkout -q theirs"}.run(t, run)
	other.say(t, dir, 1, "theirs")
	step{script: "git add . && git commit -qm more && git checkout -q main"}.run(t, run)
	other.say(t, dir, 1, "ours")
	for _, s := range []step{
		{script: "echo agents > .gitignore && git add . && git commit -qm more && git merge -q theirs", exit: 1},
		{script: "rehome merge --finish agents", has: "still has a conflict: claude/my folder/2|when no conflict is left: git commit",
			lacks: "agents.ndjson"},
		{script: "git status --short --ignored agents", has: "A  agents/agent-", lacks: "!!"},
	} {
		s.run(t, run)
	}
}

// TestFinishAncestors: of two common ancestors, neither says what was removed.
func TestFinishAncestors(t *testing.T) {
	if runtime.GOOS == "windows" {
		return // see TestDownload
	}
	c := teams()["cursor-ndjson"]
	dir, run := clitest.Repository(t)
	step{script: "git rm -rq . && git checkout -qb main"}.run(t, run)
	commit := func(branch, word, date string, session int) {
		t.Helper()
		step{script: "git checkout -q " + branch}.run(t, run)
		c.say(t, dir, session, word)
		step{script: "git add . && GIT_COMMITTER_DATE=" + date + "T00:00:00Z git commit -qm " + word}.run(t, run)
	}
	commit("main", "base", "2026-01-01", 1)
	step{script: "git branch theirs"}.run(t, run)
	commit("main", "more", "2026-01-03", 1)
	commit("theirs", "other", "2026-01-02", 2)
	step{script: "git branch one main && git branch two theirs && git merge -qm merged one && git checkout -q two agents && git commit -qm older && git checkout -q main && git merge -qm merged two"}.run(t, run)
	commit("main", "ours", "2026-01-04", 2)
	commit("theirs", "theirs", "2026-01-04", 2)
	for _, s := range []string{"git checkout -q main && ! git merge -q theirs", "git checkout -q theirs && ! git merge -q main~0"} {
		step{script: s + " && rehome merge --finish -q && git write-tree >> \"$HOME/trees\""}.run(t, run)
		if got := c.said(t, dir); !slices.Equal(got, []string{"base more", "other ours", "other theirs"}) {
			t.Errorf("%q", got)
		}
		step{script: "git reset -q --hard"}.run(t, run)
	}
	step{script: "uniq \"$HOME/trees\" | wc -l", has: "1"}.run(t, run)
}
