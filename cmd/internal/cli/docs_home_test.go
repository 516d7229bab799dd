package cli

import (
	"crypto/md5"
	"encoding/hex"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"rehome/cmd/internal/demochat"
	"rehome/golden"
	"rehome/testdata/chat"
	"rehome/testdata/ide"
	"rehome/testdata/sdk"
)

// furnishHome lays a chat of the Cursor CLI where the client keeps it, and the
// folder that it belongs to.
func furnishHome(t *testing.T, home string) {
	t.Helper()
	app := filepath.Join(home, "app")
	sum := md5.Sum([]byte(app))
	b, err := demochat.Stores.ReadFile("login.db")
	if err != nil {
		t.Fatal(err)
	}
	at := filepath.Join(home, ".cursor", "chats", hex.EncodeToString(sum[:]), "5d0b2b7e-2222-4000-8000-00000000106e")
	meta := fmt.Sprintf(`{"schemaVersion":1,"createdAtMs":1791792000000,"updatedAtMs":1791792030000,"hasConversation":true,"title":"Fix the flaky login test","cwd":%q,"isSubagent":false}`, app)
	for name, content := range map[string][]byte{filepath.Join(at, "store.db"): b, filepath.Join(at, "meta.json"): []byte(meta), filepath.Join(app, "go.mod"): nil} {
		if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(name, content, 0o644); err != nil {
			t.Fatal(err)
		}
	}
}

// furnishAnn creates the home folder of somebody who uses every client: the
// clients' stores, a backup, and a working directory with the files that the
// commands in the docs name.
func furnishAnn(t *testing.T, home string) {
	t.Helper()
	furnishHome(t, home)
	app := filepath.Join(home, "app")
	ideCase(t, filepath.Join(home, ".config", "Cursor"), "subagents")
	furnishSession(t, app)
	for _, dir := range []string{"other", "checkout"} {
		if err := os.Mkdir(filepath.Join(home, dir), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	for from, to := range map[string]string{
		"testdata/sdk/" + sdk.Project:     ".cursor/projects/home-ann-app",
		"testdata/claude/config/projects": ".claude/projects",
	} {
		if err := os.CopyFS(filepath.Join(home, filepath.FromSlash(to)), os.DirFS(golden.Path(t, "../"+from))); err != nil {
			t.Fatal(err)
		}
	}
	damaged := filepath.Join(home, ".claude", "projects", "-home-ann-app", "20000000-0000-4000-8000-000000000002.jsonl")
	if err := os.Remove(damaged); err != nil {
		t.Fatal(err)
	}
	backup := filepath.Join(home, "backup", ".cursor")
	if err := os.CopyFS(backup, os.DirFS(filepath.Join(home, ".cursor"))); err != nil {
		t.Fatal(err)
	}
	catalogs, err := filepath.Glob(filepath.Join(backup, "projects", "home-ann-app", "sdk-agent-store", "*", "index.db"))
	if err != nil || len(catalogs) != 1 {
		t.Fatalf("%q, %v", catalogs, err)
	}
	if err := ide.Exec(catalogs[0], "UPDATE agents SET name = 'Fix the login page'"); err != nil {
		t.Fatal(err)
	}
	store, err := chat.Stores.ReadFile("before.db")
	if err != nil {
		t.Fatal(err)
	}
	state, err := os.ReadFile(filepath.Join(home, ".config", "Cursor", "User", "globalStorage", "state.vscdb"))
	if err != nil {
		t.Fatal(err)
	}
	for name, data := range map[string][]byte{"store.db": store, "state.vscdb": state} {
		if err := os.WriteFile(filepath.Join(app, name), data, 0o644); err != nil {
			t.Fatal(err)
		}
	}
}

// commandCase is what a command line of the docs needs to run.
type commandCase struct {
	before []string // commands to run first
	not    string   // why the line is not run
	exit   int      // the exit status in this home, where the line has no remark
}

// caseOf returns the name of the case of a line: the line itself, or a prefix
// such as "go test *".
func caseOf(cases map[string]commandCase, line string) (string, bool) {
	if _, known := cases[line]; known {
		return line, true
	}
	for name := range cases {
		if start, all := strings.CutSuffix(name, "*"); all && strings.HasPrefix(line, start) {
			return name, true
		}
	}
	return "", false
}

// commandCases lists the lines that cannot be run as they are.
func commandCases() map[string]commandCase {
	const fleet = "it needs the other program; TestPages in cmd/rehome-fleet/deploy runs the first lines of its pages"
	const agents = "rehome convert ~/.cursor/projects/home-ann-app agents --to cursor-ndjson"
	commits := []string{"rehome convert ~/.cursor/chats sessions --to canonical", "git add sessions", "git commit --quiet -m Sessions"}
	return map[string]commandCase{
		"rehome convert chat store.db":                    {before: []string{"rm store.db"}},
		"rehome check":                                    {before: []string{"rm -r ~/.config"}},
		"rehome check agents --require --exclude drafts/": {before: []string{agents}},
		"rehome check agents --report junit=rehome.xml --report sarif=rehome.sarif": {before: []string{agents}},
		"rehome check agents --base origin/main":                                    {not: "it needs a remote; TestAction runs one like it"},
		"rehome check . --baseline .rehome-baseline.json --fail-on error":           {before: []string{"rehome check . --baseline .rehome-baseline.json --write-baseline"}},

		"rehome diff ~/.cursor/projects/home-ann-app agents":           {before: []string{agents}},
		"rehome diff agents ~/backup/agents":                           {before: []string{agents, "rehome convert ~/.cursor/projects/home-ann-app ~/backup/agents --to cursor-ndjson"}},
		"rehome diff 5d0b2b7e session.jsonl":                           {exit: 4},
		"rehome diff store.db archive --exact":                         {before: []string{"rehome convert store.db archive --to archive"}},
		"rehome diff v1 v2 --stat -- sessions":                         {not: "it needs tags; TestDiffCommits runs one like it"},
		"rehome diff HEAD~1 -- sessions":                               {before: commits, exit: 4},
		"rehome diff --format markdown origin/main HEAD -- sessions *": {not: "it needs a remote; TestActionDifference runs one like it"},
		"rehome merge laptop desktop agents":                           {before: []string{"rehome convert ~/.cursor/projects/home-ann-app laptop --to cursor-ndjson", "rehome convert ~/.cursor/projects/home-ann-app desktop --to cursor-ndjson"}},
		"rehome merge ~/.claude /mnt/old/.claude merged":               {not: "it needs the disk of another machine; golden/cmd/merge.txt has one like it"},
		"rehome merge --finish*":                                       {not: "it needs a merge that stopped; TestFinish runs it"},
		"git commit":                                                   {not: "it needs a merge that stopped; TestFinish runs it"},
		"rehome merge ann ben carol team --dry-run":                    {not: "it needs the sessions of three people; TestLaws merges some"},
		"rehome doctor agents --fail-on drift":                         {before: []string{agents}},
		"rehome backup --list":                                         {before: []string{"rehome backup"}},
		"rehome ls ~/.local/share/rehome/backup":                       {before: []string{"rehome backup"}},
		"rehome ls ~/.local/share/rehome/backup/2026-11-22T172803Z":    {not: "the name of a snapshot is its time"},
		"rehome show ~/.local/share/rehome/backup#login":               {before: []string{"rehome backup"}},
		"rehome restore --dry-run":                                     {before: []string{"rehome backup"}},

		"rehome search flaky socket":                                     {exit: 1},
		`rehome search "connection reset" --project . --since "2 weeks"`: {exit: 1},
		"rehome search -e *":                                             {exit: 1},
		"rehome search --request *":                                      {exit: 1},
		"rehome continue":                                                {not: "it needs a terminal; TestPicker runs it"},
		"rehome ls ~/old/.claude":                                        {before: []string{"rehome repair ~/.claude ~/old/.claude"}},
		"rehome continue ~/old/.claude#login":                            {not: "it needs a terminal; TestContinue runs one like it"},
		"rehome continue --last":                                         {not: "it needs a terminal; TestContinue runs one like it"},
		"rehome continue --search \"flaky login\"":                       {not: "it needs a terminal; TestPickerSearch runs one like it"},
		"rehome continue 5d0b2b7e --in cursor-cli":                       {not: "it needs a terminal; TestContinue runs one like it"},

		"head -c 32 /dev/urandom > ~/.rehome-key":                                    {not: "it is random; TestKey in package redact reads keys"},
		"chmod 600 ~/.rehome-key":                                                    {not: "there is no such key"},
		"rehome convert ~/.cursor/chats sessions --to canonical --key ~/.rehome-key": {not: "there is no such key; a transcript runs one like it"},

		"/tmp/rehome/bin/rehome check agents --report junit=rehome.xml": {before: []string{agents}},
		`git commit -am "rehome: release 0.1.0"`:                        {not: "it is a step of a release"},
		"rehome-fleet *":                                                {not: fleet},
		"createdb *":                                                    {not: fleet},
		"mkdir -p *":                                                    {not: fleet},
		"export AWS_*":                                                  {not: fleet},
		"sbatch *":                                                      {not: "it needs a cluster; TestSlurm in cmd/rehome-fleet/deploy runs the script"},
		"kubectl *":                                                     {not: "it needs a cluster; TestKubernetes in cmd/rehome-fleet/deploy runs its command"},
		"git clone *":                                                   {not: "it needs the address of the project"},
		"git tag *":                                                     {not: "it needs the address of the project"},
		"go run *":                                                      {not: "the demo is run by TestDemo"},
		"go test *":                                                     {not: "this is a test"},
		"make *":                                                        {not: "it builds the project or a release"},
		"rehome watch *":                                                {not: "it runs until it is interrupted; TestWatch and the transcripts run it"},
	}
}
