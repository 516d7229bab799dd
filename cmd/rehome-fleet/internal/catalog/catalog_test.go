//go:build services

package catalog

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"rehome/cmd/rehome-fleet/internal/tables"
	"rehome/formats/all"
	"rehome/formats/session"
)

// address returns the address of a new schema, and a connection.
func address(t *testing.T, schema string) (string, *pgx.Conn) {
	t.Helper()
	server := os.Getenv("REHOME_TEST_POSTGRES")
	if server == "" {
		t.Fatal("run `make services`")
	}
	c, err := pgx.Connect(t.Context(), server)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_, err := c.Exec(context.Background(), "DROP SCHEMA IF EXISTS "+pgx.Identifier{schema}.Sanitize()+" CASCADE")
		if err := errors.Join(err, c.Close(context.Background())); err != nil {
			t.Error(err)
		}
	})
	u, _ := url.Parse(server)
	q := u.Query()
	q.Set("schema", schema)
	u.RawQuery = q.Encode()
	return u.String(), c
}

func load(t *testing.T, src, to, machine string) *Report {
	t.Helper()
	rep, err := Load(t.Context(), all.Registry(), src, to, tables.Meta{Machine: machine}, Options{Jobs: 1})
	if err != nil {
		t.Fatal(err)
	}
	return rep
}

// counts returns the number of rows of each table.
func counts(t *testing.T, c *pgx.Conn, schema string) (out [4]int) {
	t.Helper()
	for i, name := range []string{"stores", "sessions", "losses", "findings"} {
		if err := c.QueryRow(t.Context(), "SELECT count(*) FROM "+pgx.Identifier{schema, name}.Sanitize()).Scan(&out[i]); err != nil {
			t.Fatal(err)
		}
	}
	return out
}

// write writes a session as canonical text.
func write(t *testing.T, path string, s *session.Session, texts ...string) {
	t.Helper()
	b := append(session.AppendHead(nil, s), '\n')
	for i, text := range texts {
		b = append(session.AppendMessage(b, &session.Message{ID: fmt.Sprint(i), Role: session.User, Parts: []session.Part{&session.Text{Text: text}}}), '\n')
	}
	if err := os.WriteFile(path, b, 0o600); err != nil {
		t.Fatal(err)
	}
}

// TestLoad loads the samples of all clients twice, from two machines, into a schema with a
// hostile name.
func TestLoad(t *testing.T) {
	schema := `cat"; drop schema public; --`
	to, c := address(t, schema)
	if _, err := c.Exec(t.Context(), "CREATE TABLE public.survivor_of_names ()"); err != nil {
		t.Fatal(err)
	}
	defer c.Exec(context.Background(), "DROP TABLE public.survivor_of_names")
	sessions := 0
	for _, src := range []string{"codex/home", "sdk", "claude/config"} {
		rep := load(t, testdata+src, to, "a")
		for _, s := range rep.Stores {
			if sessions += s.Sessions; s.Status != Loaded {
				t.Errorf("%+v", s)
			}
		}
		for _, s := range load(t, testdata+src, to, "a").Stores {
			if s.Status != Unchanged {
				t.Errorf("again: %+v", s)
			}
		}
	}
	was := counts(t, c, schema)
	if was[0] == 0 || was[1] != sessions || was[2] == 0 {
		t.Errorf("%v rows, %d sessions", was, sessions)
	}
	load(t, testdata+"sdk", to, "b")
	if now := counts(t, c, schema); now[1] <= was[1] || strings.Contains(to, "machine") {
		t.Errorf("another machine: %v after %v", now, was)
	}
	var n int
	if err := c.QueryRow(t.Context(), `SELECT count(*) FROM public.survivor_of_names`).Scan(&n); err != nil {
		t.Error(err)
	}
}

// TestNewer replaces what was loaded of a store, and keeps it if the store cannot be read.
func TestNewer(t *testing.T) {
	to, c := address(t, "newer")
	dir := t.TempDir()
	at, other := filepath.Join(dir, "s.jsonl"), filepath.Join(dir, "t.jsonl")
	s := &session.Session{Head: session.Head{ID: "s", Agent: "codex", Title: "a\x00b", Created: session.Stored(1700000000123)}}
	write(t, at, s, "one")
	write(t, other, &session.Session{Head: session.Head{ID: "t", Agent: "codex"}}, "x")
	twice, err := os.ReadFile(other)
	if err == nil { // a finding: the id of a message occurs twice
		_, message, _ := strings.Cut(string(twice), "\n")
		err = os.WriteFile(other, []byte(string(twice)+message), 0o600)
	}
	if err != nil {
		t.Fatal(err)
	}
	load(t, dir, to, "m")
	write(t, at, s, "one", "two")
	if rep := load(t, dir, to, "m"); rep.Stores[0].Status != Loaded || rep.Stores[1].Status != Unchanged {
		t.Errorf("%+v", rep.Stores)
	}
	var title string
	var messages, losses, n int64
	var created time.Time
	if err := c.QueryRow(t.Context(), `SELECT title, messages, losses, created_at FROM newer.sessions WHERE session_id = 's'`).Scan(&title, &messages, &losses, &created); err != nil {
		t.Fatal(err)
	}
	if err := c.QueryRow(t.Context(), `SELECT sum(count)::bigint FROM newer.losses WHERE code = 'L301'`).Scan(&n); err != nil {
		t.Fatal(err)
	}
	if title != "a\uFFFDb" || messages != 2 || losses != 1 || n != 1 || created.UnixMilli() != 1700000000123 {
		t.Errorf("%q, %d messages, %d losses (%d), %v", title, messages, losses, n, created)
	}
	if now := counts(t, c, "newer"); now != [4]int{2, 2, 1, 1} {
		t.Errorf("%v rows", now)
	}
}

// TestTogether has several loaders load the same stores at once, and states of them that
// differ: at the end there is each session once. Settings of the database do not matter.
func TestTogether(t *testing.T) {
	to, c := address(t, "together")
	evil, _ := address(t, "together_evil") // its cleanup
	_, err := c.Exec(t.Context(), `CREATE SCHEMA together_evil; CREATE FUNCTION together_evil.hashtextextended(text, integer) RETURNS bigint LANGUAGE sql AS 'SELECT 1/0::bigint'`)
	if u, parseErr := url.Parse(to); err != nil || parseErr != nil || evil == "" {
		t.Fatal(err, parseErr)
	} else {
		q := u.Query()
		q.Set("search_path", "together_evil,pg_catalog")
		q.Set("default_transaction_isolation", "serializable")
		u.RawQuery = q.Encode()
		to = u.String()
	}
	var wait sync.WaitGroup
	errs := make([]error, 6)
	for i := range errs {
		wait.Go(func() {
			dir := t.TempDir()
			for k := range 4 {
				write(t, filepath.Join(dir, fmt.Sprint(k, ".jsonl")), &session.Session{Head: session.Head{ID: fmt.Sprint(k), Agent: "codex"}}, make([]string, i%2+1)...)
			}
			_, errs[i] = Load(t.Context(), all.Registry(), dir, to, tables.Meta{Machine: "m"}, Options{Base: "/base"})
		})
	}
	wait.Wait()
	if err := errors.Join(errs...); err != nil {
		t.Fatal(err)
	}
	if now := counts(t, c, "together"); now[0] != 4 || now[1] != 4 {
		t.Errorf("%v rows", now)
	}
}

// TestPaths loads stores whose names are not UTF-8, and a folder through a link: each store
// is there once.
func TestPaths(t *testing.T) {
	to, c := address(t, "paths")
	parent := t.TempDir()
	dir, link := filepath.Join(parent, "dir"), filepath.Join(parent, "link")
	if err := errors.Join(os.Mkdir(dir, 0o700), os.Symlink(dir, link)); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"a\xfe.jsonl", "a\xff.jsonl"} {
		write(t, filepath.Join(dir, name), &session.Session{Head: session.Head{ID: "s", Agent: "codex"}}, "x")
	}
	load(t, dir, to, "m")
	for _, s := range load(t, link, to, "m").Stores {
		if s.Status != Unchanged || s.Sessions != 1 {
			t.Errorf("%+v", s)
		}
	}
	if now := counts(t, c, "paths"); now[0] != 2 || now[1] != 2 {
		t.Errorf("%v rows", now)
	}
}

// TestKilled ends the connection at each step of a load: there is the old state or the new
// one of each store, and loading again completes it.
func TestKilled(t *testing.T) {
	to, c := address(t, "killed")
	dir := t.TempDir()
	put := func(texts ...string) {
		for k := range 3 {
			write(t, filepath.Join(dir, fmt.Sprint(k, ".jsonl")), &session.Session{Head: session.Head{ID: fmt.Sprint(k), Agent: "codex"}}, texts...)
		}
	}
	put("one")
	load(t, dir, to, "m")
	put("one", "two")
	// The server ends the session that deletes or inserts rows of these tables.
	for _, step := range []string{"BEFORE DELETE ON killed.stores", "AFTER DELETE ON killed.sessions", "BEFORE INSERT ON killed.sessions", "AFTER INSERT ON killed.stores"} {
		_, err := c.Exec(t.Context(), `CREATE OR REPLACE FUNCTION killed.die() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
			PERFORM pg_terminate_backend(pg_backend_pid()); RETURN NULL; END $$; CREATE TRIGGER die `+step+` FOR EACH STATEMENT EXECUTE FUNCTION killed.die()`)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := Load(t.Context(), all.Registry(), dir, to, tables.Meta{Machine: "m"}, Options{}); err == nil {
			t.Errorf("%s: not killed", step)
		}
		if now := counts(t, c, "killed"); now[0] != 3 || now[1] != 3 {
			t.Errorf("%s: %v rows", step, now)
		}
		if _, err := c.Exec(t.Context(), "DROP FUNCTION killed.die() CASCADE"); err != nil {
			t.Fatal(err)
		}
	}
	load(t, dir, to, "m")
	var old int
	if err := c.QueryRow(t.Context(), "SELECT count(*) FROM killed.sessions WHERE messages <> 2").Scan(&old); err != nil || old > 0 {
		t.Errorf("%d old sessions, %v", old, err)
	}
}

// TestForeign refuses a schema that is not a catalog, and says no password.
func TestForeign(t *testing.T) {
	to, c := address(t, "foreign")
	if _, err := c.Exec(t.Context(), "CREATE SCHEMA \"foreign\"; CREATE TABLE \"foreign\".sessions ()"); err != nil {
		t.Fatal(err)
	}
	_, err := Load(t.Context(), all.Registry(), testdata+"chat", to, tables.Meta{}, Options{})
	if err == nil || !strings.Contains(err.Error(), "not a catalog") {
		t.Error(err)
	}
	u, _ := url.Parse(to)
	u.User = url.UserPassword("nobody", "s3cr%et@:/")
	for _, address := range []string{u.String(), "postgres://x:s3cr%et@:/@h/d", strings.Replace(u.String(), "://", "://%zz", 1)} {
		if _, err = Load(t.Context(), all.Registry(), testdata+"chat", address, tables.Meta{}, Options{}); err == nil || strings.Contains(err.Error(), "s3cr") {
			t.Error(err)
		}
	}
}
