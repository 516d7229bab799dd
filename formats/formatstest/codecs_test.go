package formatstest_test

import (
	"bytes"
	"context"
	"encoding/hex"
	"errors"
	"fmt"
	"maps"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"rehome/formats"
	"rehome/formats/all"
	"rehome/formats/formatstest"
	"rehome/formats/store"
	"rehome/testdata/ide"
)

// Every format of this build runs the suite, on stores that are made here from
// their schema and records, through the format's own writer.

func TestCodecs(t *testing.T) {
	reg := all.Registry()
	chat := recipe{schema: chatSchema(""), put: putChat, secrets: []string{chatSecret}}
	folder := recipe{schema: chatSchema("store.db"), put: putChat, secrets: []string{chatSecret}}
	folder.schema.Sets = append(folder.schema.Sets, store.Set{File: "meta.json", Kind: store.Plain, Columns: []string{"bytes"}})
	folder.put = func(p *putter) {
		putChat(p)
		p.row(2, 0, store.BlobCell([]byte(`{"schemaVersion":1}`+"\n")))
	}
	cases := map[string]map[string]recipe{
		"sqlite": {"oddities": oddities("UTF-8"), "UTF-16": oddities("UTF-16le"), "empty": empty(), "many": many()},
		"cursor-chat": {"file": chat, "folder": folder,
			"littered": littered(folder, "store.db.bak", "copy.json", "old.db", "notes.txt")},
		"cursor-ide": {"state": ideState()},
		"cursor-sdk": {"root": sdk(), "littered": littered(sdk(), "index.db.backup", "old-index.db", "agents/agent-x/meta.json", "agent-transcripts/b/b.jsonl"),
			"documents": documents()},
		"cursor-ndjson": {"documents": documents()},
		"opencode":      {"credentials": openCode()},
		"archive":       {"chat": chat, "folder": folder, "many": many(), "empty": empty(), "gzip": packed(folder, "gzip"), "zstd": packed(many(), "zstd"), "withheld": withheld(), "collated": collated()},
	}
	shared := newSharedLaws(t)
	for _, f := range reg.All() {
		t.Run(f.Name, func(t *testing.T) {
			c := formatstest.Case{Format: f, Registry: reg, Leaves: shared.leavesOf(t, f.Name)}
			for _, name := range slices.Sorted(maps.Keys(cases[f.Name])) {
				r := cases[f.Name][name]
				fixture := formatstest.Fixture{Name: name, Secrets: r.secrets, Foreign: r.foreign}
				fixture.Make = func(t *testing.T, dir string) string { return r.make(t, reg, f, dir) }
				c.Fixtures = append(c.Fixtures, fixture)
			}
			c.Fixtures = append(c.Fixtures, samples(t, f.Name)...)
			c.MoreStores = append(played(t, f.Name), generated(t, f.Name)...)
			shared.expect(c)
			formatstest.Run(t, c)
			t.Run("raw", func(t *testing.T) { rawShare(t, c) })
		})
	}
	t.Run("declarations", shared.declarations)
}

// samples are files and folders under testdata, most of which clients wrote.
func samples(t *testing.T, format string) []formatstest.Fixture {
	t.Helper()
	patterns := map[string][]string{
		"sqlite":            {}, // its folder has a script
		"stream-json":       {"stream/*.json*"},
		"cursor-transcript": {"transcript/projects/*/agent-transcripts", "sdk/e2e-sqlite-hot-wal/projects/*/agent-transcripts"},
		"canonical":         {"canonical/*"},
		"claude-code":       {"claude/*"},
		"cursor-chat":       {"chat/*.db"},
		"cursor-ide":        {"ide/cases/*"},
		"cursor-sdk":        {"sdk/gen/sqlite", "sdk/legacy-*", "sdk/e2e-sqlite-hot-wal/projects/*"},
		"cursor-ndjson":     {"sdk/gen/jsonl", "sdk/e2e-jsonl"},
		"opencode":          {"opencode/home/*"},
		"opencode-export":   {"opencode/exports/*"},
		"opencode-json":     {"opencode/storage"},
	}[format]
	if own := format + "/*"; patterns == nil && exists(own) { // a folder with the name of the format
		patterns = []string{own}
	}
	return found(t, format, patterns)
}

func exists(pattern string) bool {
	list, err := filepath.Glob(filepath.Join("..", "..", "testdata", filepath.FromSlash(pattern)))
	return err == nil && len(list) > 0
}

// played are stores that the clients wrote in a play.
func played(t *testing.T, format string) []formatstest.Fixture {
	t.Helper()
	return found(t, format, map[string][]string{"cursor-sdk": {"sdk/play/sqlite/projects/*"}, "cursor-ndjson": {"sdk/play/jsonl"}}[format])
}

// found are the files and folders of some patterns.
func found(t *testing.T, format string, patterns []string) (out []formatstest.Fixture) {
	t.Helper()
	for _, pattern := range patterns {
		found, err := filepath.Glob(filepath.Join("..", "..", "testdata", filepath.FromSlash(pattern)))
		if err != nil || len(found) == 0 {
			t.Fatalf("%s: %d files, %v", pattern, len(found), err)
		}
		for _, from := range found {
			name := filepath.Base(from)
			if name == "README.md" {
				continue
			}
			out = append(out, formatstest.Fixture{Name: name, Real: true, Make: func(t *testing.T, dir string) string {
				to := filepath.Join(dir, name)
				if format == "cursor-ide" {
					return userDir(t, to, from)
				}
				if err := copyAny(to, from); err != nil {
					t.Fatal(err)
				}
				return to
			}})
		}
	}
	return out
}

// userDir builds the user dir of a script, and returns it, or the folder of the
// workspace that is all of it.
func userDir(t *testing.T, dir, script string) string {
	t.Helper()
	text, err := os.ReadFile(script)
	if err := errors.Join(err, ide.Build(dir, string(text))); err != nil {
		t.Fatal(err)
	}
	if spaces, _ := filepath.Glob(filepath.Join(dir, "workspaceStorage", "*")); !strings.Contains(string(text), "globalStorage/") {
		return spaces[0]
	}
	return dir
}

func copyAny(to, from string) error {
	if info, err := os.Stat(from); err != nil || info.IsDir() {
		return errors.Join(err, os.CopyFS(to, os.DirFS(from)))
	}
	b, err := os.ReadFile(from)
	if err != nil {
		return err
	}
	return os.WriteFile(to, b, 0o644)
}

// recipe is a store before it is written.
type recipe struct {
	base     string // file or folder name
	schema   *store.Schema
	put      func(p *putter)
	secrets  []string
	compress string
	strays   map[string]string // files laid beside it that nobody wrote through a codec
	foreign  int64
}

func (r recipe) make(t *testing.T, reg *formats.Registry, f *formats.Format, dir string) string {
	t.Helper()
	base := r.base
	if base == "" {
		base = "store"
	}
	origin := reg.Lookup(r.schema.Origin).Records
	b := formats.Build{Path: filepath.Join(dir, base), Flat: true, Schema: r.schema, Compress: r.compress, Shard: origin.Shard, Lists: origin.Lists}
	w, err := f.Records.Create(context.Background(), b)
	if err != nil {
		t.Fatal(err)
	}
	p := &putter{w: w}
	r.put(p)
	p.flush()
	if err := errors.Join(p.err, w.Finish(context.Background()), w.Close()); err != nil {
		t.Fatal(err)
	}
	for name, text := range r.strays {
		name = filepath.Join(b.Path, filepath.FromSlash(name))
		if err := errors.Join(os.MkdirAll(filepath.Dir(name), 0o777), os.WriteFile(name, []byte(text), 0o666)); err != nil {
			t.Fatal(err)
		}
	}
	return b.Path
}

// littered is a store whose folder holds copies that somebody made by hand.
func littered(r recipe, names ...string) recipe {
	r.strays = map[string]string{}
	for i, name := range names {
		if r.strays[name] = `{"blobEncryptionKey":"` + r.secrets[0] + `"}`; i == 0 {
			r.strays[name] = "SQLite format 3\x00" + r.strays[name]
		}
	}
	return r
}

// putter collects rows into batches.
type putter struct {
	w   store.Writer
	b   *store.Batch
	err error
}

func (p *putter) row(set int, id int64, cells ...store.Cell) {
	if p.b != nil && (p.b.Set != set || p.b.Full()) {
		p.flush()
	}
	if p.b == nil {
		p.b = store.NewBatch(set, len(cells))
	}
	p.b.Row(id)
	for _, c := range cells {
		p.b.Add(c)
	}
}

func (p *putter) flush() {
	if p.b != nil {
		p.err = errors.Join(p.err, p.w.Put(context.Background(), p.b))
		p.b = nil
	}
}

func text(s string) store.Cell { return store.TextCell([]byte(s)) }
func blob(s string) store.Cell { return store.BlobCell([]byte(s)) }

func pragmas(mode string) store.Pragmas {
	return store.Pragmas{PageSize: 4096, Encoding: "UTF-8", JournalMode: mode}
}

func table(name, sql string) store.Object {
	return store.Object{Type: "table", Name: name, Table: name, SQL: sql}
}

// oddities holds every class of cell and every kind of table.
func oddities(encoding string) recipe {
	d := store.Database{Pragmas: store.Pragmas{PageSize: 1024, Encoding: encoding, AutoVacuum: 2, JournalMode: "delete", UserVersion: -7, ApplicationID: 0x72656831}}
	d.Objects = []store.Object{
		table("cells", `CREATE TABLE cells (a, "b <&>" , c DATETIME)`),
		table("keyed", "CREATE TABLE keyed (id INTEGER PRIMARY KEY AUTOINCREMENT, v TEXT)"),
		table("sqlite_sequence", "CREATE TABLE sqlite_sequence(name,seq)"),
		table("Wörter", `CREATE TABLE "Wörter" (k TEXT PRIMARY KEY, v ANY) STRICT, WITHOUT ROWID`),
		table("none", "CREATE TABLE none (x)"),
		{Type: "index", Name: "by_v", Table: "keyed", SQL: "CREATE INDEX by_v ON keyed (v) WHERE v IS NOT NULL"},
		{Type: "view", Name: "seen", Table: "seen", SQL: "CREATE VIEW seen AS SELECT v FROM keyed"},
		{Type: "trigger", Name: "gone", Table: "keyed", SQL: "CREATE TRIGGER gone AFTER INSERT ON keyed BEGIN DELETE FROM keyed; END"},
	}
	schema := &store.Schema{Origin: "sqlite", Databases: []store.Database{d}, Sets: []store.Set{
		{Name: "cells", Columns: []string{"a", "b <&>", "c"}, RowIDs: true},
		{Name: "keyed", Columns: []string{"id", "v"}},
		{Name: "sqlite_sequence", Columns: []string{"name", "seq"}, RowIDs: true},
		{Name: "Wörter", Columns: []string{"k", "v"}},
		{Name: "none", Columns: []string{"x"}, RowIDs: true},
	}}
	return recipe{schema: schema, put: func(p *putter) {
		for i, c := range oddCells(encoding == "UTF-8") {
			p.row(0, int64(i)*int64(i)-50, c, store.NullCell(), text("2026-01-01"))
		}
		p.row(0, math.MaxInt64, store.NullCell(), store.NullCell(), store.NullCell())
		p.row(1, 0, store.IntCell(-5), text("five"))
		p.row(1, 0, store.IntCell(1<<60), store.NullCell())
		p.row(2, 1, text("keyed"), store.IntCell(1<<60+9))
		p.row(3, 0, text("A"), store.RealCell(1.5))
		p.row(3, 0, text("a"), blob(`{"a":1}`))
	}}
}

// oddCells are values that are easily changed on the way. What is not valid
// UTF-8 has no place in a UTF-16 database.
func oddCells(utf8 bool) []store.Cell {
	cells := []store.Cell{
		store.NullCell(), store.IntCell(0), store.IntCell(math.MinInt64), store.IntCell(1<<53 + 1),
		store.RealCell(1), store.RealCell(math.Copysign(0, -1)), store.RealCell(math.Inf(1)), store.RealCell(math.Inf(-1)),
		store.RealCell(5e-324), store.RealCell(1e300), store.RealCell(0.1),
		text(""), text("123"), text("line\u2028\u0085\r\n\t\x7f\x01"), text("漢字 \U0001F600 <b>&amp;"), text("null"), text(`{"blob64":"AA=="}`),
		text(`{"a":1,"a":1.0,"s":"\ud800","e":1e-07}`), text("[1, 2 ]"), text(" {}"), text("{}\n"), text(`{"rehome":"rehome:withheld"}`),
		text(hex.EncodeToString([]byte(`{"x":[1]}`))), text(strings.ToUpper(hex.EncodeToString([]byte(`{"x":[1]}`)))), text("7b7"),
		blob(""), blob("\x00\xff"), blob(`{"b":"<&>"}`), blob("text"), blob(strings.Repeat("[", 600) + strings.Repeat("]", 600)),
		blob(strings.Repeat("long ", 5000)),
	}
	if utf8 {
		cells = append(cells, text("\xff\xfe"), text("a\x00b"), text("{\"a\":\"\xff\"}"), text("\xed\xa0\x80"))
	}
	return cells
}

func empty() recipe {
	return recipe{
		schema: &store.Schema{Origin: "sqlite", Databases: []store.Database{{Pragmas: pragmas("delete"), Objects: []store.Object{table("t", "CREATE TABLE t (x)")}}}, Sets: []store.Set{{Name: "t", Columns: []string{"x"}, RowIDs: true}}},
		put:    func(*putter) {},
	}
}

// many makes a store of several batches.
func many() recipe {
	schema := &store.Schema{Origin: "sqlite", Databases: []store.Database{{Pragmas: pragmas("delete"), Objects: []store.Object{table("t", "CREATE TABLE t (x, y)")}}}, Sets: []store.Set{{Name: "t", Columns: []string{"x", "y"}, RowIDs: true}}}
	return recipe{schema: schema, put: func(p *putter) {
		for i := range 4000 {
			p.row(0, int64(i)*40, text(fmt.Sprintf(`{"n":%d,"text":%q}`, i, strings.Repeat("word ", i%400))), store.IntCell(int64(i)))
		}
	}}
}

const (
	chatSecret = "c2VjcmV0IG9mIHRoZSBjaGF0"
	ideSecret  = "eyJ0b2tlbiBvZiB0aGUgaWRl"
	sdkSecret  = "a2V5IG9mIHRoZSBzZGsgYWdl"
)

func chatSchema(path string) *store.Schema {
	return &store.Schema{Origin: "cursor-chat",
		Databases: []store.Database{{Path: path, Pragmas: pragmas("wal"), Objects: []store.Object{
			table("blobs", "CREATE TABLE blobs (id TEXT PRIMARY KEY, data BLOB)"), table("meta", "CREATE TABLE meta (key TEXT PRIMARY KEY, value TEXT)"),
		}}},
		Sets: []store.Set{{File: path, Name: "blobs", Columns: []string{"id", "data"}, RowIDs: true}, {File: path, Name: "meta", Columns: []string{"key", "value"}, RowIDs: true}},
	}
}

func putChat(p *putter) {
	for i := range 40 {
		p.row(0, int64(i+1), text(fmt.Sprintf("%064x", i*7919)), blob(fmt.Sprintf(`{"role":"user","id":"%d","content":[{"type":"text","text":"hello"}]}`, i)))
	}
	p.row(0, 41, text(strings.Repeat("f", 64)), store.BlobCell(append([]byte{0x0a, 0x20}, bytes.Repeat([]byte{0xab}, 32)...)))
	p.row(1, 1, text("0"), text(hex.EncodeToString([]byte(`{"agentId":"a","latestRootBlobId":"b","blobEncryptionKey":"`+chatSecret+`","name":"n"}`))))
}

// openCode is a database of OpenCode with what must not be in text.
func openCode() recipe {
	const secret = "a-key-of-a-provider"
	schema := &store.Schema{Origin: "opencode", Databases: []store.Database{{Pragmas: pragmas("wal")}}}
	for _, t := range [][]string{{"session", "id", "directory", "title", "time_created"}, {"message", "id", "session_id", "time_created", "data"},
		{"part", "id", "message_id", "session_id", "data"}, {"project", "id", "worktree"}, {"credential", "id", "label", "value"}} {
		d := &schema.Databases[0]
		d.Objects = append(d.Objects, table(t[0], "CREATE TABLE "+t[0]+" ("+strings.Join(t[1:], ", ")+")"))
		schema.Sets = append(schema.Sets, store.Set{Name: t[0], Columns: t[1:], RowIDs: true})
	}
	return recipe{base: "opencode.db", schema: schema, secrets: []string{secret}, foreign: 2, put: func(p *putter) {
		p.row(0, 1, text("ses_1"), text("/w"), text("One"), store.IntCell(1))
		for i := range int64(20) {
			p.row(1, i+1, text(fmt.Sprintf("msg_%02d", i)), text("ses_1"), store.IntCell(i), text(`{"role":"user"}`))
		}
		for i := range int64(20) {
			p.row(2, i+1, text(fmt.Sprintf("prt_%02d", i)), text(fmt.Sprintf("msg_%02d", i)), text("ses_1"), text(`{"type":"text","text":"hello"}`))
		}
		p.row(3, 1, text("global"), text("/"))
		p.row(4, 1, text("c"), text("work"), text(secret))
	}}
}

func ideState() recipe {
	schema := &store.Schema{Origin: "cursor-ide",
		Databases: []store.Database{{Pragmas: pragmas("wal"), Objects: []store.Object{
			table("ItemTable", "CREATE TABLE ItemTable (key TEXT UNIQUE ON CONFLICT REPLACE, value BLOB)"), table("cursorDiskKV", "CREATE TABLE cursorDiskKV (key TEXT UNIQUE ON CONFLICT REPLACE, value BLOB)"),
		}}},
		Sets: []store.Set{{Name: "ItemTable", Columns: []string{"key", "value"}, RowIDs: true}, {Name: "cursorDiskKV", Columns: []string{"key", "value"}, RowIDs: true}},
	}
	return recipe{base: "state.vscdb", schema: schema, secrets: []string{ideSecret}, foreign: 4, put: func(p *putter) {
		p.row(0, 1, text("aiCodeTrackingLines"), text("[]"))
		p.row(0, 3, text("cursorAuth/accessToken"), text(ideSecret))
		p.row(0, 4, text("secret://x"), blob(ideSecret))
		p.row(0, 9, text("window.zoom"), text("1.0"))
		for i := range 30 {
			id := fmt.Sprintf("0000000%d-0000-4000-8000-000000000000", i%3)
			p.row(1, int64(i*2+1), text(fmt.Sprintf("bubbleId:%s:%d", id, i)), text(fmt.Sprintf(`{"_v":3,"type":%d,"text":"hi"}`, i%2+1)))
		}
		p.row(1, 100, text("composerData:00000000-0000-4000-8000-000000000000"), text(`{"_v":9,"blobEncryptionKey":"`+ideSecret+`","speculativeSummarizationEncryptionKey": "`+ideSecret+`"}`))
		p.row(1, 101, text("composerData:none"), store.NullCell())
	}}
}

func sdk() recipe {
	agent := "agents/agent-" + strings.Repeat("0a", 32) + "/store.db"
	schema := chatSchema(agent)
	schema.Origin = "cursor-sdk"
	index := store.Database{Path: "index.db", Pragmas: pragmas("wal"), Objects: []store.Object{
		table("agents", "CREATE TABLE agents (agent_id TEXT PRIMARY KEY, metadata_json TEXT)"),
		table("run_events", "CREATE TABLE run_events (run_id TEXT NOT NULL, seq INTEGER NOT NULL, payload_json TEXT, PRIMARY KEY (run_id, seq)) WITHOUT ROWID"),
	}}
	schema.Databases = append(schema.Databases, index)
	schema.Sets = append(schema.Sets,
		store.Set{File: "index.db", Name: "agents", Columns: []string{"agent_id", "metadata_json"}, RowIDs: true},
		store.Set{File: "index.db", Name: "run_events", Columns: []string{"run_id", "seq", "payload_json"}},
		store.Set{File: "agent-transcripts/a/a.jsonl", Kind: store.Plain, Columns: []string{"bytes"}})
	return recipe{base: "root", schema: schema, secrets: []string{chatSecret, sdkSecret}, put: func(p *putter) {
		putChat(p)
		p.row(2, 1, text("a"), text(`{"blobEncryptionKey":"`+sdkSecret+`"}`))
		for i := range 50 {
			p.row(3, 0, text(fmt.Sprintf("run-%d", i/20)), store.IntCell(int64(i%20)), text(`{"type":"text-delta"}`))
		}
		p.row(4, 0, blob("{\"role\":\"user\"}\n"))
	}}
}

// documents are agents of the Cursor SDK as lines, which both of its formats
// can be made of.
func documents() recipe {
	schema := &store.Schema{Origin: "cursor-sdk"}
	for _, name := range []string{"agents.ndjson", "runs.ndjson", "run_events.ndjson", "checkpoints.ndjson"} {
		schema.Sets = append(schema.Sets, store.Set{File: name, Kind: store.Lines, Columns: []string{"json"}})
	}
	schema.Sets = append(schema.Sets, store.Set{File: "agent-transcripts/a/a.jsonl", Kind: store.Plain, Columns: []string{"bytes"}})
	return recipe{base: "agents", schema: schema, put: func(p *putter) {
		id := strings.Repeat("ab", 32)
		for i, name := range []string{"a", "b"} {
			p.row(0, int64(i)+1, text(`{"agentId":"`+name+`","cwd":"/w","status":"idle","activeRunId":null,"name":"N","createdAt":1780567200000,"updatedAt":1780567265006,"sdkMetadata":{},"latestCheckpoint":{"schemaVersion":1,"rootBlobId":"`+id+`"}}`))
		}
		p.row(1, 1, text(`{"runId":"r","requestId":null,"agentId":"a","turnNumber":1,"status":"finished","model":{"id":"m"},"result":"done","error":null,"usageRef":null,"usage":null,"createdAt":1,"updatedAt":2,"startedAt":3,"endedAt":4,"startCheckpointRef":null,"latestCheckpointRef":null}`))
		p.row(1, 2, text(`{"runId":"s","agentId":"b","turnNumber":1,"status":"error","endedAt":4,"new":true}`)) // what SQLite has no room for
		for i := range 200 {
			p.row(2, int64(i)+1, text(fmt.Sprintf(`{"runId":"r","seq":%d,"offset":"%d","eventType":"run_stream_event","payload":{"n":%d},"payloadRef":null,"idempotencyKey":null,"createdAt":"2026-06-04T10:00:00.010Z"}`, i+1, i+1, i)))
		}
		for i, name := range []string{"a", "b", "a"} {
			p.row(3, int64(i)+1, text(fmt.Sprintf(`{"agentId":"%s","blobId":"%064x","dataBase64":"AAE="}`, name, i)))
		}
		p.row(4, 0, blob("{\"role\":\"user\"}\n"))
	}}
}

func packed(r recipe, compress string) recipe {
	r.compress = compress
	return r
}

// withheld is a text whose secrets stayed at home.
func withheld() recipe {
	r := ideState()
	r.base, r.secrets = "", nil
	r.put = func(p *putter) {
		p.row(0, 1, text("aiCodeTrackingLines"), text("[]"))
		p.row(0, 3, text("cursorAuth/accessToken"), store.WithheldCell())
		p.row(1, 100, text("composerData:x"), text(`{"_v":9,"blobEncryptionKey":"rehome:withheld","z":1}`))
	}
	return r
}

// collated is a text whose secrets stayed at home, of tables without row ids
// whose rows stand in an order of their own.
func collated() recipe {
	r := recipe{schema: &store.Schema{Origin: "cursor-ide", Databases: []store.Database{{Pragmas: pragmas("delete"), Objects: []store.Object{
		table("ItemTable", "CREATE TABLE ItemTable (key TEXT PRIMARY KEY COLLATE NOCASE, value BLOB) WITHOUT ROWID"),
		table("cursorDiskKV", "CREATE TABLE cursorDiskKV (key TEXT, n, value BLOB, PRIMARY KEY (n, key DESC)) WITHOUT ROWID"),
	}}}, Sets: []store.Set{{Name: "ItemTable", Columns: []string{"key", "value"}}, {Name: "cursorDiskKV", Columns: []string{"key", "n", "value"}}}}}
	r.put = func(p *putter) {
		for _, key := range []string{"a", "b", "c", "Cursor", "cursorAuth/a", "CursorAuth/B", "cursorAuth/c", "CURSORAuth2", "d", "Secret", "SECRET://1", "secret://2", "Z"} {
			p.row(0, 0, text(key), guarded(key))
		}
		for n := range int64(3) {
			for _, key := range []string{"z", "secret://z", "secret://a", "sec", "cz", "cursorAuth/x", "c", "SECRET://"} {
				p.row(1, 0, text(key), store.IntCell(n), guarded(key))
			}
		}
	}
	return r
}

func guarded(key string) store.Cell {
	if strings.Contains(key, "/") {
		return store.WithheldCell()
	}
	return text(key)
}
