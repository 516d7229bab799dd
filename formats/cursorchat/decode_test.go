package cursorchat

import (
	"bytes"
	"context"
	"crypto/sha256"
	"database/sql"
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"rehome/formats"
	"rehome/formats/internal/filename"
	"rehome/formats/loss"
	"rehome/formats/session"
	"rehome/formats/store"
)

// told is what a store decodes to: the canonical lines, and what was noted.
type told struct {
	lines []string
	notes []string
	said  []string
	tally session.Account
}

func (d *told) text() string { return strings.Join(d.lines, "\n") }

func (d *told) noted(kind, text string) bool {
	for _, n := range d.notes {
		if strings.HasPrefix(n, kind+" ") && strings.Contains(n, text) {
			return true
		}
	}
	return false
}

func decoded(t *testing.T, path string, sel session.Selection) *told {
	t.Helper()
	l, err := formats.Locate(path)
	if err != nil {
		t.Fatal(err)
	}
	d, books := &told{}, &session.SharedAccount{}
	sel.Account = books
	v := formats.View{Verbose: true, OnLoss: func(n loss.Loss) {
		d.notes = append(d.notes, fmt.Sprint(n.Kind(), " ", n.At.String(), ": ", strings.Join(append([]string{string(n.Code)}, n.Args...), " ")))
	},
		OnNotice: func(s string) { d.said = append(d.said, s) }}
	for s, err := range Format().Sessions.Decode(context.Background(), l, v, sel) {
		if err != nil {
			t.Fatal(err)
		}
		d.lines = append(d.lines, string(session.AppendHead(nil, s)))
		if s.Messages != nil {
			for m, err := range s.Messages {
				if err != nil {
					t.Fatal(err)
				}
				d.lines = append(d.lines, string(session.AppendMessage(nil, m)))
			}
		}
		if s.Files != nil {
			for f, err := range s.Files {
				if err != nil {
					t.Fatal(err)
				}
				d.lines = append(d.lines, string(session.AppendFile(nil, f)))
			}
		}
	}
	d.tally = books.Total()
	if !d.tally.Balanced() {
		t.Errorf("the books do not balance: %+v", d.tally)
	}
	if n := records(t, l); d.tally.Read != n {
		t.Errorf("%d records read; the store holds %d", d.tally.Read, n)
	}
	return d
}

// records counts what a store holds the other way: through its raw reader.
func records(t *testing.T, l *formats.Location) (n int64) {
	t.Helper()
	r, err := Format().Records.Open(t.Context(), l, formats.View{})
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	for _, err := range store.Records(t.Context(), r) {
		if err != nil {
			t.Fatal(err)
		}
		n++
	}
	return n
}

const chatID = "5d0b2b7e-1111-4000-8000-000000000000"

// laid makes a chat's folder below a folder of that name.
func laid(t *testing.T, parent string, files map[string]string) string {
	t.Helper()
	dir := filepath.Join(t.TempDir(), parent, chatID)
	if err := os.MkdirAll(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	for name, text := range files {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

func sample(t *testing.T) string {
	t.Helper()
	b, err := os.ReadFile("../../testdata/chat/before.db")
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

// made is a chat's database with these blobs and this meta row.
func made(t *testing.T, dir, meta string, blobs ...[]byte) (ids []string) {
	t.Helper()
	db, err := sql.Open("sqlite", filepath.Join(dir, storeName))
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	run := func(q string, args ...any) {
		if _, err := db.Exec(q, args...); err != nil {
			t.Fatalf("%s: %v", q, err)
		}
	}
	run("CREATE TABLE blobs (id TEXT PRIMARY KEY, data BLOB)")
	run("CREATE TABLE meta (key TEXT PRIMARY KEY, value TEXT)")
	for _, b := range blobs {
		sum := sha256.Sum256(b)
		ids = append(ids, hex.EncodeToString(sum[:]))
		run("INSERT INTO blobs VALUES(?,?)", ids[len(ids)-1], b)
	}
	if meta != "" {
		if len(ids) > 0 {
			meta = strings.ReplaceAll(meta, "ROOT", ids[len(ids)-1])
		}
		run("INSERT INTO meta VALUES('0',?)", meta)
	}
	return ids
}

// linked is a root of prompt messages.
func linked(blobs ...[]byte) (out []byte) {
	for _, b := range blobs {
		sum := sha256.Sum256(b)
		out = append(append(out, 0x0a, 0x20), sum[:]...)
	}
	return out
}

func TestSample(t *testing.T) {
	dir := laid(t, "chats", map[string]string{storeName: sample(t), besideName: `{"schemaVersion":1,"createdAtMs":1790000000000,"hasConversation":true,"title":"Golden demo","updatedAtMs":1790000003200,"cwd":"/proj/demo"}`,
		"prompt_history.json": "[\"one\",\n\"two\"]"})
	d := decoded(t, dir, session.Selection{})
	for _, text := range []string{
		`"id":"` + chatID + `","agent":"cursor-cli","title":"Golden demo","workspace":"/proj/demo","created":"2026-09-21T14:13:20.000Z","updated":"2026-09-21T14:13:23.200Z","mode":"agent","model":"composer-2.5"`,
		`"role":"system","parts":[{"type":"text","text":"You are an AI coding assistant."`,
		`"parts":[{"type":"boundary","archived":2,`, `"type":"summary","text":"Earlier: Q and A."`,
		`"turn":{"number":2,"requestId":"5d0b2b7e-0000-4000-8000-0000000000aa"`, `"parts":[{"type":"text","text":"change hello to hello world"}]`,
		`{"type":"tool_call","id":"toolu_read1","name":"Read","kind":"read","input":{"path":"/proj/demo/a.txt"},"args":{"path":"/proj/demo/a.txt"},"start":"2026-09-21T14:13:22.000Z"`,
		`{"type":"tool_result","call":"toolu_read1","status":"success","content":[{"type":"text","text":"     1|hello"}],"value":{"success":{"content":"hello\n"`,
		`{"type":"tool_result","call":"call_1\nfc_1","status":"failure","error":true`, `"kind":"shell"},"parts":[{"type":"text","text":"ls"}]`,
		`"type":"media","mime":"image/png","base64":"iVBORw0KGgo="`, `"type":"file","path":"/proj/demo/a.txt","before":{"text":"hello\n"},"after":{"text":"hello world\n"}`,
		`{"name":"prompt_history.json","raw":["one","two"]}`,
	} {
		if !strings.Contains(d.text(), text) {
			t.Errorf("not there: %s", text)
		}
	}
	if len(d.notes) != 0 || d.tally.Superseded != 0 {
		t.Errorf("%v %+v", d.notes, d.tally)
	}
	if strings.Contains(d.text(), "blobEncryptionKey") || strings.Contains(d.text(), strings.Repeat("0", 64)) {
		t.Error("the key got out")
	}
	if t.Failed() {
		t.Log(d.text())
	}
	alone := decoded(t, filepath.Join(dir, storeName), session.Selection{})
	want := strings.Replace(d.lines[0], `{"name":"prompt_history.json","raw":["one","two"]},`, "", 1)
	if len(alone.lines) != len(d.lines) || alone.lines[0] != want {
		t.Errorf("the file alone: %s", alone.lines[0])
	}
}

// TestLater: the same chat one turn later keeps what it told, and counts the
// old root as superseded.
func TestLater(t *testing.T) {
	b, err := os.ReadFile("../../testdata/chat/after.db")
	if err != nil {
		t.Fatal(err)
	}
	before := decoded(t, laid(t, "chats", map[string]string{storeName: sample(t)}), session.Selection{})
	after := decoded(t, laid(t, "chats", map[string]string{storeName: string(b)}), session.Selection{})
	if after.tally.Superseded != 1 || after.tally.Unreadable != 0 || len(after.lines) <= len(before.lines) {
		t.Errorf("%+v", after.tally)
	}
	for _, line := range before.lines[1:] {
		if !strings.Contains(after.text(), line[:40]) {
			t.Errorf("not there one turn later: %s", line)
		}
	}
	history := decoded(t, laid(t, "chats", map[string]string{storeName: string(b)}), session.Selection{History: true})
	if strings.Contains(history.text(), "branch-") {
		t.Error("an older state of what is there is no branch")
	}
}

// TestHot reads what only the log holds, and leaves no trace.
func TestHot(t *testing.T) {
	root := "../../testdata/sdk/e2e-sqlite-hot-wal"
	var found string
	filepath.WalkDir(root, func(path string, e os.DirEntry, err error) error {
		if err == nil && e.Name() == storeName {
			found = filepath.Dir(path)
		}
		return err
	})
	files := map[string]string{}
	for _, name := range []string{storeName, storeName + "-wal"} {
		b, err := os.ReadFile(filepath.Join(found, name))
		if err != nil {
			t.Fatal(err)
		}
		files[name] = string(b)
	}
	dir := laid(t, "chats", files)
	d := decoded(t, dir, session.Selection{})
	if !strings.Contains(d.text(), "Prompt 0 – wörld 你好") || !strings.Contains(d.text(), "All done.") || len(d.said) == 0 {
		t.Errorf("%v\n%s", d.said, d.text())
	}
	if !d.noted("inferred", "L820") {
		t.Errorf("this store's meta row names no root, and nobody says so: %v", d.notes)
	}
	list, err := os.ReadDir(dir)
	if err != nil || len(list) != 2 {
		t.Errorf("files appeared: %v %v", list, err)
	}
	for name, text := range files {
		if b, _ := os.ReadFile(filepath.Join(dir, name)); !bytes.Equal(b, []byte(text)) {
			t.Errorf("%s has changed", name)
		}
	}
}

func TestMeta(t *testing.T) {
	user := []byte(`{"role":"user","content":"hi"}`)
	for name, c := range map[string]struct {
		meta, want string
		hex        bool
	}{
		"hex":              {`{"agentId":"x","latestRootBlobId":"ROOT","name":"N","createdAt":1790000000000}`, `"title":"N","created":"2026-09-21T14:13:20.000Z"`, true},
		"plain":            {`{"agentId":"x","latestRootBlobId":"ROOT","name":"N","createdAt":"1790000000000"}`, `"title":"N","created":"2026-09-21T14:13:20.000Z"`, false},
		"a subagent":       {`{"latestRootBlobId":"ROOT","subagentInfo":{"parentAgentId":"p","rootParentAgentId":"q","toolCallId":"c","typeName":"explore"}}`, `"parent":{"session":"p","call":"c","kind":"explore"}`, true},
		"what has no room": {`{"latestRootBlobId":"ROOT","approvalMode":"allowlist","isRunEverything":true,"newMember":{"a":1}}`, `{"name":"meta.newMember","raw":{"a":1}}`, true},
		"a secret":         {`{"latestRootBlobId":"ROOT","blobEncryptionKey":"c0ffee","x":{"BlobEncryptionKey":"c0ffee","y":1}}`, `{"name":"meta.x","raw":{"y":1}}`, true},
	} {
		dir := laid(t, "chats", nil)
		root := linked(user)
		sum := sha256.Sum256(root)
		meta := strings.ReplaceAll(c.meta, "ROOT", hex.EncodeToString(sum[:]))
		if c.hex {
			meta = hex.EncodeToString([]byte(meta))
		}
		made(t, dir, meta, user, root)
		d := decoded(t, dir, session.Selection{})
		if !strings.Contains(d.text(), c.want) || len(d.lines) != 2 || len(d.notes) != 0 || strings.Contains(d.text(), "c0ffee") {
			t.Errorf("%s: %v\n%s", name, d.notes, d.text())
		}
	}
}

// TestInner: subagents whose states lie in their chat's come with it, if that
// is said, and with nobody else; each can be asked for by its name.
func TestInner(t *testing.T) {
	user := []byte(`{"role":"user","content":"hi"}`)
	started := func(root []byte, name string, state []byte) []byte {
		field := func(out []byte, number uint64, body []byte) []byte {
			out = binary.AppendUvarint(out, number<<3|2)
			return append(binary.AppendUvarint(out, uint64(len(body))), body...)
		}
		return field(root, 16, field(field(nil, 1, []byte(name)), 2, field(nil, 1, state)))
	}
	dir := laid(t, "chats", nil)
	root := started(started(linked(user), "kid", started(linked(user), "grandkid", linked(user))), "other", linked(user))
	made(t, dir, `{"latestRootBlobId":"ROOT"}`, user, root)
	for _, c := range []struct {
		sel  session.Selection
		want string
	}{
		{session.Selection{}, chatID + " kid grandkid other"},
		{session.Selection{IDs: []string{chatID}}, chatID},
		{session.Selection{IDs: []string{chatID}, Inner: true}, chatID + " kid grandkid other"},
		{session.Selection{IDs: []string{"kid"}, Inner: true}, "kid grandkid"},
		{session.Selection{IDs: []string{"grandkid"}}, "grandkid"},
		{session.Selection{IDs: []string{"nobody"}, Inner: true}, ""},
	} {
		var got []string
		for _, line := range decoded(t, dir, c.sel).lines {
			if rest, head := strings.CutPrefix(line, `{"type":"session","version":1,"id":"`); head {
				id, _, _ := strings.Cut(rest, `"`)
				got = append(got, id)
			}
		}
		if strings.Join(got, " ") != c.want {
			t.Errorf("%v: %q, want %q", c.sel, got, c.want)
		}
	}
}

func TestOddStores(t *testing.T) {
	user := []byte(`{"role":"user","content":"hi"}`)
	empty := laid(t, "chats", nil)
	made(t, empty, `{"agentId":"x","latestRootBlobId":"","name":"New Agent"}`)
	if d := decoded(t, empty, session.Selection{}); len(d.lines) != 1 || len(d.notes) != 0 {
		t.Errorf("an empty chat: %v %v", d.lines, d.notes)
	}
	gone := laid(t, "chats", nil)
	made(t, gone, `{"latestRootBlobId":"`+strings.Repeat("ab", 32)+`"}`, []byte("orphan"))
	if d := decoded(t, gone, session.Selection{}); len(d.lines) != 1 || !d.noted("missing", "meta") || !strings.Contains(d.lines[0], `"missing"`) || d.tally.Superseded != 1 {
		t.Errorf("no root: %v %v %+v", d.lines, d.notes, d.tally)
	}
	named := laid(t, "chats", nil)
	made(t, named, `{"latestRootBlobId":"`+strings.Repeat("ab", 32)+`"}`, user, linked(user))
	if d := decoded(t, named, session.Selection{}); len(d.lines) != 2 || !d.noted("inferred", "meta") {
		t.Errorf("another root: %v %v", d.lines, d.notes)
	}
	torn := laid(t, "chats", nil)
	made(t, torn, `{"latestRootBlobId":`, user, linked(user))
	if d := decoded(t, torn, session.Selection{}); len(d.lines) != 2 || !d.noted("unreadable", "meta") || d.tally.Unreadable != 1 {
		t.Errorf("a torn meta row: %v %v", d.lines, d.notes)
	}
	extra := laid(t, "chats", map[string]string{"odd.json": "{", "key.json": `{"blobEncryptionKey":"c0ffee"}`, besideName: "[]", "empty.json": ""})
	made(t, extra, `{"latestRootBlobId":"ROOT"}`, user, linked(user))
	if d := decoded(t, extra, session.Selection{}); len(d.lines) != 2 || d.tally.Unreadable != 3 || strings.Contains(d.text(), "c0ffee") {
		t.Errorf("odd files: %v %v %+v", d.lines, d.notes, d.tally)
	}
}

func TestWorkspace(t *testing.T) {
	user := []byte(`{"role":"user","content":"hi"}`)
	hash := filename.HashOf("/proj/x")
	chat := func(parent, beside string, root []byte) string {
		files := map[string]string{}
		if beside != "" {
			files[besideName] = beside
		}
		dir := laid(t, parent, files)
		made(t, dir, `{"latestRootBlobId":"ROOT"}`, user, root)
		return dir
	}
	uri := append(linked(user), 9<<3|2, 16)
	uri = append(uri, "file:///proj%2fy"...)
	if d := decoded(t, chat(hash, `{"cwd":"/proj/x"}`, uri), session.Selection{}); !strings.Contains(d.lines[0], `"workspace":"/proj/x","folders":["/proj/y"]`) || strings.Contains(d.lines[0], hash) {
		t.Errorf("%s", d.lines[0])
	}
	if d := decoded(t, chat(hash, `{"cwd":"/moved"}`, linked(user)), session.Selection{}); !strings.Contains(d.lines[0], `"workspace":"/moved"`) || !strings.Contains(d.lines[0], `{"name":"workspaceHash","raw":"`+hash+`"}`) {
		t.Errorf("%s", d.lines[0])
	}
	if d := decoded(t, chat(hash, "", uri), session.Selection{}); !strings.Contains(d.lines[0], `"workspace":"/proj/y"`) {
		t.Errorf("%s", d.lines[0])
	}
	dir := chat(hash, "", linked(user))
	other := filepath.Join(filepath.Dir(dir), "0e0b2b7e-1111-4000-8000-000000000000")
	if err := os.Mkdir(other, 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(other, besideName), []byte(`{"cwd":"/proj/x"}`), 0o644); err != nil {
		t.Fatal(err)
	}
	if d := decoded(t, dir, session.Selection{}); !strings.Contains(d.lines[0], `"workspace":"/proj/x"`) || !d.noted("inferred", "L823") {
		t.Errorf("%s %v", d.lines[0], d.notes)
	}
}

// TestModeAndKinds: what the meta row says of the mode counts where it says more
// than what it says of every chat; a call that only a prompt message has is of
// the kind that its name means.
func TestModeAndKinds(t *testing.T) {
	call := []byte(`{"role":"assistant","content":[{"type":"tool-call","toolCallId":"c1","toolName":"StrReplace","args":{}},{"type":"tool-call","toolCallId":"c2","toolName":"Nobodys","args":{}}]}`)
	for _, c := range []struct{ meta, state, want string }{
		{`"mode":"default",`, "\x50\x02", `"mode":"ask"}`},
		{`"mode":"plan",`, "\x50\x01", `"mode":"plan","extras":[{"name":"mode","raw":"agent"}]}`},
		{`"mode":"default",`, "", `"mode":"default"}`},
		{``, "\x50\x01", `"mode":"agent"}`},
	} {
		dir := laid(t, "chats", nil)
		made(t, dir, `{`+c.meta+`"latestRootBlobId":"ROOT"}`, call, append(linked(call), c.state...))
		d := decoded(t, dir, session.Selection{})
		if !strings.HasSuffix(d.lines[0], c.want) {
			t.Errorf("%s %q: %s", c.meta, c.state, d.lines[0])
		}
		if !strings.Contains(d.text(), `"id":"c1","name":"StrReplace","kind":"edit"`) || !strings.Contains(d.text(), `"id":"c2","name":"Nobodys","input"`) {
			t.Errorf("%s", d.text())
		}
	}
	empty := laid(t, "chats", nil)
	made(t, empty, `{"mode":"default","latestRootBlobId":""}`)
	if d := decoded(t, empty, session.Selection{}); !strings.Contains(d.lines[0], `"mode":"default"`) {
		t.Errorf("%s", d.lines[0])
	}
}

// TestSecretBeside: a database that is the source by itself takes nothing along
// that its folder would not.
func TestSecretBeside(t *testing.T) {
	dir := laid(t, "chats", map[string]string{storeName: sample(t), besideName: `{"title":"T","x":{"blobEncryptionKey":"c0ffee","y":1}}`})
	d := decoded(t, filepath.Join(dir, storeName), session.Selection{})
	if !strings.Contains(d.lines[0], `"title":"T"`) || !strings.Contains(d.lines[0], `"raw":{"y":1}`) || strings.Contains(d.text(), "c0ffee") {
		t.Errorf("%s", d.lines[0])
	}
}

// TestLarge: a store that is not held at once is told the same.
func TestLarge(t *testing.T) {
	var blobs [][]byte
	for i := range 40 {
		blobs = append(blobs, fmt.Appendf(nil, `{"role":"user","content":"%d %s"}`, i, strings.Repeat("x", 1<<19)))
	}
	dir := laid(t, "chats", nil)
	made(t, dir, `{"latestRootBlobId":"ROOT"}`, append(blobs, linked(blobs...))...)
	d := decoded(t, dir, session.Selection{})
	if len(d.lines) != 41 || len(d.notes) != 0 || !strings.Contains(d.lines[40], `"39 xxx`) || !strings.Contains(d.lines[40], "store.db/blobs#40") {
		t.Errorf("%d lines, %v, %.200s", len(d.lines), d.notes, d.lines[len(d.lines)-1])
	}
}

// TestStops: whoever wants no more gets no more, and nothing is left open.
func TestStops(t *testing.T) {
	dir := laid(t, "chats", map[string]string{storeName: sample(t)})
	l, err := formats.Locate(dir)
	if err != nil {
		t.Fatal(err)
	}
	n := 0
	for s, err := range Format().Sessions.Decode(t.Context(), l, formats.View{}, session.Selection{}) {
		if err != nil {
			t.Fatal(err)
		}
		for range s.Messages {
			if n++; n == 2 {
				break
			}
		}
		break
	}
	if err := os.RemoveAll(dir); err != nil || n != 2 {
		t.Errorf("%d messages; %v", n, err)
	}
	none := decoded(t, laid(t, "chats", map[string]string{storeName: sample(t)}), session.Selection{IDs: []string{"another"}})
	if len(none.lines) != 0 {
		t.Errorf("nobody asked for %v", none.lines)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	l, _ = formats.Locate(laid(t, "chats", map[string]string{storeName: sample(t)}))
	for s, err := range Format().Sessions.Decode(ctx, l, formats.View{}, session.Selection{}) {
		if err == nil {
			t.Errorf("cancelled, and yet %v", s.ID)
		}
	}
}
