package all_test

import (
	"context"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"rehome/formats"
	"rehome/formats/all"
	"rehome/formats/store"
)

// ndjson -> SQLite -> ndjson: whatever the four files hold comes back byte for
// byte, with the residue of the way there.
func TestRandomLines(t *testing.T) {
	for seed := range uint64(few(16)) {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			r := rand.New(rand.NewPCG(seed, 11))
			dir := t.TempDir()
			src := filepath.Join(dir, "src")
			randomLineStore(t, r, src)
			there := trip{}
			there.carry(t, "cursor-ndjson", "cursor-sdk", src, filepath.Join(dir, "db"))
			back := trip{beside: there.residue}
			back.carry(t, "cursor-sdk", "cursor-ndjson", filepath.Join(dir, "db"), filepath.Join(dir, "back"))
			sameFiles(t, src, filepath.Join(dir, "back"))
			bare := trip{}
			bare.carry(t, "cursor-sdk", "cursor-ndjson", filepath.Join(dir, "db"), filepath.Join(dir, "bare"))
			shy := trip{secrets: formats.OmitWithheld}
			shy.carry(t, "cursor-ndjson", "cursor-sdk", src, filepath.Join(dir, "shy"))
			holdNoKey(t, "", shy.residue)
			split := trip{split: true}
			split.carry(t, "cursor-ndjson", "cursor-ndjson", src, filepath.Join(dir, "split"))
			joined := trip{beside: split.residue}
			joined.carry(t, "cursor-ndjson", "cursor-ndjson", filepath.Join(dir, "split"), filepath.Join(dir, "joined"))
			sameFiles(t, src, filepath.Join(dir, "joined"))
			there = trip{beside: split.residue}
			there.carry(t, "cursor-ndjson", "cursor-sdk", filepath.Join(dir, "split"), filepath.Join(dir, "db2"))
			back = trip{beside: there.residue, split: true}
			back.carry(t, "cursor-sdk", "cursor-ndjson", filepath.Join(dir, "db2"), filepath.Join(dir, "split2"))
			sameFiles(t, filepath.Join(dir, "split"), filepath.Join(dir, "split2"))
		})
	}
}

// SQLite -> ndjson -> SQLite: every database comes back by schema, pragmas and
// cells.
func TestRandomDatabases(t *testing.T) {
	for n := range uint64(few(32)) {
		seed := n * 32 / uint64(few(32))
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			split := seed >= 16
			r := rand.New(rand.NewPCG(seed%16, 12))
			dir := t.TempDir()
			src := filepath.Join(dir, "src")
			randomDatabases(t, r, src)
			there := trip{split: split}
			there.carry(t, "cursor-sdk", "cursor-ndjson", src, filepath.Join(dir, "lines"))
			back := trip{beside: there.residue}
			back.carry(t, "cursor-ndjson", "cursor-sdk", filepath.Join(dir, "lines"), filepath.Join(dir, "back"))
			sameTables(t, src, filepath.Join(dir, "back"))
			bare := trip{}
			bare.carry(t, "cursor-ndjson", "cursor-sdk", filepath.Join(dir, "lines"), filepath.Join(dir, "bare"))
			shy := trip{secrets: formats.WithholdSecrets, split: split}
			shy.carry(t, "cursor-sdk", "cursor-ndjson", src, filepath.Join(dir, "shy"))
			holdNoKey(t, filepath.Join(dir, "shy"), shy.residue)
			back = trip{beside: shy.residue}
			back.carry(t, "cursor-ndjson", "cursor-sdk", filepath.Join(dir, "shy"), filepath.Join(dir, "back2"))
		})
	}
}

// holdNoKey looks for the keys that the generators plant.
func holdNoKey(t *testing.T, dir string, residue []store.SidecarItem) {
	t.Helper()
	if dir != "" {
		holdNothing(t, dir, ".ndjson", []string{planted})
	}
	for _, it := range residue {
		for _, c := range it.Row {
			if b := string(c.Bytes()); strings.Contains(b, planted) || strings.Contains(b, hexOf(planted)) {
				t.Errorf("residue of %v holds a key: %s", it.At, b)
			}
		}
	}
}

// values are what a member may be; each kind of member has its ordinary ones
// in front of these.
var values = []string{
	"null", "0", "-1", "1.5", "1e3", "9007199254740993", "123456789012345678901234567890", `"x"`, `"\ud800"`, `"nul\u0000byte"`, "\"sep\u2028\u0085\"", `"ünï 𝒳"`, `"\u0041\/"`, "{}", "[]", "true",
	`{"a":[1,{"b":null}],"a":2}`, `{ "a" : 1 }`, `""`, "\"\xff\"", `{"id":"m"}`, `{"id":"m","params":[{"id":"e","value":"h"}]}`, `{"schemaVersion":1,"rootBlobId":"ab12"}`, `{"schemaVersion":2,"rootBlobId":"ab12","x":1}`,
}

func value(r *rand.Rand, ordinary ...string) string {
	if r.IntN(8) > 0 {
		return ordinary[r.IntN(len(ordinary))]
	}
	return values[r.IntN(len(values))]
}

func object(r *rand.Rand, members ...string) string {
	var b strings.Builder
	for i := 0; i < len(members); i += 2 {
		if r.IntN(40) == 0 {
			continue // absent
		}
		if b.Len() > 0 {
			b.WriteString(",")
		}
		fmt.Fprintf(&b, "%q:%s", members[i], members[i+1])
	}
	if r.IntN(20) == 0 {
		b.WriteString(`,"unknown":` + values[r.IntN(len(values))])
	}
	if r.IntN(40) == 0 {
		return "{" + b.String() + `,"name":"again"} `
	}
	return "{" + b.String() + "}"
}

func randomLineStore(t *testing.T, r *rand.Rand, dir string) {
	t.Helper()
	quoted := func(s string) string { return `"` + s + `"` }
	id := func(kind string, n int) string { return quoted(fmt.Sprintf("%s-%d", kind, r.IntN(n))) }
	ms := func() string { return fmt.Sprint(1_780_000_000_000 + r.Int64N(1e9)) }
	ref := func() string {
		return value(r, "null", `{"schemaVersion":1,"rootBlobId":"`+strings.Repeat("ab", 32)+`"}`)
	}
	line := [4]func() string{
		func() string {
			return object(r, "agentId", id("agent", 9), "cwd", value(r, `"/w"`), "status", value(r, `"idle"`, `"running"`), "activeRunId", value(r, "null", `"run-1"`), "name", value(r, `"N"`, `"é"`),
				"createdAt", value(r, ms()), "updatedAt", value(r, ms()), "sdkMetadata", value(r, "{}", `{"blobEncryptionKey":"5ec7e700d1e5"}`, `{"k":1}`), "latestCheckpoint", ref())
		},
		func() string {
			return object(r, "runId", id("run", 30), "requestId", value(r, "null", `"q"`), "agentId", id("agent", 11), "turnNumber", fmt.Sprint(r.IntN(12)), "status", value(r, `"finished"`, `"error"`, `"queued"`, `"creating"`),
				"model", value(r, "null", `{"id":"m"}`), "result", value(r, "null", `"done"`), "error", value(r, "null"), "usageRef", value(r, "null"), "usage", value(r, "null", `{"totalTokens":1}`),
				"createdAt", value(r, ms()), "updatedAt", value(r, ms()), "startedAt", value(r, ms(), "null"), "endedAt", value(r, ms(), "null"), "startCheckpointRef", ref(), "latestCheckpointRef", ref())
		},
		func() string {
			seq := fmt.Sprint(r.IntN(80))
			return object(r, "runId", id("run", 3), "seq", seq, "offset", value(r, quoted(seq)), "eventType", value(r, `"run_stream_event"`), "payload", value(r, `{"type":"x"}`, "null"),
				"payloadRef", value(r, "null"), "idempotencyKey", value(r, "null", id("k", 9)), "createdAt", value(r, `"2026-06-04T10:00:00.010Z"`))
		},
		func() string {
			data := make([]byte, r.IntN(50))
			for i := range data {
				data[i] = byte(r.Uint32())
			}
			sum := sha256.Sum256(data)
			return object(r, "agentId", id("agent", 12), "blobId", value(r, quoted(hex.EncodeToString(sum[:])), quoted(hex.EncodeToString(sum[:1]))), "dataBase64", value(r, quoted(base64.StdEncoding.EncodeToString(data)), quoted(base64.RawURLEncoding.EncodeToString(data))))
		},
	}
	if err := os.Mkdir(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	junk := []string{"", " ", "null", "[1]", "{", "not json \xff", `{"agentId":"torn","blobEncryptionKey":"5ec7e700d1e5`}
	for k, name := range []string{"agents.ndjson", "runs.ndjson", "run_events.ndjson", "checkpoints.ndjson"} {
		if r.IntN(8) == 0 {
			continue // no such file
		}
		var b strings.Builder
		if r.IntN(10) == 0 {
			b.WriteString("\ufeff")
		}
		for range r.IntN([]int{12, 30, 120, 40}[k]) {
			if r.IntN(15) == 0 {
				b.WriteString(junk[r.IntN(len(junk))])
			} else {
				b.WriteString(line[k]())
			}
			if r.IntN(20) == 0 {
				b.WriteString("\r")
			}
			b.WriteString("\n")
		}
		text := b.String()
		if r.IntN(3) == 0 && len(text) > 0 {
			text = text[:len(text)-1-r.IntN(min(3, len(text)))]
		}
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if r.IntN(2) == 0 {
		p := filepath.Join(dir, "agent-transcripts", "agent-1")
		if err := errors.Join(os.MkdirAll(p, 0o755), os.WriteFile(filepath.Join(p, "agent-1.jsonl"), []byte("{}\n"), 0o644), os.WriteFile(filepath.Join(p, "empty"), nil, 0o644)); err != nil {
			t.Fatal(err)
		}
	}
}

// randomDatabases builds a state root table by table: of the designs that real
// stores have, with rows that no client would write.
func randomDatabases(t *testing.T, r *rand.Rand, dir string) {
	t.Helper()
	sdk := all.Registry().Lookup("cursor-sdk")
	from := []string{"gen/sqlite", "legacy-1.0.14"}[r.IntN(2)]
	l, err := formats.Locate(filepath.Join("..", "..", "testdata", "sdk", filepath.FromSlash(from)))
	if err != nil {
		t.Fatal(err)
	}
	model, err := sdk.Records.Open(t.Context(), l, formats.View{})
	if err != nil {
		t.Fatal(err)
	}
	defer model.Close()
	like := model.Schema()
	schema := &store.Schema{Origin: "cursor-sdk"}
	index := like.Databases[0]
	for _, d := range like.Databases {
		if d.Path == "index.db" {
			index = d
		}
	}
	if r.IntN(4) == 0 {
		index.Pragmas.UserVersion = 7
		index.Objects = append(append([]store.Object{}, index.Objects...), store.Object{Type: "table", Name: "extra", Table: "extra", SQL: "CREATE TABLE extra(a INTEGER PRIMARY KEY AUTOINCREMENT, b)"},
			store.Object{Type: "table", Name: "sqlite_sequence", Table: "sqlite_sequence", SQL: "CREATE TABLE sqlite_sequence(name,seq)"})
	}
	prefix := ""
	if r.IntN(5) == 0 {
		prefix = "sdk-agent-store/0123/"
	}
	index.Path = prefix + "index.db"
	schema.Databases = append(schema.Databases, index)
	columns := map[string][]string{}
	for _, s := range like.Sets {
		columns[s.Name] = s.Columns
	}
	for _, o := range index.Objects {
		switch o.Type + o.Name {
		case "tableagents", "tableruns", "tablerun_events":
			schema.Sets = append(schema.Sets, store.Set{File: index.Path, Name: o.Name, Columns: columns[o.Name], RowIDs: true})
		case "tableextra":
			schema.Sets = append(schema.Sets, store.Set{File: index.Path, Name: o.Name, Columns: []string{"a", "b"}})
		case "tablesqlite_sequence":
			schema.Sets = append(schema.Sets, store.Set{File: index.Path, Name: o.Name, Columns: []string{"name", "seq"}, RowIDs: true})
		}
	}
	for i := range r.IntN(5) {
		sum := sha256.Sum256([]byte(fmt.Sprintf("agent-%d", i)))
		h := hex.EncodeToString(sum[:])
		p := prefix + "agents/" + []string{"agent-" + h, "agent-" + h, h, "strange-" + fmt.Sprint(i)}[r.IntN(4)] + "/store.db"
		d := store.Database{Path: p}
		for _, x := range like.Databases {
			if x.Path != "index.db" {
				d.Pragmas, d.Objects = x.Pragmas, x.Objects
			}
		}
		schema.Databases = append(schema.Databases, d)
		schema.Sets = append(schema.Sets, store.Set{File: p, Name: "blobs", Columns: []string{"id", "data"}, RowIDs: true}, store.Set{File: p, Name: "meta", Columns: []string{"key", "value"}, RowIDs: true})
	}
	w, err := sdk.Records.Create(t.Context(), formats.Build{Path: dir, Schema: schema})
	if err != nil {
		t.Fatal(err)
	}
	defer w.Close()
	for i, s := range schema.Sets {
		if b := randomRows(r, i, s); b.Rows() > 0 {
			if err := w.Put(context.Background(), b); err != nil {
				t.Fatal(err)
			}
		}
	}
	if err := w.Finish(context.Background()); err != nil {
		t.Fatal(err)
	}
}

func randomRows(r *rand.Rand, set int, s store.Set) *store.Batch {
	b := store.NewBatch(set, len(s.Columns))
	id := int64(0)
	for n := range r.IntN(map[string]int{"agents": 8, "runs": 20, "run_events": 60, "blobs": 12, "meta": 2, "extra": 4, "sqlite_sequence": 2}[s.Name]) {
		id++
		if r.IntN(6) == 0 {
			id += int64(r.IntN(5))
		}
		b.Row(id * int64(map[bool]int{true: 1}[s.RowIDs]))
		for _, c := range s.Columns {
			b.Add(randomCell(r, s.Name, c, n, id))
		}
	}
	return b
}

var oddTexts = []string{"", "x", "ünï 𝒳", "\x00", "nul\x00byte", "\u2028\x7f", "\xff\xfe", "\xed\xa0\x80", "tab\t\n\r\"\\", "null", "{}", "[1, 2]", "{\"a\":\n1}", "{\"a\":", "2026-06-04T10:00:00.000Z", "2026-06-04T10:00:00Z", "yesterday",
	`{"blobId":"ab12","storeKind":"local-agent-store"}`, `{"blobId":"ab12","storeKind":"local-sqlite"}`, `{"n":12345678901234567890}`, "FINISHED", "ERROR", "IDLE", "finished"}

func randomCell(r *rand.Rand, table, column string, n int, id int64) store.Cell {
	odd := r.IntN(12) == 0
	say := func(format string, args ...any) store.Cell { return store.TextCell(fmt.Appendf(nil, format, args...)) }
	switch {
	case column == "agent_id" && table == "agents":
		if odd {
			return []store.Cell{store.NullCell(), say("odd \xff %d", n), store.BlobCell([]byte{byte(n)})}[r.IntN(3)]
		}
		return say("agent-%d", n)
	case column == "agent_id":
		return say("agent-%d", n%7)
	case column == "run_id" && table == "runs":
		return say("run-%d", n)
	case column == "run_id":
		return say("run-%d", r.IntN(2))
	case column == "turn_number", column == "seq" && table == "run_events":
		return store.IntCell(int64(n) + 1)
	case column == "offset":
		if odd {
			return say("0%d", n+1)
		}
		return say("%d", n+1)
	case column == "idempotency_key":
		if odd {
			return say("key-%d", n)
		}
		return store.NullCell()
	case column == "id" && table == "blobs":
		if odd {
			return []store.Cell{store.NullCell(), say("odd %d", n), say("AB%02X", n), store.BlobCell([]byte{byte(n)})}[r.IntN(4)]
		}
		return say("%064x", n)
	case column == "data" && !odd:
		return store.BlobCell(fmt.Appendf(nil, "data %d", r.IntN(1000)))
	case column == "key" && table == "meta":
		return say("%d", n)
	case column == "value" && table == "meta" && !odd:
		return say("%s", hex.EncodeToString(fmt.Appendf(nil, `{"agentId":"agent-%d","blobEncryptionKey":"5ec7e700d1e5"}`, r.IntN(9))))
	case column == "a":
		return store.IntCell(id)
	case table == "extra":
		return []store.Cell{store.NullCell(), store.IntCell(int64(r.Uint64())), store.RealCell(0.5), say("x"), store.BlobCell(nil)}[r.IntN(5)]
	case table == "sqlite_sequence":
		return []store.Cell{say("extra"), store.IntCell(7)}[map[string]int{"seq": 1}[column]]
	}
	mayBeNull := strings.Contains(" active_run_id latest_checkpoint_ref_json name request_id model model_params_json start_checkpoint_ref_json error_code usage_ref usage_json result started_at finished_at cancelled_at expired_at payload_json payload_ref data value ", " "+column+" ")
	switch {
	case mayBeNull && r.IntN(2) == 0:
		return store.NullCell()
	case odd && r.IntN(4) == 0:
		return store.BlobCell([]byte("blob"))
	case odd:
		return say("%s", oddTexts[r.IntN(len(oddTexts))])
	case strings.HasSuffix(column, "_at"):
		return say("2026-06-04T10:00:%02d.000Z", r.IntN(60))
	case strings.HasSuffix(column, "ref_json"):
		return say("%s", `{"blobId":"ab12","storeKind":"local-agent-store"}`)
	case column == "metadata_json":
		return say("%s", []string{"{}", `{"blobEncryptionKey":"5ec7e700d1e5"}`, `{"a":1,"blobEncryptionKey":"5ec7e700d1e5","b":{}}`, `{"blobEncryptionKey":"5ec7e700d1e5"`}[r.IntN(4)])
	case strings.HasSuffix(column, "_json"):
		return say("%s", `{"k":"v"}`)
	case column == "status":
		return say("%s", []string{"IDLE", "FINISHED", "CANCELLED", "EXPIRED", "ERROR", "CREATING"}[r.IntN(6)])
	}
	return say("text %d", r.IntN(100))
}
