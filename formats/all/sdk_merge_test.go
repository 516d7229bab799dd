package all_test

import (
	"database/sql"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"rehome/convert"
	"rehome/formats"
	"rehome/formats/all"
	"rehome/formats/internal/sdkstore"
)

const (
	agent0 = "agent-b9290c9a-1c61-4373-a772-f92cb80751fb"
	agent1 = "agent-86bf8e9d-383e-47d4-956b-3110946fa7b4"
)

// team is a repository with the text of a store, and the stores of its members.
type team struct {
	t         *testing.T
	dir, repo string
}

func newTeam(t *testing.T) *team {
	m := &team{t, t.TempDir(), ""}
	m.repo = filepath.Join(m.dir, "repo")
	if err := os.Mkdir(m.repo, 0o777); err != nil {
		t.Fatal(err)
	}
	m.git("init", "-q", "-b", "main")
	m.commit("main", copied(t, m.dir))
	return m
}

// git runs a command in the repository. No configuration of the machine counts.
func (m *team) git(args ...string) (out string, ok bool) {
	c := exec.Command("git", args...)
	c.Dir = m.repo
	c.Env = append(os.Environ(), "GIT_CONFIG_GLOBAL="+os.DevNull, "GIT_CONFIG_SYSTEM="+os.DevNull, "GIT_AUTHOR_NAME=a", "GIT_AUTHOR_EMAIL=a@b.c", "GIT_COMMITTER_NAME=a", "GIT_COMMITTER_EMAIL=a@b.c")
	b, err := c.CombinedOutput()
	return string(b), err == nil
}

func (m *team) must(args ...string) string {
	m.t.Helper()
	out, ok := m.git(args...)
	if !ok {
		m.t.Fatalf("git %s: %s", strings.Join(args, " "), out)
	}
	return out
}

// commit brings the text of a branch up to date with a store.
func (m *team) commit(branch, root string) {
	m.t.Helper()
	if branch != "main" {
		m.must("checkout", "-q", "-b", branch, "main")
	}
	text := filepath.Join(m.repo, "agents")
	if err := os.RemoveAll(text); err != nil {
		m.t.Fatal(err)
	}
	become(m.t, root, text, convert.Options{To: "cursor-ndjson"})
	m.must("add", "-A")
	m.must("commit", "-q", "-m", branch)
}

// goesOn commits a store in which an agent has one more turn.
func (m *team) goesOn(branch, agent string, turn int, at, result string) {
	m.t.Helper()
	dir := filepath.Join(m.dir, branch)
	if err := os.Mkdir(dir, 0o777); err != nil {
		m.t.Fatal(err)
	}
	root := copied(m.t, dir)
	run(m.t, filepath.Join(root, "index.db"),
		fmt.Sprintf(`INSERT INTO runs (run_id,agent_id,turn_number,status,result,created_at,updated_at,started_at,finished_at) VALUES ('run-%s','%s',%d,'FINISHED','%s','%s','%s','%s','%s')`, branch, agent, turn, result, at, at, at, at),
		fmt.Sprintf(`INSERT INTO run_events VALUES ('run-%s',1,'1','run_stream_event','{"by":"%s"}',NULL,NULL,'%s')`, branch, branch, at),
		fmt.Sprintf(`UPDATE agents SET updated_at='%s' WHERE agent_id='%s'`, at, agent))
	store := filepath.Join(root, filepath.FromSlash(sdkstore.StorePath(agent)))
	run(m.t, store, fmt.Sprintf(`INSERT INTO blobs (id,data) VALUES ('%064x', x'00')`, len(branch)),
		`DELETE FROM blobs WHERE rowid = (SELECT max(rowid)-1 FROM blobs)`, // a row id that is told
		fmt.Sprintf(`UPDATE meta SET value = '%s' WHERE key = '0'`, hexOf(`{"agentId":"`+agent+`","name":"`+branch+`"}`)))
	m.commit(branch, root)
}

// turns lists the runs of an agent in a store of databases.
func turns(t *testing.T, root, agent string) (out []string) {
	t.Helper()
	db, err := sql.Open("sqlite", "file:"+filepath.ToSlash(filepath.Join(root, "index.db")))
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	rows, err := db.Query(`SELECT turn_number || ' ' || run_id FROM runs WHERE agent_id = ? ORDER BY turn_number`, agent)
	if err != nil {
		t.Fatal(err)
	}
	defer rows.Close()
	for rows.Next() {
		var s string
		if err := rows.Scan(&s); err != nil {
			t.Fatal(err)
		}
		out = append(out, s)
	}
	return out
}

// TestMergeDifferentAgents: two people who continue different agents merge without a
// conflict, and both have the turns of both.
func TestMergeDifferentAgents(t *testing.T) {
	m := newTeam(t)
	m.goesOn("ann", agent0, 3, "2026-06-05T10:00:00.000Z", "from ann")
	m.goesOn("bob", agent1, 3, "2026-06-05T09:00:00.000Z", "from bob")
	if out, ok := m.git("merge", "-m", "both", "ann"); !ok {
		t.Fatalf("conflict: %s", out)
	}
	rep := become(t, filepath.Join(m.repo, "agents"), filepath.Join(m.dir, "both"), convert.Options{})
	for _, l := range rep.Stores[0].Losses {
		if l.Code.Stale() {
			t.Errorf("stale: %+v", l)
		}
	}
	for agent, run := range map[string]string{agent0: "3 run-ann", agent1: "3 run-bob"} {
		if got := turns(t, filepath.Join(m.dir, "both"), agent); len(got) != 3 || got[2] != run {
			t.Errorf("%s: %q", agent, got)
		}
	}
}

// TestMergeSameAgent: the files of an agent that two people continued conflict, so that git
// does not mix their turns. The line of the agent says what the conflict is about.
func TestMergeSameAgent(t *testing.T) {
	m := newTeam(t)
	m.goesOn("ann", agent0, 3, "2026-06-05T10:00:00.000Z", "from ann")
	m.goesOn("bobby", agent0, 3, "2026-06-05T09:00:00.000Z", "from bobby")
	if out, ok := m.git("merge", "-m", "both", "ann"); ok {
		t.Fatalf("merged: %s", out)
	}
	folder := "agents/" + agent0
	got := m.must("diff", "--name-only", "--diff-filter=U")
	for _, name := range []string{"agents.ndjson", "runs.ndjson", "run_events.ndjson"} {
		if !strings.Contains(got, folder+"/"+name+"\n") {
			t.Errorf("no conflict in %s, only in %q", name, got)
		}
	}
	b, err := os.ReadFile(filepath.Join(m.repo, filepath.FromSlash(folder), "agents.ndjson"))
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range []string{"Agent 0", `"rehome":{"turns":3,"last":"from ann"}`, `"rehome":{"turns":3,"last":"from bobby"}`} {
		if !strings.Contains(string(b), s) {
			t.Errorf("the conflict does not say %s: %s", s, b)
		}
	}
	for _, to := range []string{"cursor-sdk", "canonical"} {
		rep, err := convert.Convert(t.Context(), all.Registry(), filepath.Join(m.repo, "agents"), filepath.Join(m.dir, "no-"+to), convert.Options{To: to})
		if err == nil && rep.Failed() > 0 {
			err = rep.Stores[0].Err()
		}
		if err == nil || !strings.Contains(err.Error(), "unresolved merge conflict") || formats.Hint(err) == "" {
			t.Errorf("to %s: %v", to, err)
		}
	}
	for side, run := range map[string]string{"--theirs": "3 run-ann", "--ours": "3 run-bobby"} {
		m.must("checkout", side, folder)
		out := filepath.Join(m.dir, side)
		become(t, filepath.Join(m.repo, "agents"), out, convert.Options{})
		if got := turns(t, out, agent0); len(got) != 3 || got[2] != run {
			t.Errorf("%s: turns %q", side, got)
		}
	}
}

// TestSplitIsTheSame: sessions do not depend on the form, but for where each line is.
func TestSplitIsTheSame(t *testing.T) {
	places := regexp.MustCompile(`(agent-[0-9a-f-]{36}/)?([a-z_]+\.ndjson( \([0-9a-f]+\))?):\d+`)
	for _, name := range []string{"gen/jsonl", "play/jsonl", "e2e-jsonl"} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			at := func(name string) string { return filepath.Join(dir, name) }
			become(t, filepath.Join("..", "..", "testdata", "sdk", filepath.FromSlash(name)), at("split"), convert.Options{To: "cursor-ndjson", WithSecrets: true})
			become(t, at("split"), at("flat"), convert.Options{To: "cursor-ndjson", Flat: true, WithSecrets: true})
			sameFiles(t, filepath.Join("..", "..", "testdata", "sdk", filepath.FromSlash(name)), at("flat"))
			var texts []string
			for _, form := range []string{"split", "flat"} {
				become(t, at(form), at("sessions-"+form), convert.Options{To: "canonical"})
				text := textOf(t, at("sessions-"+form))
				texts = append(texts, places.ReplaceAllString(text, "$2"))
			}
			if texts[0] != texts[1] || texts[0] == "" {
				t.Errorf("%s\nand\n%s", texts[0], texts[1])
			}
		})
	}
}
