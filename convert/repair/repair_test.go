package repair_test

import (
	"context"
	"database/sql"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"rehome/convert/repair"
	"rehome/formats"
	"rehome/formats/all"
	"rehome/formats/rule"
	"rehome/internal/fsx"
	"rehome/testdata/faults"
)

// TestGenuine: what real clients wrote comes back byte for byte.
func TestGenuine(t *testing.T) {
	known := &faults.Samples{Dir: t.TempDir(), Testdata: "../../testdata"}
	for _, name := range []string{"chat", "sdk", "sdk-closed", "sdk-legacy", "sdk-play", "ndjson", "ndjson-play", "ndjson-closed", "ndjson-split", "archive", "archive-packed",
		"claude-sound", "claude-long", "claude-versions", "transcripts-sound", "canonical", "codex", "ide/tools", "ide/files", "stream/tools.jsonl", "sqlite"} {
		t.Run(name, func(t *testing.T) {
			src, err := known.Fresh(t.Context(), name)
			if err != nil {
				t.Fatal(err)
			}
			dst := filepath.Join(t.TempDir(), filepath.Base(src))
			r, err := repair.Repair(t.Context(), all.Registry(), src, dst, repair.Options{})
			if err != nil {
				t.Fatal(err)
			}
			if r.Acts() > 0 || !fsx.SameTree(src, dst) {
				t.Errorf("%d acts; the copy differs: %t", r.Acts(), !fsx.SameTree(src, dst))
			}
		})
	}
}

// TestWays: each rule about damage has one way, in formats that have the rule and that
// repair.
func TestWays(t *testing.T) {
	ways := map[string]repair.Way{}
	for _, w := range repair.Ways() {
		if _, twice := ways[w.Rule.ID]; twice {
			t.Errorf("%s is listed twice", w.Rule.ID)
		}
		ways[w.Rule.ID] = w
		if w.Rule.Severity == rule.Note {
			t.Errorf("%s is a note", w.Rule.ID)
		}
		if len(w.Formats) == 0 && w.Loses != "" || w.Does == "" {
			t.Errorf("%s: %+v", w.Rule.ID, w)
		}
		for _, name := range w.Formats {
			if f := lookup(name); f == nil || f.Repair == nil || !w.Rule.AppliesTo(name) {
				t.Errorf("%s: not repaired in %s", w.Rule.ID, name)
			}
		}
	}
	for _, r := range rule.All() {
		loss := slices.Equal(r.Formats, []string{"*"}) && r.Layer == rule.Meaning // of another client
		if _, ok := ways[r.ID]; !ok && r.Severity > rule.Note && !loss {
			t.Errorf("%s: nothing says how it is repaired, or why not", r.ID)
		}
	}
}

// one is a session of Claude Code whose last line is incomplete.
const one = `{"parentUuid":null,"isSidechain":false,"type":"user","message":{"role":"user","content":"hi"},"uuid":"00000000-0000-4000-8000-000000000001","timestamp":"2026-01-01T00:00:01.000Z","cwd":"/work","sessionId":"5d0b2b7e-2222-4000-8000-000000000000"}
{"parentUuid":"00000000`

const sessionName = "5d0b2b7e-2222-4000-8000-000000000000.jsonl"

// TestLinks: a repair follows no link out of its copy, and copies links as links.
func TestLinks(t *testing.T) {
	dir := t.TempDir()
	outside := filepath.Join(dir, "outside.jsonl")
	project := filepath.Join(dir, "src", "projects", "-work")
	if err := errors.Join(os.WriteFile(outside, []byte(one), 0o600), os.MkdirAll(project, 0o700), os.Symlink(outside, filepath.Join(project, sessionName)),
		os.WriteFile(filepath.Join(project, strings.Replace(sessionName, "5d", "6d", 1)), []byte(strings.Split(one, "\n")[0]+"\n"), 0o600)); err != nil {
		t.Logf("no links here: %v", err) // Windows may not allow them
		return
	}
	if _, err := repair.Repair(t.Context(), all.Registry(), filepath.Join(dir, "src"), filepath.Join(dir, "dst"), repair.Options{}); err != nil {
		t.Fatal(err)
	}
	if b, _ := os.ReadFile(outside); string(b) != one {
		t.Error("the file behind the link changed")
	}
	if to, err := os.Readlink(filepath.Join(dir, "dst", "projects", "-work", sessionName)); err != nil || to != outside {
		t.Errorf("the link became %q, %v", to, err)
	}
}

// TestLinkedNeighbor: a repair of one file does not change another one behind a link: the
// catalog of an agent, or the description of a subagent.
func TestLinkedNeighbor(t *testing.T) {
	for _, c := range []struct{ sample, linked, query, pattern, from, to string }{
		{"sdk-closed", "index.db", "DELETE FROM runs; DELETE FROM agents", "", "", ""},
		{"claude-sound", "projects/*/*4/subagents", "", "projects/*/*4.jsonl", `"t1"`, `"t:1"`},
	} {
		known := &faults.Samples{Dir: t.TempDir(), Testdata: "../../testdata"}
		src, err := known.Fresh(t.Context(), c.sample)
		if err != nil {
			t.Fatal(err)
		}
		files, err := filepath.Glob(filepath.Join(src, filepath.FromSlash(c.linked)))
		if err != nil || len(files) != 1 {
			t.Fatalf("%v, %v", files, err)
		}
		if c.query != "" {
			db, err := sql.Open("sqlite", "file:"+filepath.ToSlash(files[0]))
			if err != nil {
				t.Fatal(err)
			}
			if _, err := db.Exec(c.query); errors.Join(err, db.Close()) != nil {
				t.Fatal(err)
			}
		}
		for _, pattern := range []string{c.pattern, c.linked + "/agent-a1.meta.json"} {
			list, _ := filepath.Glob(filepath.Join(src, filepath.FromSlash(pattern)))
			for _, at := range list {
				if b, err := os.ReadFile(at); err == nil && c.from != "" {
					os.WriteFile(at, []byte(strings.ReplaceAll(string(b), c.from, c.to)), 0o600)
				}
			}
		}
		outside := filepath.Join(t.TempDir(), "outside")
		if err := errors.Join(os.Rename(files[0], outside), os.Symlink(outside, files[0])); err != nil {
			t.Logf("no links here: %v", err) // Windows may not allow them
			return
		}
		kept := filepath.Join(t.TempDir(), "kept")
		if err := copyAll(outside, kept); err != nil {
			t.Fatal(err)
		}
		r, err := repair.Repair(t.Context(), all.Registry(), src, filepath.Join(t.TempDir(), "dst"), repair.Options{})
		if err != nil || c.from != "" && r.Acts() == 0 {
			t.Errorf("%s: %+v, %v", c.linked, r, err)
		}
		if !fsx.SameTree(kept, outside) {
			t.Errorf("%s: what the link leads to changed", c.linked)
		}
	}
}

// copyAll copies a file or a folder.
func copyAll(from, to string) error {
	if info, err := os.Stat(from); err != nil || info.IsDir() {
		return os.CopyFS(to, os.DirFS(from))
	}
	return fsx.Copy(from, to, 0o600)
}

// TestPlacing: what exists is kept, a dry run writes nothing, and the same source gives
// the same bytes.
func TestPlacing(t *testing.T) {
	dir := t.TempDir()
	src, dst := filepath.Join(dir, sessionName), filepath.Join(dir, "x", "deep", sessionName)
	if err := os.WriteFile(src, []byte(one), 0o600); err != nil {
		t.Fatal(err)
	}
	run := func(o repair.Options) (*repair.Report, error) {
		return repair.Repair(t.Context(), all.Registry(), src, dst, o)
	}
	if r, err := run(repair.Options{DryRun: true}); err != nil || r.Acts() != 1 || r.Placed {
		t.Fatalf("%+v, %v", r, err)
	}
	if _, err := os.Lstat(filepath.Dir(filepath.Dir(dst))); err == nil {
		t.Fatal("a dry run wrote something")
	}
	if r, err := run(repair.Options{}); err != nil || !r.Placed || r.Acts() != 1 || r.Left() != 0 {
		t.Fatalf("%+v, %v", r, err)
	}
	first, err := os.ReadFile(dst)
	if want := strings.Split(one, "\n")[0] + "\n"; err != nil || string(first) != want {
		t.Errorf("%q, %v", first, err)
	}
	if info, err := os.Stat(dst); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("mode %v, %v", info.Mode(), err)
	}
	if _, err := run(repair.Options{}); !errors.Is(err, formats.ErrExists) {
		t.Errorf("%v", err)
	}
	if r, err := run(repair.Options{Replace: true}); err != nil || r.Backup != dst+".bak-1" || !fsx.SameTree(dst, dst+".bak-1") {
		t.Errorf("%+v, %v", r, err)
	}
	for _, to := range []string{src, filepath.Join(src, "inside")} {
		if _, err := repair.Repair(t.Context(), all.Registry(), src, to, repair.Options{Replace: true}); err == nil {
			t.Errorf("%s was allowed", to)
		}
	}
	ctx, stop := context.WithCancel(t.Context())
	stop()
	if _, err := repair.Repair(ctx, all.Registry(), src, filepath.Join(dir, "never"), repair.Options{}); !errors.Is(err, context.Canceled) {
		t.Errorf("%v", err)
	}
	list, err := os.ReadDir(dir)
	if err != nil || len(list) != 2 {
		t.Errorf("left %v, %v", list, err)
	}
}

// TestSubagentCall: an id of a call that is replaced is replaced in the file that
// describes the subagent, too.
func TestSubagentCall(t *testing.T) {
	known := &faults.Samples{Dir: t.TempDir(), Testdata: "../../testdata"}
	src, err := known.Fresh(t.Context(), "claude-sound")
	if err != nil {
		t.Fatal(err)
	}
	changed := 0
	for _, pattern := range []string{"projects/*/*4.jsonl", "projects/*/*4/subagents/agent-a1.meta.json"} {
		files, err := filepath.Glob(filepath.Join(src, filepath.FromSlash(pattern)))
		if err != nil || len(files) != 1 {
			t.Fatalf("%v, %v", files, err)
		}
		b, err := os.ReadFile(files[0])
		if err != nil {
			t.Fatal(err)
		}
		text := strings.ReplaceAll(string(b), `"t1"`, `"t:1"`)
		changed += strings.Count(text, `"t:1"`)
		if err := os.WriteFile(files[0], []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	dst := filepath.Join(t.TempDir(), "dst")
	r, err := repair.Repair(t.Context(), all.Registry(), src, dst, repair.Options{})
	if err != nil || r.Acts() != 1 || r.Left() != 0 {
		t.Fatalf("%+v, %v", r, err)
	}
	if left := findings(t, dst, rule.Warning); changed < 3 || len(left) > 0 {
		t.Errorf("%d ids; left %v", changed, left)
	}
}

// TestNewestState: an agent whose newest state is missing gets the one before it.
func TestNewestState(t *testing.T) {
	const latest = "(SELECT json_extract(latest_checkpoint_ref_json, '$.blobId') FROM agents WHERE agent_id LIKE 'agent-b9%')"
	known := &faults.Samples{Dir: t.TempDir(), Testdata: "../../testdata"}
	src, err := known.Fresh(t.Context(), "sdk-closed")
	if err != nil {
		t.Fatal(err)
	}
	dst := filepath.Join(t.TempDir(), "dst")
	one := func(dir, query string) (n int64, err error) {
		stores, err := filepath.Glob(filepath.Join(dir, "agents", "agent-ed*", "store.db"))
		if err != nil || len(stores) != 1 {
			return 0, errors.New("no store.db")
		}
		db, err := sql.Open("sqlite", "file:"+filepath.ToSlash(filepath.Join(dir, "index.db")))
		if err != nil {
			return 0, err
		}
		defer db.Close()
		db.SetMaxOpenConns(1)
		if _, err := db.Exec("ATTACH ?1 AS s", stores[0]); err != nil {
			return 0, err
		}
		if !strings.HasPrefix(query, "SELECT") {
			_, err = db.Exec(query)
			return 0, err
		}
		return n, db.QueryRow(query).Scan(&n)
	}
	row := "SELECT rowid FROM s.blobs WHERE id=" + latest
	was, err := one(src, row)
	if err != nil {
		t.Fatal(err)
	}
	first, err := one(src, "SELECT b.rowid FROM s.blobs b, runs r WHERE b.id=json_extract(r.latest_checkpoint_ref_json, '$.blobId') AND r.agent_id LIKE 'agent-b9%' AND r.turn_number=1")
	if err != nil || first >= was {
		t.Fatalf("%d, %d, %v", first, was, err)
	}
	if _, err := one(src, "DELETE FROM s.blobs WHERE rowid="+strconv.FormatInt(was, 10)); err != nil {
		t.Fatal(err)
	}
	if _, err := repair.Repair(t.Context(), all.Registry(), src, dst, repair.Options{}); err != nil {
		t.Fatal(err)
	}
	if now, err := one(dst, row); err != nil || now != first {
		t.Errorf("state in row %d, %v; want that of the first run, in row %d", now, err, first)
	}
}

// TestRootIsNull: a root that is null becomes the newest state, not an empty chat.
func TestRootIsNull(t *testing.T) {
	known := &faults.Samples{Dir: t.TempDir(), Testdata: "../../testdata"}
	src, err := known.Fresh(t.Context(), "chat")
	if err != nil {
		t.Fatal(err)
	}
	const doc = "CAST(unhex(value) AS TEXT)"
	root := func(dir, statement string) (root string) {
		t.Helper()
		files, err := filepath.Glob(filepath.Join(dir, "chats", "*", "*", "store.db"))
		if err != nil || len(files) != 1 {
			t.Fatalf("%v, %v", files, err)
		}
		db, err := sql.Open("sqlite", "file:"+filepath.ToSlash(files[0]))
		if err != nil {
			t.Fatal(err)
		}
		defer db.Close()
		if err := db.QueryRow("SELECT json_extract(" + doc + ", '$.latestRootBlobId') FROM meta").Scan(&root); err != nil {
			t.Fatal(err)
		}
		if _, err := db.Exec(statement); err != nil {
			t.Fatal(err)
		}
		return root
	}
	was := root(src, "UPDATE meta SET value=lower(hex(json_set("+doc+", '$.latestRootBlobId', NULL)))")
	dst := filepath.Join(t.TempDir(), "dst")
	if _, err := repair.Repair(t.Context(), all.Registry(), src, dst, repair.Options{}); err != nil {
		t.Fatal(err)
	}
	if now := root(dst, "SELECT 1"); now != was || was == "" {
		t.Errorf("root %q, want %q", now, was)
	}
}

// TestDamagedLog: when a new database replaces one with a damaged log, the result says
// that the rest of the log is lost.
func TestDamagedLog(t *testing.T) {
	dir := t.TempDir()
	live, src := filepath.Join(dir, "live.db"), filepath.Join(dir, "src")
	db, err := sql.Open("sqlite", "file:"+filepath.ToSlash(live)+"?_pragma=journal_mode(wal)&_pragma=wal_autocheckpoint(0)&_pragma=page_size(4096)")
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	db.SetMaxOpenConns(1)
	for _, statement := range []string{"CREATE TABLE t(a)", "INSERT INTO t VALUES('x')", "PRAGMA wal_checkpoint(TRUNCATE)", "INSERT INTO t VALUES('y')", "INSERT INTO t VALUES('z')"} {
		if _, err := db.Exec(statement); err != nil {
			t.Fatal(err)
		}
	}
	b, err := os.ReadFile(live)
	log, lerr := os.ReadFile(live + "-wal")
	if err := errors.Join(err, lerr, os.Mkdir(src, 0o700)); err != nil {
		t.Fatal(err)
	}
	b[39]++ // unused pages that do not exist
	log[32+24+4000] ^= 1
	if err := errors.Join(os.WriteFile(filepath.Join(src, "a.db"), b, 0o600), os.WriteFile(filepath.Join(src, "a.db-wal"), log, 0o600)); err != nil {
		t.Fatal(err)
	}
	r, err := repair.Repair(t.Context(), all.Registry(), src, filepath.Join(dir, "dst"), repair.Options{})
	if err != nil || r.Acts() != 1 || !strings.Contains(r.Stores[0].Acts[0].Lost, "write-ahead log from where it is damaged") {
		t.Errorf("%+v, %v", r, err)
	}
}

// lookup returns the format with a name, or one of a family.
func lookup(name string) *formats.Format {
	for _, f := range all.Registry().All() {
		if f.Name == name || f.Family == name {
			return f
		}
	}
	return nil
}
