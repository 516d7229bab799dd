package cursorsdk

import (
	"bytes"
	"context"
	"crypto/sha256"
	"database/sql"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"rehome/formats"
	"rehome/formats/cursorsdk/internal/read"
	"rehome/formats/internal/sdkstore"
	"rehome/formats/loss"
	"rehome/formats/session"
)

// story is what a store tells: a line for each session and message, and notes.
type story struct {
	lines, notes []string
	raw          []byte
	total        session.Account
}

func decoded(t *testing.T, path string) story {
	t.Helper()
	l, err := formats.Locate(path)
	if err != nil {
		t.Fatal(err)
	}
	var out story
	var books session.SharedAccount
	v := formats.View{OnLoss: func(n loss.Loss) {
		out.notes = append(out.notes, n.Kind().String()+" "+n.At.String()+" "+strings.Join(append([]string{string(n.Code)}, n.Args...), " "))
	}}
	for s, err := range read.Decode(t.Context(), l, v, session.Selection{Account: &books}) {
		if err != nil {
			t.Fatal(err)
		}
		out.raw = append(session.AppendHead(out.raw, s), '\n')
		out.lines = append(out.lines, strings.TrimSpace("session "+s.ID+" "+strings.Join(s.Missing, ", ")))
		for m, err := range s.Messages {
			if err != nil {
				t.Fatal(err)
			}
			out.raw = append(session.AppendMessage(out.raw, m), '\n')
			out.lines = append(out.lines, brief(m))
		}
		if s.Files != nil {
			for f, err := range s.Files {
				if err != nil {
					t.Fatal(err)
				}
				out.raw = append(session.AppendFile(out.raw, f), '\n')
			}
		}
	}
	if out.total = books.Total(); !out.total.Balanced() {
		t.Errorf("the books do not balance: %+v", out.total)
	}
	return out
}

// brief is a message in short: who speaks, and what each part is.
func brief(m *session.Message) string {
	b := string(m.Role)
	if m.Turn != nil {
		b += "(" + m.Turn.Status + ")"
	}
	from := func(o session.Source) string { return map[bool]string{true: "<" + o.From}[o.From != ""] }
	for _, p := range m.Parts {
		switch p := p.(type) {
		case *session.Text:
			b += " | " + p.Text + from(p.Source)
		case *session.Injected:
			b += " | {" + p.Tag + "}" + from(p.Source)
		case *session.Thinking:
			b += " | think " + p.Text + from(p.Source)
		case *session.ToolCall:
			b += " | " + p.Name + from(p.Source)
		case *session.ToolResult:
			b += " | -> " + p.Status + from(p.Source)
		case *session.Opaque:
			b += " | " + p.Kind + from(p.Source)
		}
	}
	return b
}

func hashed(text string) string { return fmt.Sprintf("%x", sha256.Sum256([]byte(text))) }

func expect(t *testing.T, got []string, want string) {
	t.Helper()
	if g := strings.Join(got, "\n"); g != strings.TrimSpace(want) {
		t.Errorf("got\n%s\nwant\n%s", g, want)
	}
}

// sampleProject is a copy of the project that the real client left, hot logs and all.
func sampleProject(t *testing.T) string {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "p")
	if err := os.CopyFS(dir, os.DirFS("../../testdata/sdk/e2e-sqlite-hot-wal/projects/tmp-e2eout-ws")); err != nil {
		t.Fatal(err)
	}
	return dir
}

const sampleAgent = "agent-7e855a8f-feb9-4628-8e9d-78780973ae9a"

// gone removes files by the end of their path.
func gone(t *testing.T, dir string, ends ...string) {
	t.Helper()
	n := 0
	err := filepath.WalkDir(dir, func(p string, e os.DirEntry, err error) error {
		if err == nil && !e.IsDir() && slices.ContainsFunc(ends, func(end string) bool { return strings.Contains(filepath.Base(p), end) }) {
			n++
			return os.Remove(p)
		}
		return err
	})
	if err != nil || n == 0 {
		t.Fatal(n, err)
	}
}

// TestSourcesOfTheRealClient deletes each source of a real project in turn, and
// each pair.
func TestSourcesOfTheRealClient(t *testing.T) {
	const graph = `
system | You are a fixture.<prompts
user | {user_info}<prompts
user(finished) | Prompt 0 – wörld 你好
assistant | think thinking… 深い | I will run a command. 🚀 | Shell
tool | -> success
assistant | All done.
user(finished) | Prompt 1 – wörld 你好
assistant | think thinking… 深い | I will run a command. 🚀 | Shell
tool | -> success
assistant | All done.`
	const events = `
user(finished) | Prompt 0 – wörld 你好<events
assistant | think thinking… 深い<events | I will run a command. 🚀<events | shell<events
tool | -> success<events
assistant | All done.<events
user(finished) | Prompt 1 – wörld 你好<events
assistant | think thinking… 深い<events | I will run a command. 🚀<events | shell<events
tool | -> success<events
assistant | All done.<events`
	const transcript = `
user() | Prompt 0 – wörld 你好<transcript
assistant | I will run a command. 🚀

thinking… 深い<transcript | Shell<transcript
assistant | All done.<transcript
user() | Prompt 1 – wörld 你好<transcript
assistant | I will run a command. 🚀

thinking… 深い<transcript | Shell<transcript
assistant | All done.<transcript`
	for _, c := range []struct {
		name string
		gone []string
		want string
	}{
		{"nothing", nil, "session " + sampleAgent + graph},
		{"transcript", []string{".jsonl"}, "session " + sampleAgent + graph},
		{"store.db", []string{"store.db"}, "session " + sampleAgent + " store.db" + events},
		{"index.db", []string{"index.db"}, "session " + sampleAgent + " index.db" + strings.ReplaceAll(graph, "(finished)", "()")},
		{"store.db and transcript", []string{"store.db", ".jsonl"}, "session " + sampleAgent + " store.db" + events},
		{"index.db and transcript", []string{"index.db", ".jsonl"}, "session " + sampleAgent + " index.db" + strings.ReplaceAll(graph, "(finished)", "()")},
		{"index.db and store.db", []string{"index.db", "store.db"}, "session " + sampleAgent + " index.db, store.db" + transcript},
	} {
		t.Run(c.name, func(t *testing.T) {
			dir := sampleProject(t)
			if c.gone != nil {
				gone(t, dir, c.gone...)
			}
			before := tree(t, dir)
			got := decoded(t, dir)
			expect(t, got.lines, c.want)
			if !bytes.Equal(tree(t, dir), before) {
				t.Error("the source was changed")
			}
			if missing := strings.Count(strings.Join(got.notes, "\n"), "L744"); missing != strings.Count(got.lines[0], ".db") {
				t.Errorf("%d sources noted as missing:\n%s", missing, strings.Join(got.notes, "\n"))
			}
			if again := decoded(t, dir); !bytes.Equal(again.raw, got.raw) {
				t.Error("decoded twice, and not the same")
			}
		})
	}
}

// tree is every file and its content.
func tree(t *testing.T, dir string) (out []byte) {
	t.Helper()
	err := filepath.WalkDir(dir, func(p string, e os.DirEntry, err error) error {
		if err != nil || e.IsDir() {
			return err
		}
		b, err := os.ReadFile(p)
		out = append(append(append(out, p...), 0), b...)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// TestLegacy: version 1.0.14 wrote other references, and no request ids.
func TestLegacy(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "root")
	if err := os.CopyFS(dir, os.DirFS("../../testdata/sdk/legacy-1.0.14")); err != nil {
		t.Fatal(err)
	}
	want := decoded(t, dir)
	expect(t, want.lines, `
session agent-00000000-0000-4000-8000-000000000014
user(error) | old prompt ü
assistant | old answer`)
	const id = "agent-00000000-0000-4000-8000-000000000014"
	if err := os.Rename(filepath.Join(dir, "agents", "agent-"+sdkstore.HashOf(id)), filepath.Join(dir, "agents", sdkstore.HashOf(id))); err != nil {
		t.Fatal(err)
	}
	expect(t, decoded(t, dir).lines, strings.Join(want.lines, "\n")) // as older versions named it
	if err := os.Rename(filepath.Join(dir, "agents", sdkstore.HashOf(id)), filepath.Join(dir, "agents", "moved")); err != nil {
		t.Fatal(err)
	}
	expect(t, decoded(t, dir).lines, strings.Join(want.lines, "\n")) // its meta row says whose it is
	gone(t, dir, "index.db")
	expect(t, decoded(t, dir).lines, `
session agent-00000000-0000-4000-8000-000000000014 index.db
user() | old prompt ü
assistant | old answer`)
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

// TestPoison: a row that makes the SDK fail costs nothing but itself.
func TestPoison(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "root")
	makeCatalog(t, dir, "a")
	execute(t, filepath.Join(dir, sdkstore.IndexName),
		"UPDATE agents SET metadata_json='{\"blobEncryptionKey\":\"SECRET', latest_checkpoint_ref_json='{oh' WHERE agent_id='a1'",
		"ALTER TABLE runs ADD COLUMN mood TEXT", "UPDATE runs SET mood='blithe', usage_json='no', model='m', started_at='2026-01-02T03:04:05.678Z', finished_at='late' WHERE run_id='a'",
		"INSERT INTO run_events VALUES('a',1,'1','run_stream_event','{\"broken',NULL,NULL,'2026-01-02T03:04:05.678Z')",
		"INSERT INTO run_events VALUES('a',2,'2','run_stream_event','{\"type\":\"sdk_message\",\n\"message\":{\"type\":\"thinking\",\"text\":\"hm\"}}',NULL,NULL,'never')",
		"INSERT INTO run_events VALUES('a',3,'x','other',x'00ff','ref','key','')",
		"CREATE TABLE guests(a,b)", "INSERT INTO guests VALUES(1,2),(3,4)")
	got := decoded(t, dir)
	expect(t, got.lines, `
session a1 store.db, transcript
user(finished)
assistant | think hm<events | event members<events | event members<events
user(error)
session a2
session a3 index.db: run_events, store.db, transcript
user(finished)`)
	for _, want := range []string{
		"unreadable index.db/agents#1 L733 metadata_json", "unreadable index.db/agents#1 L733 latest_checkpoint_ref_json", "unreadable index.db/runs#1 L733 usage_json",
		"unreadable index.db/run_events#1 L732", "dropped index.db/guests L703",
	} {
		if !slices.Contains(got.notes, want) {
			t.Errorf("no note %q in\n%s", want, strings.Join(got.notes, "\n"))
		}
	}
	for _, want := range []string{`"column.mood","raw":"blithe"`, `"column.finished_at","raw":"late"`, `"payloadRef":"ref"`, `"idempotencyKey":"key"`, `"eventType":"other"`, `{"base64":"AP8="}`, `"offset":"x"`} {
		if !bytes.Contains(got.raw, []byte(want)) {
			t.Errorf("%s is nowhere in\n%s", want, got.raw)
		}
	}
	if bytes.Contains(got.raw, []byte("SECRET")) || bytes.Contains(got.raw, []byte("blobEncryptionKey")) || strings.Contains(strings.Join(got.notes, ""), "SECRET") {
		t.Error("a secret left home")
	}
	if got.total.Read != 14 || got.total.CarriedRaw != 5 || got.total.Unreadable != 1 { // 3 agents, 6 runs, three of which never began, 3 events, 2 guests
		t.Errorf("%+v", got.total)
	}
}

// TestSecretsStayHome goes through every sample with a key in it.
func TestSecretsStayHome(t *testing.T) {
	for _, dir := range []string{"e2e-sqlite-hot-wal/projects/tmp-e2eout-ws", "gen/sqlite"} {
		if got := decoded(t, "../../testdata/sdk/"+dir); bytes.Contains(got.raw, []byte("blobEncryptionKey")) {
			t.Error(dir)
		}
	}
}

// TestCheckpointsOfNobody: a store.db that the catalog does not know, and one
// whose state nobody names.
func TestCheckpointsOfNobody(t *testing.T) {
	dir := sampleProject(t)
	gone(t, dir, "index.db", ".jsonl")
	at := storeIn(t, dir)
	const orphan = `{"role":"user","content":"nobody refers to this"}` // the newest blob, and no state
	execute(t, at, "DELETE FROM meta", "INSERT INTO blobs VALUES('"+hashed(orphan)+"','"+orphan+"'),('short',x'00'),(NULL,x'01'),('"+strings.Repeat("0", 64)+"',NULL)")
	got := decoded(t, dir)
	if len(got.lines) != 11 || !strings.HasPrefix(got.lines[0], "session agent-3c1b48c2") || got.lines[10] != "assistant | All done." {
		t.Errorf("%q", got.lines)
	}
	if got.total.CarriedRaw != 2 || !slices.ContainsFunc(got.notes, func(n string) bool {
		return strings.HasPrefix(n, "inferred") && strings.HasSuffix(n, "L747")
	}) {
		t.Errorf("%+v\n%s", got.total, strings.Join(got.notes, "\n"))
	}
}

// TestLargeStore: blobs that are too many to hold are looked up, and tell the
// same.
func TestLargeStore(t *testing.T) {
	dir := sampleProject(t)
	want := decoded(t, dir)
	at := storeIn(t, dir)
	execute(t, at, "INSERT INTO blobs VALUES('"+strings.Repeat("f", 64)+"',zeroblob(17000000))", "UPDATE blobs SET id=upper(id) WHERE rowid%3=0")
	got := decoded(t, dir)
	if !bytes.Equal(got.raw, want.raw) {
		t.Errorf("got\n%s\nwant\n%s", got.raw, want.raw)
	}
	if got.total.Read != want.total.Read+1 || got.total.Superseded != want.total.Superseded+1 || got.total.Converted != want.total.Converted {
		t.Errorf("%+v, small %+v", got.total, want.total)
	}
}

// TestSpellings: of two names that differ only in case the one in lower case is
// the blob, as it is to the client.
func TestSpellings(t *testing.T) {
	dir := sampleProject(t)
	want := decoded(t, dir)
	at := storeIn(t, dir)
	execute(t, at, "PRAGMA wal_checkpoint(TRUNCATE)", "INSERT INTO blobs(rowid,id,data) SELECT -rowid,upper(id),x'00' FROM blobs")
	got := decoded(t, dir)
	if !bytes.Equal(got.raw, want.raw) {
		t.Errorf("got\n%s\nwant\n%s", got.raw, want.raw)
	}
}

// TestOddMeta: a meta row that is not in hexadecimal says whose the store is,
// too, and what is named like a credential stays out.
func TestOddMeta(t *testing.T) {
	dir := sampleProject(t)
	gone(t, dir, "index.db", ".jsonl")
	at := storeIn(t, dir)
	execute(t, at, "UPDATE meta SET value='{\"agentId\":\"me\",\"apiKey\":\"0123456789abcdef\",\"mood\":1}'")
	got := decoded(t, dir)
	if !strings.HasPrefix(got.lines[0], "session me ") || !bytes.Contains(got.raw, []byte(`"meta.mood"`)) || bytes.Contains(got.raw, []byte("apiKey")) {
		t.Errorf("%q\n%.600s", got.lines, got.raw)
	}
}

// TestNameInMeta: a name in the database of an agent that is not the catalog's is kept.
func TestNameInMeta(t *testing.T) {
	for name, kept := range map[string]bool{"Mine": true, "New Agent": false, "E2E 0": false} {
		dir := sampleProject(t)
		execute(t, storeIn(t, dir), `UPDATE meta SET value='{"agentId":"me","name":"`+name+`"}'`)
		if got := decoded(t, dir); bytes.Contains(got.raw, []byte(`{"name":"meta.name","raw":"`+name+`"}`)) != kept {
			t.Errorf("%s: %.600s", name, got.raw)
		}
	}
}

// storeIn is the one store.db in a folder.
func storeIn(t *testing.T, dir string) (at string) {
	t.Helper()
	err := filepath.WalkDir(dir, func(p string, e os.DirEntry, err error) error {
		if filepath.Base(p) == sdkstore.StoreName {
			at = p
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return at
}

// TestTranscriptsOfOthers: what lies beside the state roots and is of no agent,
// and a subagent of which nothing else is left.
func TestTranscriptsOfOthers(t *testing.T) {
	dir := sampleProject(t)
	for name, text := range map[string]string{
		"x/x.jsonl": `{"role":"user","message":{"content":"hello"}}` + "\n" + `{"type":"turn_ended","status":"success"}` + "\n",
		"old.txt":   "user:\nhi\n", "readme.md": "1\n2\n3",
		sampleAgent + "/subagents/s.jsonl": `{"role":"assistant","message":{"content":"done"}}` + "\n",
	} {
		p := filepath.Join(dir, "agent-transcripts", filepath.FromSlash(name))
		if err := errors.Join(os.MkdirAll(filepath.Dir(p), 0o777), os.WriteFile(p, []byte(text), 0o666)); err != nil {
			t.Fatal(err)
		}
	}
	got := decoded(t, dir)
	expect(t, got.lines[11:], `
session s store.db
assistant | done<transcript
session old index.db, store.db
assistant | transcript text<transcript
session x index.db, store.db
user(finished) | hello<transcript`)
	if !bytes.Contains(got.raw, []byte(`"parent":{"session":"`+sampleAgent+`"}`)) || got.total.CarriedRaw != 5 {
		t.Errorf("%+v", got.total)
	}
}

// TestStops: whoever wants no more, or is told to stop, leaves nothing behind.
func TestStops(t *testing.T) {
	t.Setenv("TMPDIR", t.TempDir())
	l, err := formats.Locate("../../testdata/sdk/e2e-sqlite-hot-wal/projects/tmp-e2eout-ws")
	if err != nil {
		t.Fatal(err)
	}
	for s, err := range read.Decode(t.Context(), l, formats.View{}, session.Selection{}) {
		if err != nil {
			t.Fatal(err)
		}
		for range s.Messages {
			break
		}
		break
	}
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	var last error
	for s, err := range read.Decode(ctx, l, formats.View{}, session.Selection{}) {
		if last = err; err != nil {
			continue
		}
		for _, err := range s.Messages {
			cancel()
			last = err
		}
	}
	if !errors.Is(last, context.Canceled) {
		t.Error(last)
	}
	if left, err := os.ReadDir(os.Getenv("TMPDIR")); err != nil || len(left) > 0 {
		t.Error(left, err)
	}
}
