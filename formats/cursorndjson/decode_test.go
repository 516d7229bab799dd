package cursorndjson

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/base64"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"rehome/formats"
	"rehome/formats/internal/agentstate"
	"rehome/formats/internal/sdkdoc"
	"rehome/formats/internal/sdksession"
	"rehome/formats/loss"
	"rehome/formats/session"
	"rehome/internal/rawjson"
)

// story is what a store tells: each session and message in short, and notes.
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
	for s, err := range decode(t.Context(), l, v, session.Selection{Account: &books}) {
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
	}
	if out.total = books.Total(); !out.total.Balanced() {
		t.Errorf("the books do not balance: %+v", out.total)
	}
	return out
}

func brief(m *session.Message) string {
	b := string(m.Role)
	for _, p := range m.Parts {
		switch p := p.(type) {
		case *session.Text:
			b += " | " + p.Text
		case *session.Thinking:
			b += " | think " + p.Text
		case *session.ToolCall:
			b += " | " + p.Name + " " + string(p.Args)
		case *session.ToolResult:
			b += " | -> " + p.Status
		default:
			b += fmt.Sprintf(" | %T", p)
		}
	}
	return b
}

func expect(t *testing.T, got []string, want string) {
	t.Helper()
	if g := strings.Join(got, "\n"); g != strings.TrimSpace(want) {
		t.Errorf("got\n%s\nwant\n%s", g, want)
	}
}

const sampleAgent = "agent-b49e4056-aae5-4f28-9e76-3b5acd255d0a"

func sample(t *testing.T) string {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "s")
	if err := os.CopyFS(dir, os.DirFS("../../testdata/sdk/e2e-jsonl")); err != nil {
		t.Fatal(err)
	}
	return dir
}

// TestFilesOfTheRealClient deletes each file of a real store in turn.
func TestFilesOfTheRealClient(t *testing.T) {
	const whole = `
system | You are a fixture.
user | *session.Injected
user | Prompt 0 – wörld 你好
assistant | think thinking… 深い | I will run a command. 🚀 | Shell {"command":"printf 'hi\\n'","timeout":30000,"toolCallId":"toolu_dee3ac99dcb93b4a18ff","simpleCommands":["printf"],"parsingResult":{},"skipApproval":true,"timeoutBehavior":"TIMEOUT_BEHAVIOR_CANCEL","description":"Say hi"}
tool | -> success
assistant | All done.`
	const events = `
user | Prompt 0 – wörld 你好
assistant | think thinking… 深い | I will run a command. 🚀 | shell {"command":"printf 'hi\\n'","timeout":30000}
tool | -> success
assistant | All done.`
	for file, want := range map[string]string{
		"":                   "session " + sampleAgent + whole,
		"agents.ndjson":      "session " + sampleAgent + " agents.ndjson" + whole,
		"runs.ndjson":        "session " + sampleAgent + " runs.ndjson" + whole,
		"run_events.ndjson":  "session " + sampleAgent + " run_events.ndjson" + whole,
		"checkpoints.ndjson": "session " + sampleAgent + " checkpoints.ndjson" + events,
		"agent-transcripts":  "session " + sampleAgent + whole,
	} {
		t.Run(file, func(t *testing.T) {
			dir := sample(t)
			if file != "" {
				if err := os.RemoveAll(filepath.Join(dir, file)); err != nil {
					t.Fatal(err)
				}
			}
			got := decoded(t, dir)
			expect(t, got.lines, want)
			if bytes.Contains(got.raw, []byte("blobEncryptionKey")) {
				t.Error("a secret left home")
			}
			if again := decoded(t, dir); !bytes.Equal(again.raw, got.raw) {
				t.Error("decoded twice, and not the same")
			}
		})
	}
}

// TestDamageAsTheSDKReadsIt: torn, blank, doubled and broken lines.
func TestDamageAsTheSDKReadsIt(t *testing.T) {
	plain := decoded(t, sample(t))
	dir := sample(t)
	for k := range sdkdoc.Kind(sdkdoc.Kinds) {
		name := filepath.Join(dir, k.File())
		b, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		b = bytes.ReplaceAll(b, []byte("\n"), []byte("\r\n"))
		b = append([]byte("\ufeff\r\n"), b...)
		if k == sdkdoc.Run || k == sdkdoc.Checkpoint {
			first, _, _ := bytes.Cut(b[5:], []byte("\n"))
			b = append(append(b, first...), '\n') // doubled
		}
		b = append(b, "not JSON\n  \n{\"torn"...)
		if err := os.WriteFile(name, b, 0o666); err != nil {
			t.Fatal(err)
		}
	}
	got := decoded(t, dir)
	expect(t, got.lines, strings.Join(plain.lines, "\n"))
	if got.total.Read != plain.total.Read+4*4+2 || got.total.Unreadable != 8 || got.total.CarriedRaw != 1 || got.total.Superseded != plain.total.Superseded+1 {
		t.Errorf("%+v, whole %+v", got.total, plain.total)
	}
	if len(got.notes) != 8 || got.notes[0] != "unreadable agents.ndjson:3 L734" || got.notes[1] != "unreadable agents.ndjson:5 L305" {
		t.Errorf("%s", strings.Join(got.notes, "\n"))
	}
}

// TestStrangersInCheckpoints: a member that nobody has described rides along, as
// long as there is room.
func TestStrangersInCheckpoints(t *testing.T) {
	dir := sample(t)
	name := filepath.Join(dir, sdkdoc.Checkpoint.File())
	b, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	b = bytes.Replace(b, []byte(`"}`), []byte(`","mood":[1]}`), 1)
	b = append(b[:len(b)-2], `,"long":"`+strings.Repeat("x", mostExtras)+"\"}\n"...)
	if err := os.WriteFile(name, b, 0o666); err != nil {
		t.Fatal(err)
	}
	got := decoded(t, dir)
	if !bytes.Contains(got.raw, []byte(`{"name":"checkpoints.ndjson:1.mood","raw":[1]}`)) {
		t.Errorf("%s", got.raw)
	}
	if want := []string{"dropped checkpoints.ndjson:15 L706"}; !slices.Equal(got.notes, want) {
		t.Errorf("%q", got.notes)
	}
}

// TestSpellings: of two names that differ only in case the one in lower case is
// the checkpoint, as it is to the client.
func TestSpellings(t *testing.T) {
	dir := sample(t)
	want := decoded(t, dir)
	name := filepath.Join(dir, sdkdoc.Checkpoint.File())
	b, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	var odd []byte
	for line := range bytes.Lines(b) {
		agent, blob := rawjson.TextAt(line, "agentId"), rawjson.TextAt(line, "blobId")
		odd = fmt.Appendf(odd, `{"agentId":%q,"blobId":%q,"dataBase64":"AA=="}`+"\n", agent, strings.ToUpper(blob))
	}
	if err := os.WriteFile(name, append(odd, b...), 0o666); err != nil {
		t.Fatal(err)
	}
	if got := decoded(t, dir); !slices.Equal(got.lines, want.lines) {
		t.Errorf("got\n%s\nwant\n%s", strings.Join(got.lines, "\n"), strings.Join(want.lines, "\n"))
	}
}

// TestEmptyFiles: a store from which everything was deleted.
func TestEmptyFiles(t *testing.T) {
	dir := t.TempDir()
	for k := range sdkdoc.Kind(sdkdoc.Kinds) {
		if err := os.WriteFile(filepath.Join(dir, k.File()), nil, 0o666); err != nil {
			t.Fatal(err)
		}
	}
	if got := decoded(t, dir); got.lines != nil || got.total.Read != 4 {
		t.Errorf("%q %+v", got.lines, got.total)
	}
}

// field is a protobuf field of bytes.
func field(n int, b []byte) []byte {
	out := binary.AppendUvarint(nil, uint64(n<<3|2))
	return append(binary.AppendUvarint(out, uint64(len(b))), b...)
}

// long is a store of one agent with so many turns, made without any reader.
func long(t *testing.T, turns int) string {
	t.Helper()
	dir := t.TempDir()
	var files [sdkdoc.Kinds]bytes.Buffer
	blob := func(b []byte) []byte {
		id := sha256.Sum256(b)
		fmt.Fprintf(&files[sdkdoc.Checkpoint], `{"agentId":"a","blobId":"%x","dataBase64":"%s"}`+"\n", id, base64.StdEncoding.EncodeToString(b))
		return id[:]
	}
	var prompts, spine []byte
	for i := range turns {
		prompt, answer := fmt.Sprint("prompt ", i), fmt.Sprint("answer ", i)
		prompts = append(prompts, field(1, blob(fmt.Appendf(nil, `{"role":"user","content":"<user_query>\n%s\n</user_query>"}`, prompt)))...)
		prompts = append(prompts, field(1, blob(fmt.Appendf(nil, `{"role":"assistant","content":[{"type":"text","text":"%s"}]}`, answer)))...)
		turn := field(1, blob(field(1, []byte(prompt))))
		turn = append(turn, field(2, blob(field(1, field(1, []byte(answer)))))...)
		turn = append(turn, field(3, fmt.Appendf(nil, "q%d", i))...)
		spine = append(spine, field(8, blob(field(1, turn)))...)
		fmt.Fprintf(&files[sdkdoc.Run], `{"runId":"r%d","requestId":"q%d","agentId":"a","turnNumber":%d,"status":"finished","result":"%s"}`+"\n", i, i, i+1, answer)
		for seq, m := range []string{`"type":"request","request_id":"q` + fmt.Sprint(i) + `"`, `"type":"assistant","message":{"content":[{"type":"text","text":"` + answer + `"}]}`, `"type":"status","status":"FINISHED"`} {
			fmt.Fprintf(&files[sdkdoc.Event], `{"runId":"r%d","seq":%d,"offset":"%d","eventType":"run_stream_event","payload":{"schemaVersion":1,"type":"sdk_message","agentId":"a","runId":"r%d","message":{%s}},"createdAt":"2026-01-01T00:00:00.000Z"}`+"\n", i, seq+1, seq+1, i, m)
		}
	}
	root := blob(append(prompts, spine...))
	fmt.Fprintf(&files[sdkdoc.Agent], `{"agentId":"a","cwd":"/","status":"idle","latestCheckpoint":{"schemaVersion":1,"rootBlobId":"%s"}}`+"\n", hex.EncodeToString(root))
	for k := range sdkdoc.Kind(sdkdoc.Kinds) {
		if err := os.WriteFile(filepath.Join(dir, k.File()), files[k].Bytes(), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

// counter counts how often blobs are read.
type counter struct {
	agentstate.Blobs
	reads, bytes int
}

func (c *counter) Blob(ctx context.Context, id agentstate.ID) ([]byte, error) {
	b, err := c.Blobs.Blob(ctx, id)
	c.reads++
	c.bytes += len(b)
	return b, err
}

// lineCounter counts how often lines are read.
type lineCounter struct {
	sdksession.Lines
	reads int
}

func (c *lineCounter) Line(ctx context.Context, k sdkdoc.Kind, p sdksession.Place) ([]byte, error) {
	c.reads++
	return c.Lines.Line(ctx, k, p)
}

// TestLinear counts what is read of stores of 500 and of 5,000 turns.
func TestLinear(t *testing.T) {
	measure := func(turns int) (blobs, size, lines int) {
		l, err := formats.Locate(long(t, turns))
		if err != nil {
			t.Fatal(err)
		}
		d := newDecoder(formats.View{})
		if err := d.open(t.Context(), l, nil); err != nil {
			t.Fatal(err)
		}
		c, lc := &counter{}, &lineCounter{Lines: d}
		s := d.Store
		s.Lines = lc
		s.Checkpoints = func(ctx context.Context, agent string) (*sdksession.Checkpoints, error) {
			shelf, err := d.checkpoints(ctx, agent)
			c.Blobs, shelf.Blobs = shelf.Blobs, c
			return shelf, err
		}
		var books session.SharedAccount
		messages := 0
		for sess, err := range s.Sessions(t.Context(), session.Selection{Account: &books}) {
			if err != nil {
				t.Fatal(err)
			}
			for m, err := range sess.Messages {
				if err != nil {
					t.Fatal(err)
				}
				messages++
				if slices.ContainsFunc(m.Parts, func(p session.Part) bool { text, ok := p.(*session.Text); return ok && text.From == "events" }) {
					t.Fatalf("events repeat what the checkpoints say: %s", session.AppendMessage(nil, m))
				}
			}
		}
		if err := d.close(); err != nil {
			t.Fatal(err)
		}
		if messages != 2*turns || !books.Total().Balanced() {
			t.Errorf("%d messages of %d turns, %+v", messages, turns, books.Total())
		}
		return c.reads, c.bytes, lc.reads
	}
	blobs, size, lines := measure(500)
	blobs10, size10, lines10 := measure(5000)
	if blobs10 > blobs*11 || size10 > size*11 || lines10 > lines*11 {
		t.Errorf("500 turns: %d blobs, %d bytes, %d lines; 5000 turns: %d blobs, %d bytes, %d lines", blobs, size, lines, blobs10, size10, lines10)
	}
	t.Logf("5000 turns: %d reads of blobs (%d bytes), %d of lines", blobs10, size10, lines10)
}

// TestStops: a cancelled decoder says so, and one that nobody wants more of ends.
func TestStops(t *testing.T) {
	l, err := formats.Locate("../../testdata/sdk/gen/jsonl")
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	var last error
	for s, err := range decode(ctx, l, formats.View{}, session.Selection{}) {
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
	sessions := 0
	for range decode(t.Context(), l, formats.View{}, session.Selection{}) {
		sessions++
		break
	}
	wanted := []string{"agent-86bf8e9d-383e-47d4-956b-3110946fa7b4"}
	for s, err := range decode(t.Context(), l, formats.View{}, session.Selection{IDs: wanted}) {
		if err != nil || s.ID != wanted[0] {
			t.Error(s, err)
		}
		sessions++
	}
	if sessions != 2 {
		t.Error(sessions)
	}
}
