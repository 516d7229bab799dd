package backup

import (
	"bytes"
	"database/sql"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"rehome/formats"
	"rehome/formats/all"
	"rehome/formats/clients"
)

// secretText is in everything that must not be in a backup.
const secretText = "S3CRET-0f9e8d"

// keptStore is a store of a client, by slash paths below one of its homes: the text of
// files, and the statements that make a database.
type keptStore struct {
	files     map[string]string
	databases map[string][]string
	sessions  int
	secrets   []string // of files
}

// keptStores are stores of every client in the table, after the schemas of the real ones.
func keptStores() map[string]keptStore {
	line := `{"type":"message","text":"hello"}` + "\n"
	tasks := map[string]string{"tasks/1/api_conversation_history.json": "[]", "tasks/1/ui_messages.json": "[]", "tasks/1/task_metadata.json": "{}", "state/taskHistory.json": "[1]"}
	secret := `INSERT INTO %s VALUES ('` + secretText + `')`
	table := func(names ...string) (out []string) {
		for _, n := range names {
			out = append(out, "CREATE TABLE "+n+" (data TEXT NOT NULL)", fmt.Sprintf(secret, n))
		}
		return out
	}
	return map[string]keptStore{
		"pi": {files: map[string]string{"sessions/--home-ann-app--/2026-11-24T05-47-11-460Z_01a20c18.jsonl": line, "auth.json": secretText, "models.json": secretText}, sessions: 1,
			secrets: []string{"auth.json", "models.json"}},
		"copilot": {files: map[string]string{
			"session-state/a/events.jsonl": line, "session-state/a/workspace.yaml": "id: a\n", "session-state/a/checkpoints/001-x.md": "# x", "session-state/a/inuse.7.lock": "",
			"history-session-state/session_b_1.json": "{}", "config.json": secretText, "logs/x.log": secretText,
		}, databases: map[string][]string{
			"session-store.db":           {"CREATE TABLE sessions (id TEXT PRIMARY KEY, summary TEXT)", "INSERT INTO sessions VALUES ('a', 'x')", "CREATE VIRTUAL TABLE found USING fts5(body)", "INSERT INTO found VALUES ('some words')"},
			"session-state/a/session.db": {"CREATE TABLE todos (id TEXT, title TEXT)", "INSERT INTO todos VALUES ('1', 'mend')"},
		}, sessions: 2, secrets: []string{"config.json"}},
		"opencode": {files: map[string]string{
			"storage/session/global/ses_1.json": "{}", "storage/message/ses_1/msg_1.json": "{}", "storage/part/msg_1/prt_1.json": "{}", "storage/project/global.json": "{}",
			"storage/share/ses_1.json": secretText, "auth.json": secretText,
		}, databases: map[string][]string{"opencode.db": slices.Concat([]string{
			"CREATE TABLE session (id TEXT PRIMARY KEY, title TEXT NOT NULL, cost REAL NOT NULL DEFAULT 0, time_created INTEGER NOT NULL)",
			"INSERT INTO session VALUES ('ses_1', 'one', 0.25, 1), ('ses_2', 'two', 0, 2)",
			"CREATE TABLE part (id TEXT PRIMARY KEY, session_id TEXT REFERENCES session(id), data TEXT NOT NULL)", "CREATE INDEX part_session ON part (session_id)",
			`INSERT INTO part VALUES ('prt_1', 'ses_1', '{"type":"text","text":"hi"}')`,
			"CREATE TABLE session_share (session_id TEXT PRIMARY KEY, id TEXT NOT NULL, secret TEXT NOT NULL, url TEXT NOT NULL)",
			"INSERT INTO session_share VALUES ('ses_1', 'sh', '" + secretText + "', 'u'), ('ses_2', 'si', '" + secretText + "', 'v')",
		}, table("account", "control_account", "credential"))}, sessions: 3, secrets: []string{"auth.json", "storage/share/ses_1.json"}},
		"gemini-cli": {files: map[string]string{
			"tmp/app/chats/session-2026-11-24T06-20-33333333.jsonl": line, "tmp/app/chats/3/agent.jsonl": line, "tmp/app/.project_root": "/home/ann/app", "projects.json": "{}",
			"oauth_creds.json": secretText, "settings.json": secretText,
		}, sessions: 1, secrets: []string{"oauth_creds.json", "settings.json"}},
		"qwen-code": {files: map[string]string{"projects/app/chats/1.jsonl": line, "oauth_creds.json": secretText}, sessions: 1, secrets: []string{"oauth_creds.json"}},
		"warp": {databases: map[string][]string{"warp.sqlite": slices.Concat([]string{
			"CREATE TABLE agent_conversations (id INTEGER PRIMARY KEY NOT NULL, conversation_id TEXT NOT NULL UNIQUE, conversation_data TEXT NOT NULL, last_modified_at TIMESTAMP NOT NULL DEFAULT CURRENT_TIMESTAMP)",
			"CREATE TABLE agent_tasks (id INTEGER PRIMARY KEY NOT NULL, conversation_id TEXT NOT NULL, task_id TEXT NOT NULL UNIQUE, task BLOB NOT NULL)",
			"CREATE TRIGGER touched AFTER UPDATE ON agent_conversations BEGIN UPDATE agent_conversations SET last_modified_at = CURRENT_TIMESTAMP WHERE id = NEW.id; END",
			"INSERT INTO agent_conversations VALUES (1, 'c', '{}', '2026-11-24 00:00:00')", "INSERT INTO agent_tasks VALUES (1, 'c', 't', x'0a0100ff')",
		}, table("mcp_environment_variables", "users", "user_profiles", "generic_string_objects"))}, sessions: 1},
		"vscode-copilot-chat": {files: map[string]string{
			"workspaceStorage/1/chatSessions/a.json": "{}", "workspaceStorage/1/chatSessions/b.jsonl": line, "workspaceStorage/1/workspace.json": "{}", "settings.json": secretText, "globalStorage/state.vscdb": secretText,
		}, sessions: 2},
		"cline": {files: tasks, sessions: 1}, "roo-code": {files: tasks, sessions: 1}, "kilo-code": {files: tasks, sessions: 1},
		"zed": {databases: map[string][]string{"threads/threads.db": {"CREATE TABLE threads (id TEXT PRIMARY KEY, summary TEXT NOT NULL, data_type TEXT NOT NULL, data BLOB NOT NULL)", "INSERT INTO threads VALUES ('t', 's', 'zstd', x'28b52ffd')"}}, sessions: 1},
		"goose": {files: map[string]string{"sessions/20260101_1.jsonl": line}, databases: map[string][]string{"sessions/sessions.db": {
			"CREATE TABLE sessions (id TEXT PRIMARY KEY)", "INSERT INTO sessions VALUES ('1'), ('2')", "CREATE TABLE messages (id INTEGER PRIMARY KEY AUTOINCREMENT, body TEXT)", "INSERT INTO messages(body) VALUES ('x')",
		}}, sessions: 3},
		"crush":    {databases: map[string][]string{".crush/crush.db": {"CREATE TABLE sessions (id TEXT PRIMARY KEY)", "INSERT INTO sessions VALUES ('1')"}}, sessions: 1},
		"kiro":     {files: map[string]string{"sessions/cli/a.json": "{}", "sessions/cli/a.jsonl": line}, sessions: 1},
		"droid":    {files: map[string]string{"sessions/-home-ann-app/a.jsonl": line, "sessions/-home-ann-app/a.settings.json": "{}", "auth.json": secretText}, sessions: 1, secrets: []string{"auth.json"}},
		"continue": {files: map[string]string{"sessions/1f2e-4.json": "{}", "sessions/sessions.json": "[]", ".env": secretText}, sessions: 1, secrets: []string{".env"}},
		"amp":      {files: map[string]string{"threads/T-1.json": "{}", "secrets.json": secretText}, sessions: 1, secrets: []string{"secrets.json"}},
		"aider":    {files: map[string]string{".aider.chat.history.md": "# aider chat started", ".aider.input.history": "x", ".env": secretText}, sessions: 1},
		"windsurf": {files: map[string]string{"cascade/1.pb": "\x01\x00\xff\r\n"}, sessions: 1},
	}
}

func keptWorld(t *testing.T) *world {
	t.Helper()
	top, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	w := &world{t: t, home: filepath.Join(top, "home"), dir: filepath.Join(top, "backup"), now: start(), reg: unread()}
	w.o = Options{Machine: formats.Machine{OS: runtime.GOOS, Home: w.home}, Program: "test", Now: func() time.Time { return w.now }, OnNotice: func(s string) { w.notices = append(w.notices, s) }}
	return w
}

// unread are the formats as before those of clients of the table: no format reads these.
func unread() *formats.Registry {
	kept := func(f *formats.Format) bool {
		return slices.ContainsFunc(f.Clients, func(c string) bool { return clients.Lookup(c) != nil })
	}
	return formats.NewRegistry(slices.DeleteFunc(slices.Clone(all.Registry().All()), kept)...)
}

// place puts a store into the home of a client, or into a project folder of a session.
func (w *world) place(name string, s keptStore) (root string) {
	w.t.Helper()
	project := filepath.Join(w.home, "app")
	root = clients.Lookup(name).Roots(w.o.Machine, []string{project})[0]
	rel, err := filepath.Rel(w.home, root)
	if err != nil {
		w.t.Fatal(err)
	}
	for name, text := range s.files {
		w.write(filepath.Join(rel, name), text)
	}
	for name, statements := range s.databases {
		w.write(filepath.Join(rel, name), "")
		execute(w.t, filepath.Join(root, filepath.FromSlash(name)), statements...)
	}
	return root
}

func execute(t *testing.T, path string, statements ...string) {
	t.Helper()
	db, err := sql.Open("sqlite", "file:"+filepath.ToSlash(path))
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	for _, s := range statements {
		if _, err := db.Exec(s); err != nil {
			t.Fatalf("%s: %v", s, err)
		}
	}
}

// dump returns the schema and all rows of a database, as SQLite itself reads them.
func dump(t *testing.T, path string) string {
	t.Helper()
	db, err := sql.Open("sqlite", "file:"+filepath.ToSlash(path)+"?mode=ro")
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	var out strings.Builder
	query := func(q string) (first []string) {
		rows, err := db.Query(q)
		if err != nil {
			t.Fatalf("%s: %s: %v", path, q, err)
		}
		defer rows.Close()
		columns, err := rows.Columns()
		if err != nil {
			t.Fatal(err)
		}
		for rows.Next() {
			cells := make([]any, len(columns))
			to := make([]any, len(columns))
			for i := range to {
				to[i] = &cells[i]
			}
			if err := rows.Scan(to...); err != nil {
				t.Fatal(err)
			}
			fmt.Fprintf(&out, "%T %#v\n", cells, cells)
			first = append(first, fmt.Sprint(cells[0]))
		}
		return first
	}
	query("SELECT type, name, tbl_name, sql FROM sqlite_schema ORDER BY type, name")
	for _, name := range query("SELECT name FROM sqlite_schema WHERE type = 'table' ORDER BY name") {
		fmt.Fprintln(&out, name)
		query(`SELECT * FROM "` + name + `"`)
	}
	return out.String()
}

// holdsText reports which files below a folder hold a text.
func holdsText(t *testing.T, dir, text string) (out []string) {
	t.Helper()
	for _, f := range files(t, dir) {
		if b, err := os.ReadFile(filepath.Join(dir, f)); err != nil || bytes.Contains(b, []byte(text)) {
			out = append(out, f)
		}
	}
	return out
}

// TestEveryClient: the stores of every client that no format reads survive: files byte for byte,
// databases in their schema and every cell that is no secret. Secrets are nowhere in the
// backup, and listed.
func TestEveryClient(t *testing.T) {
	stores := keptStores()
	for _, c := range clients.Kept(unread()) {
		name := c.Name
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s, ok := stores[name]
			if !ok {
				t.Fatal("no store to test it with")
			}
			w := keptWorld(t)
			root := w.place(name, s)
			c := clients.Lookup(name)
			if root == filepath.Join(w.home, "app") { // known by a session there
				w.write(".claude/projects/-app/a0000000-0000-4000-8000-000000000001.jsonl", `{"type":"user","uuid":"u1","parentUuid":null,"sessionId":"a0000000-0000-4000-8000-000000000001","cwd":"`+
					filepath.ToSlash(root)+`","timestamp":"2026-11-24T00:00:00.000Z","message":{"role":"user","content":"hi"}}`+"\n")
			}
			before := map[string]string{}
			for f := range s.files {
				before[f] = read(t, root, f)
			}
			for f := range s.databases {
				before[f] = dump(t, filepath.Join(root, filepath.FromSlash(f)))
			}
			rep := w.run()
			var leftOut []string
			sessions := 0
			for _, one := range rep.Stores {
				if one.Client == name {
					leftOut, sessions = append(leftOut, one.LeftOut...), sessions+one.Sessions
				}
				if one.Status != Added {
					t.Errorf("%+v", one)
				}
			}
			want := slices.Clone(s.secrets)
			for range s.databases {
				want = append(want, c.Secrets()...)
			}
			if slices.Sort(want); sessions != s.sessions || !slices.Equal(slices.Sorted(slices.Values(leftOut)), want) {
				t.Errorf("%d sessions, left out %q, want %d and %q", sessions, leftOut, s.sessions, want)
			}
			if found := holdsText(t, w.dir, secretText); len(found) > 0 {
				t.Errorf("secrets in %q", found)
			}
			if again := w.run(); again.Snapshot != "" {
				t.Errorf("nothing changed, but: %+v", again.Stores)
			}
			if err := os.RemoveAll(w.home); err != nil {
				t.Fatal(err)
			}
			if err := os.MkdirAll(filepath.Join(w.home, "app"), 0o755); err != nil {
				t.Fatal(err)
			}
			got := w.restore(RestoreOptions{Client: name})
			if got.Count(Recovered) != len(got.Stores) || len(got.Stores) == 0 {
				why, _ := json.Marshal(got.Stores)
				t.Fatalf("%s", why)
			}
			leftOut = nil
			for _, one := range got.Stores {
				leftOut = append(leftOut, one.LeftOut...)
			}
			if !slices.Equal(slices.Sorted(slices.Values(leftOut)), want) {
				t.Errorf("restored: left out %q, want %q", leftOut, want)
			}
			for f, text := range before {
				path := filepath.Join(root, filepath.FromSlash(f))
				if _, ok := s.databases[f]; ok {
					if now := dump(t, path); now != withoutSecrets(text) {
						t.Errorf("%s: %s\nwas %s", f, now, withoutSecrets(text))
					}
				} else if exists(path) {
					if read(t, path) != text || strings.Contains(text, secretText) {
						t.Errorf("%s: %q", f, text)
					}
				} else if !strings.Contains(text, secretText) && !strings.HasSuffix(f, ".lock") {
					t.Errorf("%s is lost", f)
				}
			}
			if got := w.restore(RestoreOptions{Client: name}); got.Count(Unchanged) != len(got.Stores) {
				t.Errorf("the same again: %+v", got.Stores)
			}
		})
	}
}

// withoutSecrets returns a dump without the rows that are a secret, and without the
// cells that hold one.
func withoutSecrets(dump string) string {
	var out strings.Builder
	for line := range strings.Lines(dump) {
		if !strings.HasPrefix(line, `[]interface {} []interface {}{"`+secretText) {
			out.WriteString(strings.ReplaceAll(line, secretText, ""))
		}
	}
	return out.String()
}

// TestKeptInUse: a database that a client writes to meanwhile is saved as of one commit,
// with what is only in its log; what the client wrote later is never overwritten.
func TestKeptInUse(t *testing.T) {
	w := keptWorld(t)
	root := w.place("opencode", keptStores()["opencode"])
	path := filepath.Join(root, "opencode.db")
	db, err := sql.Open("sqlite", "file:"+filepath.ToSlash(path))
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	db.SetMaxOpenConns(1)
	exec := func(s string) {
		if _, err := db.Exec(s); err != nil {
			t.Error(s, err)
		}
	}
	exec("PRAGMA journal_mode = WAL")
	exec("PRAGMA wal_autocheckpoint = 0")
	exec("CREATE TABLE other (n INTEGER)")
	exec("CREATE TABLE same (n INTEGER)")
	stop, stopped := make(chan bool), make(chan bool)
	go func() {
		defer close(stopped)
		for i := 0; ; i++ {
			select {
			case <-stop:
				return
			default:
				exec(fmt.Sprintf("BEGIN; INSERT INTO other VALUES (%d); INSERT INTO same VALUES (%d); COMMIT", i, i))
				time.Sleep(time.Millisecond)
			}
		}
	}()
	rep := w.run()
	close(stop)
	<-stopped
	if n := rep.Count(Added); n != len(rep.Stores) {
		t.Fatalf("%+v", rep.Stores)
	}
	to := filepath.Join(filepath.Dir(w.home), "restored")
	if got := w.restore(RestoreOptions{To: to}); got.Count(Recovered) != len(got.Stores) {
		t.Fatalf("%+v", got.Stores)
	}
	text := dump(t, filepath.Join(to, ".local/share/opencode/opencode.db"))
	_, same, _ := strings.Cut(text, "\nsame\n")
	_, other, _ := strings.Cut(text, "\nother\n")
	same, _, _ = strings.Cut(same, "\nsession\n")
	other, _, _ = strings.Cut(other, "\npart\n")
	if same != other || !strings.Contains(same, "{0}") {
		t.Errorf("not one commit:\n%s\n%s", same, other)
	}
	exec("INSERT INTO session VALUES ('ses_3', 'three', 0, 3)")
	if got := only(t, w.restore(RestoreOptions{Client: "opencode", Replace: true}), Newer); got.Path != "~/.local/share/opencode/opencode.db" {
		t.Errorf("%+v", got)
	}
}

// TestKeptHostile: one bad store costs none of the others, absurd names survive, and
// what is no file is named.
func TestKeptHostile(t *testing.T) {
	w := keptWorld(t)
	root := w.place("copilot", keptStores()["copilot"])
	w.place("goose", keptStores()["goose"])
	absurd := []string{"session-state/" + strings.Repeat("é", 60) + "/events.jsonl", "session-state/-rf $(x)/events.jsonl", "session-state/con/..x"}
	if runtime.GOOS != "windows" {
		absurd = append(absurd, "session-state/a\nb/\\.jsonl", "session-state/\x1b[2J/events.jsonl")
	}
	for _, name := range absurd {
		w.write(".copilot/"+name, "{}")
	}
	w.write(".copilot/session-state/bad/session.db", "SQLite format 3\x00 and nothing else")
	w.write("elsewhere/secret.jsonl", secretText)
	if err := os.Symlink(filepath.Join(w.home, "elsewhere"), filepath.Join(root, "session-state", "linked")); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(filepath.Join(w.home, "elsewhere", "secret.jsonl"), filepath.Join(root, "session-state", "a", "link.jsonl")); err != nil {
		t.Fatal(err)
	}
	rep := w.run()
	if n := rep.Count(Failed); n != 1 || rep.Count(Added) != len(rep.Stores)-1 {
		t.Errorf("%+v", rep.Stores)
	}
	var left []string
	for _, s := range rep.Stores {
		left = append(left, s.LeftOut...)
	}
	for _, want := range []string{"config.json", "session-state/linked (a link)", "session-state/a/link.jsonl (a link)"} {
		if !slices.Contains(left, want) {
			t.Errorf("%q is not in %q", want, left)
		}
	}
	if found := holdsText(t, w.dir, secretText); len(found) > 0 {
		t.Errorf("secrets in %q", found)
	}
	if err := os.RemoveAll(root); err != nil {
		t.Fatal(err)
	}
	w.restore(RestoreOptions{})
	for _, name := range absurd {
		if !exists(filepath.Join(root, filepath.FromSlash(name))) {
			t.Errorf("%q is lost", name)
		}
	}
}

// TestKeptPlaces: a snapshot of somebody else places files of a kept client only where
// the client has sessions, and into project folders that exist.
func TestKeptPlaces(t *testing.T) {
	for path, ok := range map[string]bool{
		"~/.local/share/opencode/opencode.db": true, "~/.local/share/opencode/x/opencode.db": false, "~/.local/share/other/opencode.db": false,
		"~/app/.crush/crush.db": true, "~/absent/.crush/crush.db": false, "~/app/crush.db": false,
	} {
		client := "opencode"
		if strings.HasSuffix(path, "crush.db") {
			client = "crush"
		}
		w := keptWorld(t)
		w.write("app/x", "")
		r := &restore{snap: &Snapshot{reg: unread()}, home: w.home, machine: w.o.Machine}
		c := &choice{store: &Store{Client: client, Format: clients.DatabaseFormat, Kind: archiveKind, Path: path}}
		c.dest = r.dest(c.store)
		f, err := r.format(c.store, c.dest)
		if err != nil {
			t.Fatal(err)
		}
		_, err = r.place(f, c)
		advised := strings.Contains(formats.Hint(err), "folder of the project")
		if (err == nil) != ok || advised != strings.HasPrefix(path, "~/absent/") {
			t.Errorf("%s: %v", path, err)
		}
	}
}

// TestKeptLog: a log that another database left behind is never joined with a restored
// one, to which SQLite would apply it.
func TestKeptLog(t *testing.T) {
	w := keptWorld(t)
	path := filepath.Join(w.place("goose", keptStores()["goose"]), "sessions", "sessions.db")
	w.run()
	good := dump(t, path)
	db, err := sql.Open("sqlite", "file:"+filepath.ToSlash(path))
	if err != nil {
		t.Fatal(err)
	}
	db.SetMaxOpenConns(1)
	for _, s := range []string{"PRAGMA journal_mode = WAL", "PRAGMA wal_autocheckpoint = 0", "DELETE FROM sessions"} {
		if _, err := db.Exec(s); err != nil {
			t.Fatal(err)
		}
	}
	log := read(t, path+"-wal")
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
	if err := os.Remove(path); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path+"-wal", []byte(log), 0o600); err != nil {
		t.Fatal(err)
	}
	if s := only(t, w.restore(RestoreOptions{}), Failed); exists(path) || !strings.HasSuffix(s.Error.Message, "SQLite would apply this log to the restored database") {
		t.Errorf("%+v", s)
	}
	if err := os.Remove(path + "-wal"); err != nil {
		t.Fatal(err)
	}
	if got := w.restore(RestoreOptions{}); got.Count(Failed) > 0 || dump(t, path) != good {
		t.Errorf("%+v", got.Stores)
	}
}

// TestKeptInGit: in a git work tree, secrets are left out as everywhere.
func TestKeptInGit(t *testing.T) {
	w := keptWorld(t)
	root := w.place("opencode", keptStores()["opencode"])
	if err := os.MkdirAll(filepath.Join(w.dir, ".git"), 0o755); err != nil {
		t.Fatal(err)
	}
	w.o.WithoutSecrets = true
	if rep := w.run(); rep.Count(Added) != len(rep.Stores) || !rep.Git {
		t.Errorf("%+v", rep)
	}
	execute(t, filepath.Join(root, "opencode.db"), "INSERT INTO session VALUES ('ses_3', 'three', 0, 3)", "UPDATE account SET data = '"+secretText+"2'")
	if rep := w.run(); rep.Count(Updated) != 1 {
		t.Errorf("%+v", rep)
	}
	if found := holdsText(t, w.dir, secretText); len(found) > 0 {
		t.Errorf("secrets in %q", found)
	}
	want := withoutSecrets(dump(t, filepath.Join(root, "opencode.db")))
	w.remove(".local")
	if got := w.restore(RestoreOptions{}); got.Count(Recovered) != len(got.Stores) || dump(t, filepath.Join(root, "opencode.db")) != want {
		t.Errorf("%+v", got.Stores)
	}
}
