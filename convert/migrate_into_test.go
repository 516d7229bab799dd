package convert_test

import (
	"database/sql"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"rehome/convert"
	"rehome/convert/internal/undo"
	"rehome/convert/sessions"
	"rehome/formats"
	"rehome/formats/all"
	"rehome/formats/loss"
)

// sdkHome is a machine whose Claude Code sessions are migrated to the Cursor SDK.
type sdkHome struct {
	t         *testing.T
	home, cwd string
	source    string
	opts      convert.MigrateOptions
}

func newSDKHome(t *testing.T) *sdkHome {
	t.Helper()
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	h := &sdkHome{t: t, home: filepath.Join(dir, "home"), cwd: filepath.Join(dir, "work"), source: filepath.Join(dir, "claude", "20000000-0000-4000-8000-000000000001.jsonl")}
	for _, p := range []string{h.home, h.cwd, filepath.Dir(h.source)} {
		if err := os.MkdirAll(p, 0o700); err != nil {
			t.Fatal(err)
		}
	}
	b, err := os.ReadFile("../testdata/claude/config/projects/-home-ann-app/20000000-0000-4000-8000-000000000001.jsonl")
	if err == nil {
		err = os.WriteFile(h.source, b, 0o600)
	}
	if err != nil {
		t.Fatal(err)
	}
	h.opts = convert.MigrateOptions{To: "cursor-sdk", Dir: h.home, Cwd: h.cwd, UndoDir: filepath.Join(dir, "undo")}
	return h
}

// store returns where the SDK looks for the agents of the folder.
func (h *sdkHome) store() string {
	return all.Registry().Lookup("cursor-sdk").Home.Store(h.home, h.cwd)
}

// migrate migrates the session, and returns its result.
func (h *sdkHome) migrate(o convert.MigrateOptions) convert.Migrated {
	h.t.Helper()
	done, err := convert.Migrate(h.t.Context(), all.Registry(), []convert.MigrateSource{{Path: h.source}}, o)
	if err != nil || len(done.Migrated) != 1 {
		h.t.Fatalf("%+v, %v", done, err)
	}
	return done.Migrated[0]
}

// expect migrates, and compares the state, or the error.
func (h *sdkHome) expect(o convert.MigrateOptions, want string) convert.Migrated {
	h.t.Helper()
	m := h.migrate(o)
	got := m.Status
	if m.Err() != nil {
		got = m.Err().Error()
	}
	if !strings.Contains(got, want) {
		h.t.Fatalf("%s, want %s", got, want)
	}
	return m
}

// ids returns the sessions that the SDK would list.
func (h *sdkHome) ids() (out []string) {
	h.t.Helper()
	if _, err := os.Stat(h.store()); err != nil {
		return nil
	}
	list, err := sessions.List(h.t.Context(), all.Registry(), sessions.Options{Paths: []string{h.store()}})
	if err != nil {
		h.t.Fatal(err)
	}
	for _, s := range list.All() {
		out = append(out, s.ID)
	}
	slices.Sort(out)
	return out
}

// files returns all files below the home folder.
func (h *sdkHome) files() (out []string) {
	_ = filepath.WalkDir(h.home, func(p string, e os.DirEntry, err error) error {
		if err == nil && !e.IsDir() {
			out = append(out, p)
		}
		return nil
	})
	return out
}

func TestMigrateToSDK(t *testing.T) {
	h := newSDKHome(t)
	dry := h.opts
	dry.DryRun = true
	h.expect(dry, convert.Checked)
	if left := h.files(); len(left) > 0 {
		t.Fatalf("a dry run left %v", left)
	}
	first := h.expect(h.opts, convert.Placed)
	if first.Undo != 1 || first.Session != "agent-20000000-0000-4000-8000-000000000001" || first.Cwd != h.cwd {
		t.Errorf("%+v", first)
	}
	h.expect(h.opts, convert.Same)

	// Another session of the folder.
	again := h.opts
	again.Again = true
	second := h.expect(again, convert.Placed)
	if second.Undo != 2 || second.Session == first.Session {
		t.Errorf("%+v", second)
	}
	if got := h.ids(); len(got) != 2 {
		t.Fatalf("listed %v", got)
	}

	// The source has grown: only with Update, and never over a continued one.
	grow(t, h.source)
	h.expect(h.opts, "already exists: an older state of this session")
	update := h.opts
	update.Update = true
	third := h.expect(update, convert.Updated)
	if third.Undo != 3 {
		t.Errorf("%+v", third)
	}
	h.expect(update, convert.Same)
	sqlite(t, filepath.Join(h.store(), "index.db"), "INSERT INTO runs (run_id, agent_id, turn_number, status, created_at, updated_at) VALUES ('run-x', '"+first.Session+"', 99, 'FINISHED', '2026-01-01T00:00:00.000Z', '2026-01-01T00:00:00.000Z')")
	grow(t, h.source)
	h.expect(update, "already exists, and was continued there")

	// Undone in any order, as far as it is unchanged.
	report := h.undo("")
	if len(report.Kept) != 1 || report.ID != 3 {
		t.Errorf("%+v", report)
	}
	sqlite(t, filepath.Join(h.store(), "index.db"), "DELETE FROM runs WHERE run_id='run-x'")
	if report := h.undo("3"); len(report.Kept) != 0 || len(report.Restored) == 0 {
		t.Errorf("%+v", report)
	}
	if report := h.undo("1"); len(report.Kept) != 0 {
		t.Errorf("%+v", report)
	}
	if got := h.ids(); !slices.Equal(got, []string{second.Session}) {
		t.Errorf("listed %v", got)
	}
	if report := h.undo(""); report.ID != 2 || len(report.Kept) != 0 {
		t.Errorf("%+v", report)
	}
	if _, err := convert.Undo(t.Context(), all.Registry(), convert.UndoOptions{Dir: h.opts.UndoDir}); err == nil || formats.Hint(err) == "" {
		t.Errorf("nothing to undo: %v", err)
	}
	if left := h.ids(); len(left) > 0 {
		t.Errorf("left %v", left)
	}
}

// undo undoes a migration.
func (h *sdkHome) undo(id string) *convert.UndoReport {
	h.t.Helper()
	o := convert.UndoOptions{Dir: h.opts.UndoDir, ID: id, DryRun: true}
	dry, err := convert.Undo(h.t.Context(), all.Registry(), o)
	if err != nil {
		h.t.Fatal(err)
	}
	o.DryRun = false
	report, err := convert.Undo(h.t.Context(), all.Registry(), o)
	if err != nil {
		h.t.Fatal(err)
	}
	if !slices.Equal(dry.Restored, report.Restored) || !slices.Equal(dry.Kept, report.Kept) {
		h.t.Errorf("a dry run said %+v, the run %+v", dry, report)
	}
	return report
}

// grow appends a prompt to a session of Claude Code.
func grow(t *testing.T, path string) {
	t.Helper()
	growBy(t, path, "and then?")
}

// growBy appends this prompt.
func growBy(t *testing.T, path, prompt string) {
	t.Helper()
	growAs(t, path, "20000000-0000-4000-8000-000000000001", prompt)
}

// growAs appends a prompt to the session of this id.
func growAs(t *testing.T, path, session, prompt string) {
	t.Helper()
	f, err := os.OpenFile(path, os.O_RDWR|os.O_APPEND, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	b, err := io.ReadAll(f)
	if err != nil {
		t.Fatal(err)
	}
	last := ""
	for line := range strings.Lines(string(b)) {
		if _, after, ok := strings.Cut(line, `"uuid":"`); ok {
			last = after[:36]
		}
	}
	id := fmt.Sprintf("30000000-0000-4000-8000-%012d", len(b))
	_, err = f.WriteString(`{"parentUuid":"` + last + `","isSidechain":false,"userType":"external","cwd":"/home/ann/app","sessionId":"` + session + `","version":"2.0.1","gitBranch":"","type":"user","message":{"role":"user","content":"` + prompt + `"},"uuid":"` + id + `","timestamp":"2026-11-01T12:00:00.000Z"}` + "\n")
	if err != nil {
		t.Fatal(err)
	}
}

// sqlite changes a database as another program does.
func sqlite(t *testing.T, path, statement string) {
	t.Helper()
	db, err := sql.Open("sqlite", "file:"+filepath.ToSlash(path))
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	if _, err := db.Exec(statement); err != nil {
		t.Fatal(err)
	}
}

// TestMigrateLosesNUL: what a client could not read of an agent's title is replaced, and reported.
func TestMigrateLosesNUL(t *testing.T) {
	h := newSDKHome(t)
	h.source = filepath.Join(filepath.Dir(h.source), "nul.jsonl")
	text := `{"type":"session","version":1,"id":"n","agent":"claude-code","title":"a\u0000b"}
{"type":"message","id":"m","role":"user","parts":[{"type":"text","text":"hi"}]}
`
	if err := os.WriteFile(h.source, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	m := h.expect(h.opts, convert.Placed)
	if !slices.ContainsFunc(m.Losses, func(g loss.Group) bool { return g.Code == loss.TextRepaired }) {
		t.Errorf("losses: %+v", m.Losses)
	}
}

// TestUndoExcludes: nothing is undone while another process migrates.
func TestUndoExcludes(t *testing.T) {
	h := newSDKHome(t)
	h.expect(h.opts, convert.Placed)
	log, err := undo.Folder{Dir: h.opts.UndoDir}.Begin(undo.Record{})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := convert.Undo(t.Context(), all.Registry(), convert.UndoOptions{Dir: h.opts.UndoDir}); !errors.Is(err, formats.ErrBusy) {
		t.Errorf("undone during a migration: %v", err)
	}
	if err := log.Close(); err != nil {
		t.Fatal(err)
	}
	if r := h.undo(""); len(r.Kept) > 0 || len(h.ids()) > 0 {
		t.Errorf("%+v", r)
	}
}

// TestTranscriptLink: a link in place of a transcript stays, and what it leads to is written
// and restored. A link without a target is refused, and nothing changes.
func TestTranscriptLink(t *testing.T) {
	h := newSDKHome(t)
	h.expect(h.opts, convert.Placed)
	found := slices.DeleteFunc(h.files(), func(p string) bool { return filepath.Ext(p) != ".jsonl" })
	if len(found) != 1 {
		t.Fatal(found)
	}
	path, elsewhere := found[0], filepath.Join(t.TempDir(), "elsewhere")
	old, err := os.ReadFile(path)
	if err = errors.Join(err, os.Rename(path, elsewhere), os.Symlink(elsewhere, path)); err != nil {
		t.Fatal(err)
	}
	is := func(same bool) {
		t.Helper()
		if to, err := os.Readlink(path); err != nil || to != elsewhere {
			t.Errorf("the link leads to %q, %v", to, err)
		}
		if got, err := os.ReadFile(elsewhere); err != nil || (string(got) == string(old)) != same {
			t.Errorf("its target is %q, %v", got, err)
		}
	}
	grow(t, h.source)
	update := h.opts
	update.Update = true
	h.expect(update, convert.Updated)
	is(false)
	if r := h.undo(""); len(r.Kept) > 0 {
		t.Errorf("%+v", r)
	}
	is(true)
	if err := os.Remove(elsewhere); err != nil {
		t.Fatal(err)
	}
	if m := h.expect(update, "link without a target"); formats.Hint(m.Err()) == "" {
		t.Errorf("%v: no hint", m.Err())
	}
	if err := os.WriteFile(elsewhere, old, 0o600); err != nil {
		t.Fatal(err)
	}
	if r := h.undo(""); len(r.Kept) != 1 || r.Kept[0].Key != path && r.Kept[0].Key != elsewhere {
		t.Errorf("a link in place of a new file: %+v", r)
	}
}
