package gittest

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"rehome/cmd/internal/clitest"
	"rehome/golden"
)

// TestFinishKilled kills the program at points of a finish: each store is the old one or
// the new one as a whole, and the next run finishes the rest.
func TestFinishKilled(t *testing.T) {
	dir, run := clitest.Repository(t)
	all := []teamwork{teams()["claude-code"], teams()["cursor-ndjson"]}
	say := func(word string) {
		t.Helper()
		for _, c := range all {
			c.say(t, dir, 1, word)
		}
		step{script: "git add . && git commit -qm " + word}.run(t, run)
	}
	must := func(script string) string {
		t.Helper()
		out, code := run("export GIT_OPTIONAL_LOCKS=0; " + script)
		if code != 0 {
			t.Fatal(out)
		}
		return out
	}
	must("git rm -rq . && git checkout -qb main && git config gc.auto 0")
	say("base")
	must("git checkout -qb theirs")
	say("theirs")
	must("git checkout -q main")
	say("ours")
	must("! git merge -q theirs && cp -r . ../start")
	const state = "cat claude/*/*1.jsonl | sha1sum; find agents -type f | sort | xargs cat | sha1sum; "
	old := strings.Fields(must(state))
	start := time.Now()
	want := must("rehome merge --finish -q; git write-tree")
	took := time.Since(start).Seconds()
	now := strings.Fields(must(state))
	met := map[string]int{}
	for i := 0; i <= 16; i += golden.Every() {
		must(fmt.Sprintf("rm -rf .git * && cp -r ../start/. . && { rehome merge --finish -q & p=$!; sleep %.3f; kill -9 $p || true; wait $p || true; sleep 0.1; }", took*float64(i)/8))
		got := strings.Fields(must(state))
		for n := 0; n < len(got); n += 2 {
			switch got[n] {
			case old[n]:
				met["old"]++
			case now[n]:
				met["new"]++
			default:
				t.Errorf("kill %d: neither the old store nor the new one", i)
			}
		}
		if tree := must("rehome merge --finish -q 2>/dev/null || true; git write-tree"); tree != want {
			t.Errorf("kill %d: another tree after the next run: %s", i, tree)
		}
		if left := must("git status --short --ignored | grep -v '^[AMD] ' || true; ls -A . claude/*"); strings.Contains(left, "rehome-") ||
			strings.Contains(left, "??") {
			t.Errorf("kill %d: left behind: %s", i, left)
		}
	}
	if met["old"] == 0 || met["new"] == 0 {
		t.Errorf("the kills did not meet every state: %v", met)
	}
}
