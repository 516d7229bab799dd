//go:build services

package postgres

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"rehome/cmd/rehome-fleet/adapter"
	"rehome/cmd/rehome-fleet/internal/home"
	"rehome/cmd/rehome-fleet/internal/home/hometest"
	"rehome/formats"
)

const gen, play = "../../../../testdata/sdk/gen/jsonl", "../../../../testdata/sdk/play/jsonl"

// server returns the URL of the server for tests.
func server(t *testing.T) *url.URL {
	t.Helper()
	u, err := url.Parse(os.Getenv("REHOME_TEST_POSTGRES"))
	if err != nil || u.Scheme == "" {
		t.Fatal("no server: run `make services`")
	}
	return u
}

// open returns a home whose schema, and its backups, are removed after the test.
func open(t *testing.T, name string) *Home {
	t.Helper()
	u := server(t)
	q := u.Query()
	name = fmt.Sprintf("rehome %d \"%s", os.Getpid(), name)
	q.Set("schema", name)
	u.RawQuery = q.Encode()
	h, err := New(u.String())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		drop := "set client_min_messages to error; drop schema if exists " + quote(name) + " cascade"
		for i := range 100 {
			drop += "; drop schema if exists " + quote(h.backup(i+1)) + " cascade"
		}
		run(t, drop)
	})
	return h
}

func quote(name string) string { return pgx.Identifier{name}.Sanitize() }

// run runs SQL and returns its last column as text.
func run(t *testing.T, sql string) (out []string) {
	t.Helper()
	c, err := pgconn.Connect(context.Background(), server(t).String())
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close(context.Background())
	results, err := c.Exec(context.Background(), sql).ReadAll()
	if err != nil {
		t.Fatalf("%s: %v", sql, err)
	}
	for _, r := range results {
		for _, row := range r.Rows {
			out = append(out, string(row[len(row)-1]))
		}
	}
	return out
}

func TestHome(t *testing.T) {
	hometest.Run(t, func(t *testing.T, name string) home.Home { return open(t, name) })
}

// The rows are what the adapter expects.
func TestRows(t *testing.T) {
	h := open(t, "rows")
	hometest.Same(t, h, play)
	s := "set search_path to " + quote(h.schema) + "; "
	for sql, wrong := range map[string]string{
		"agents":      "agent_id <> doc ->> 'agentId' or cwd <> doc ->> 'cwd' or updated_at <> (doc ->> 'updatedAt')::float or rev <> 1",
		"runs":        "run_id <> doc ->> 'runId' or agent_id <> doc ->> 'agentId' or turn_number <> (doc ->> 'turnNumber')::float or status <> doc ->> 'status'",
		"run_events":  "run_id <> doc ->> 'runId' or seq <> (doc ->> 'seq')::int or idempotency_key is distinct from doc ->> 'idempotencyKey'",
		"checkpoints": "blob_id <> encode(sha256(data), 'hex') or agent_id not in (select agent_id from agents)",
		"streams":     "last_seq is distinct from (select max(seq) from run_events e where e.run_id = streams.run_id)",
	} {
		if got := run(t, s+"select count(*) || ' ' || coalesce(sum(("+wrong+")::int), -1) from "+sql); strings.HasPrefix(got[0], "0") || !strings.HasSuffix(got[0], " 0") {
			t.Errorf("%s: %s wrong", sql, got[0])
		}
	}
}

// What clients add comes last, and the sidecar no longer belongs to the documents.
func TestAdded(t *testing.T) {
	h, dir := open(t, "added"), filepath.Join(t.TempDir(), "store")
	if err := errors.Join(os.CopyFS(dir, os.DirFS(play)), os.WriteFile(dir+formats.SidecarSuffix, []byte("{}\n"), 0o600)); err != nil {
		t.Fatal(err)
	}
	hometest.Same(t, h, dir)
	run(t, "insert into "+quote(h.schema)+`.agents (agent_id, doc) values ('new', '{"agentId":"new"}')`)
	out := filepath.Join(t.TempDir(), "out")
	if err := h.Fetch(t.Context(), out); err != nil {
		t.Fatal(err)
	}
	was, _ := os.ReadFile(dir + "/agents.ndjson")
	now, _ := os.ReadFile(out + "/agents.ndjson")
	if string(now) != string(was)+"{\"agentId\":\"new\"}\n" {
		t.Errorf("%s", now)
	}
	if _, err := os.Stat(out + formats.SidecarSuffix); err == nil {
		t.Error("a sidecar of other documents")
	}
	// A store that only clients have written to.
	run(t, "drop schema "+quote(h.schema)+" cascade; create schema "+quote(h.schema)+"; set search_path to "+quote(h.schema)+"; "+adapter.Schema+
		`; insert into runs (agent_id, run_id, doc) values ('a', 'r', '{"runId":"r"}')`)
	out = filepath.Join(t.TempDir(), "out")
	err := h.Fetch(t.Context(), out)
	files, _ := filepath.Glob(out + "/*")
	if text, _ := os.ReadFile(out + "/runs.ndjson"); err != nil || len(files) != 2 || string(text) != "{\"runId\":\"r\"}\n" {
		t.Errorf("%v %s %v", files, text, err)
	}
}

// A schema of somebody else is neither read nor replaced.
func TestForeign(t *testing.T) {
	for sql, want := range map[string]string{
		"create table other (x int)":                                            "no table agents",
		"create view agents as select 'a'::text agent_id":                       "no column agents.agent_id",
		"STORE; create table more (x int)":                                      "unknown table more",
		"STORE; alter table runs drop column turn_number":                       "no column runs.turn_number of type double precision",
		"STORE; alter table runs add column extra text":                         "unknown column runs.extra of type text",
		"STORE; alter table agents alter doc type jsonb":                        "agents.doc of type jsonb",
		"STORE; alter table leases rename to \"l\x1b[31m\"":                     "unknown table l",
		"STORE; update rehome set data = '{\"layout\":2}' where name = 'store'": "layout 2 is not supported",
	} {
		h := open(t, "foreign")
		script := "create schema if not exists " + quote(h.schema) + "; set search_path to " + quote(h.schema) + "; " + strings.TrimPrefix(sql, "STORE; ")
		if strings.HasPrefix(sql, "STORE") {
			hometest.Same(t, h, play)
		}
		run(t, script)
		err := h.Fetch(t.Context(), filepath.Join(t.TempDir(), "x"))
		if err == nil || !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), "\x1b") {
			t.Errorf("%s: %v", sql, err)
		}
		if _, err := h.Place(t.Context(), play, home.PlaceOptions{Replace: true}); !strings.Contains(sql, "layout") && (err == nil || !strings.Contains(err.Error(), want)) {
			t.Errorf("%s: placed: %v", sql, err)
		}
		run(t, "drop schema "+quote(h.schema)+" cascade")
	}
	h := open(t, "empty")
	run(t, "create schema "+quote(h.schema)+"; create function "+quote(h.schema)+`.format(text, name, name) returns text
		language plpgsql as $$ begin raise 'the owner of the schema runs this as whoever places a store'; end $$`) // made by an administrator
	hometest.Same(t, h, gen)
}

// A store in use is not replaced.
func TestBusy(t *testing.T) {
	h := open(t, "busy")
	hometest.Same(t, h, gen)
	run(t, "insert into "+quote(h.schema)+".leases values ('a', 'me', 1, now() + '1 hour')")
	if _, err := h.Place(t.Context(), play, home.PlaceOptions{Replace: true}); !errors.Is(err, formats.ErrBusy) || formats.Hint(err) == "" {
		t.Error(err)
	}
	run(t, "update "+quote(h.schema)+".leases set until = now() - interval '1 second'")
	hometest.Same(t, h, play)
}

func TestMain(m *testing.M) { hometest.Main(m, New) }

// Memory does not grow with a store.
func TestMany(t *testing.T) {
	h, address := open(t, "many"), server(t)
	q := address.Query()
	q.Set("schema", h.schema)
	address.RawQuery = q.Encode()
	hometest.Many(t, h, address.String(), 30_000)
}
