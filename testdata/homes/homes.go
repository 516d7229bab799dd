// Package homes makes the home folder of somebody who talks to agents a lot:
// sessions of every client, as many as asked for, the same ones every time.
package homes

import (
	"bytes"
	"crypto/md5"
	"crypto/sha256"
	"database/sql"
	"encoding/hex"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	_ "rehome/formats/all" // brings the driver of SQLite
)

// Count is how many sessions of each kind a home has.
type Count struct {
	Chats     int // of the CLI, with the file of times and titles beside the database
	Old       int // of the CLI before it wrote that file
	Subagents int // of the CLI, each of a chat
	Agents    int // of the SDK, each with a transcript of the same session, too
	Moved     int // of the SDK, where its newer versions keep them, with transcripts where they always were
	Empty     int // of the CLI, in which nothing was said
}

// Of shares out a number of sessions.
func Of(n int) Count {
	c := Count{Old: n / 4, Subagents: n / 20, Agents: n / 5, Empty: n / 50}
	c.Chats = n - c.Old - c.Subagents - c.Agents - c.Empty
	return c
}

// Began is when the first session of a home was created; each later one is a
// minute younger.
func Began() time.Time { return time.Date(2026, 3, 1, 9, 0, 0, 0, time.UTC) }

// Make fills dir, which is there, like a user's home folder.
func Make(dir string, c Count) error {
	m := &maker{home: dir}
	if err := m.template(); err != nil {
		return err
	}
	for range c.Chats {
		m.chat(true, "")
	}
	for range c.Old {
		m.chat(false, "")
	}
	for i := range c.Subagents {
		m.chat(true, ID(i%max(1, c.Chats)))
	}
	for range c.Empty {
		m.empty()
	}
	m.agents(c.Agents, false)
	m.agents(c.Moved, true)
	return m.err
}

// ID is the id of the nth session that Make makes.
func ID(n int) string {
	h := sha256.Sum256(fmt.Append(nil, "session ", n))
	x := hex.EncodeToString(h[:])
	return x[:8] + "-" + x[8:12] + "-4" + x[13:16] + "-8" + x[17:20] + "-" + x[20:32]
}

// Title is its title.
func Title(n int) string {
	words := strings.Fields("fix add explain rename test speed-up remove document the flaky slow broken old parser cache index table report login in 日本語 ünïcode staging")
	return fmt.Sprintf("%s %s %s %d", words[n%8], words[8+n%5], words[13+n%7], n)
}

// Project is the folder it belongs to.
func (m *maker) project(n int) string {
	return filepath.Join(m.home, "src", fmt.Sprintf("project-%02d", n%40))
}

type maker struct {
	home string
	n    int
	chatDB,
	mark []byte
	err error
}

func (m *maker) write(path string, content []byte) {
	if m.err != nil {
		return
	}
	if m.err = os.MkdirAll(filepath.Dir(path), 0o755); m.err == nil {
		m.err = os.WriteFile(path, content, 0o644)
	}
}

func (m *maker) times() (created, updated int64) {
	at := Began().Add(time.Duration(m.n) * time.Minute)
	return at.UnixMilli(), at.Add(30 * time.Second).UnixMilli()
}

const metaLength = 500 // of a meta row's JSON, filled up with blanks

// template is a chat's database with a meta row that can be written over.
func (m *maker) template() error {
	m.mark = []byte(strings.Repeat("6d61726b", metaLength/4))
	dir, err := os.MkdirTemp("", "homes-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	file := filepath.Join(dir, "store.db")
	err = execute(file, "CREATE TABLE blobs(id TEXT PRIMARY KEY, data BLOB)", "CREATE TABLE meta(key TEXT PRIMARY KEY, value TEXT)",
		"INSERT INTO meta VALUES('0','"+string(m.mark)+"')", "PRAGMA user_version=1")
	if err != nil {
		return err
	}
	m.chatDB, err = os.ReadFile(file)
	if err == nil && !bytes.Contains(m.chatDB, m.mark) {
		err = fmt.Errorf("the meta row of the template is not in one piece")
	}
	return err
}

func execute(file string, statements ...string) error {
	db, err := sql.Open("sqlite", "file:"+filepath.ToSlash(file))
	if err != nil {
		return err
	}
	defer db.Close()
	for _, s := range statements {
		if _, err := db.Exec(s); err != nil {
			return err
		}
	}
	return nil
}

// chat makes a chat of the CLI.
func (m *maker) chat(told bool, parent string) {
	id, created, updated := ID(m.n), int64(0), int64(0)
	created, updated = m.times()
	project := m.project(m.n)
	sum := md5.Sum([]byte(project))
	dir := filepath.Join(m.home, ".cursor", "chats", hex.EncodeToString(sum[:]), id)
	sub := ""
	if parent != "" {
		sub = fmt.Sprintf(`,"subagentInfo":{"parentAgentId":%q,"rootParentAgentId":%q,"toolCallId":"call-%d","typeName":"explore"}`, parent, parent, m.n)
	}
	meta := fmt.Sprintf(`{"agentId":%q,"latestRootBlobId":"%064x","name":%q,"mode":"default","createdAt":%d%s,"blobEncryptionKey":"%064d"}`,
		id, m.n+1, Title(m.n), created, sub, 0)
	meta += strings.Repeat(" ", metaLength-len(meta))
	m.write(filepath.Join(dir, "store.db"), bytes.Replace(m.chatDB, m.mark, []byte(hex.EncodeToString([]byte(meta))), 1))
	if told {
		m.write(filepath.Join(dir, "meta.json"), fmt.Appendf(nil, `{"schemaVersion":1,"createdAtMs":%d,"updatedAtMs":%d,"hasConversation":true,"title":%q,"cwd":%q,"isSubagent":%v}`,
			created, updated, Title(m.n), project, parent != ""))
	}
	m.n++
}

// empty makes a chat in which nothing was said.
func (m *maker) empty() {
	created, updated := m.times()
	project := m.project(m.n)
	sum := md5.Sum([]byte(project))
	dir := filepath.Join(m.home, ".cursor", "chats", hex.EncodeToString(sum[:]), ID(m.n))
	m.write(filepath.Join(dir, "store.db"), m.chatDB)
	m.write(filepath.Join(dir, "meta.json"), fmt.Appendf(nil, `{"schemaVersion":1,"createdAtMs":%d,"updatedAtMs":%d,"hasConversation":false,"cwd":%q}`, created, updated, project))
	m.n++
}

// agents makes agents of the SDK, as many in each project as it takes.
func (m *maker) agents(n int, moved bool) {
	const projects = 20
	for p := range projects {
		of := n/projects + min(1, max(0, n%projects-p))
		if of == 0 || m.err != nil {
			continue
		}
		cwd := m.project(p)
		slug := strings.Trim(strings.Map(dashed, cwd), "-")
		sum := md5.Sum([]byte(cwd))
		root := filepath.Join(m.home, ".cursor", "projects", slug, "sdk-agent-store", hex.EncodeToString(sum[:]))
		if moved {
			root = filepath.Join(m.home, ".cursor", "sdk-agent-store", fmt.Sprintf("store-%02d", p))
		}
		statements := []string{
			"CREATE TABLE agents (agent_id TEXT PRIMARY KEY, workspace_ref TEXT NOT NULL, status TEXT NOT NULL, active_run_id TEXT, latest_checkpoint_ref_json TEXT, name TEXT, metadata_json TEXT NOT NULL DEFAULT '{}', created_at TEXT NOT NULL, updated_at TEXT NOT NULL)",
			"CREATE TABLE runs (run_id TEXT PRIMARY KEY, request_id TEXT, agent_id TEXT NOT NULL REFERENCES agents(agent_id), turn_number INTEGER NOT NULL, status TEXT NOT NULL, model TEXT, model_params_json TEXT, start_checkpoint_ref_json TEXT, latest_checkpoint_ref_json TEXT, error_code TEXT, usage_ref TEXT, usage_json TEXT, result TEXT, created_at TEXT NOT NULL, updated_at TEXT NOT NULL, started_at TEXT, finished_at TEXT, cancelled_at TEXT, expired_at TEXT, UNIQUE(agent_id, turn_number))",
			"CREATE TABLE run_events (run_id TEXT NOT NULL, seq INTEGER NOT NULL, offset TEXT NOT NULL, event_type TEXT NOT NULL, payload_json TEXT, payload_ref TEXT, idempotency_key TEXT, created_at TEXT NOT NULL, PRIMARY KEY (run_id, seq), UNIQUE(run_id, offset))",
			"BEGIN",
		}
		for range of {
			id := "agent-" + ID(m.n)
			created, updated := m.times()
			statements = append(statements, fmt.Sprintf("INSERT INTO agents VALUES('%s','%s','IDLE',NULL,NULL,'%s','{}','%s','%s')", id, cwd, Title(m.n), iso(created), iso(updated)))
			for turn := range 1 + m.n%4 {
				statements = append(statements, fmt.Sprintf("INSERT INTO runs(run_id,agent_id,turn_number,status,created_at,updated_at) VALUES('run-%d-%d','%s',%d,'FINISHED','%s','%s')",
					m.n, turn, id, turn+1, iso(created), iso(updated)))
			}
			line := fmt.Sprintf(`{"role":"user","message":{"content":[{"type":"text","text":"<user_query>\n%s\n</user_query>"}]}}`+"\n", Title(m.n))
			m.write(filepath.Join(m.home, ".cursor", "projects", slug, "agent-transcripts", id, id+".jsonl"), []byte(line))
			m.n++
		}
		m.write(filepath.Join(root, "agents", ".keep"), nil)
		if m.err == nil {
			m.err = execute(filepath.Join(root, "index.db"), append(statements, "COMMIT")...)
		}
	}
}

func iso(ms int64) string { return time.UnixMilli(ms).UTC().Format("2006-01-02T15:04:05.000Z") }

func dashed(r rune) rune {
	if r < 0x80 && (r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9') {
		return r
	}
	return '-'
}
