//go:build services

package postgres

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"rehome/cmd/rehome-fleet/internal/home"
	"rehome/cmd/rehome-fleet/internal/home/hometest"
	"rehome/formats"
)

// Whatever ends a Place, the old store is there, or the new one.
func TestKilled(t *testing.T) {
	h := open(t, "killed")
	hometest.Same(t, h, gen)
	q := server(t).Query()
	q.Set("schema", h.schema)
	q.Set("application_name", "killed")
	address := server(t)
	address.RawQuery = q.Encode()
	place := func() *exec.Cmd { return hometest.Process(t, address.String(), play) }
	start := time.Now()
	if err := place().Wait(); err != nil {
		t.Fatal(err)
	}
	whole, placed := time.Since(start), 0
	hometest.Is(t, h, play)
	backups := func() int {
		return len(run(t, "select 1 from pg_namespace where nspname like "+"'%"+strings.ReplaceAll(h.schema, "'", "''")+"_bak_%'"))
	}
	const moments = 16
	for i := range 2 * moments {
		hometest.Same(t, h, gen)
		before := backups()
		cmd := place()
		time.Sleep(whole * time.Duration(i/2+1) / moments)
		if i%2 == 0 {
			_ = cmd.Process.Kill()
		} else {
			run(t, "select pg_terminate_backend(pid) from pg_stat_activity where application_name = 'killed'")
		}
		_ = cmd.Wait()
		for len(run(t, "select 1 from pg_stat_activity where application_name = 'killed'")) > 0 {
			time.Sleep(5 * time.Millisecond) // the server has not noticed yet
		}
		if backups() > before {
			placed++
			hometest.Is(t, h, play)
		} else {
			hometest.Is(t, h, gen)
		}
	}
	t.Logf("%d of %d were done first", placed, 2*moments)
	if placed == 2*moments {
		t.Error("none was killed in time")
	}
}

// A connection that ends around COMMIT: Place finds out what became of the store.
func TestCommit(t *testing.T) {
	direct := open(t, "commit")
	to := server(t)
	q := to.Query()
	q.Set("schema", direct.schema)
	q.Set("sslmode", "disable")
	to.RawQuery = q.Encode()
	for _, arrives := range []bool{true, false} {
		hometest.Same(t, direct, gen)
		u := *to
		u.Host = hometest.Proxy(t, to.Host, "Q\x00\x00\x00\x0bcommit\x00", func() (bool, bool) { return true, arrives })
		h, err := New(u.String())
		if err != nil {
			t.Fatal(err)
		}
		placed, err := h.Place(t.Context(), play, home.PlaceOptions{Replace: true})
		if arrives {
			if err != nil || placed.Backup == "" {
				t.Errorf("committed: %+v, %v", placed, err)
			}
			hometest.Is(t, direct, play)
			continue
		}
		if err == nil {
			t.Error("not committed, and no error")
		}
		hometest.Is(t, direct, gen)
	}
}

// A server that does not keep what it is given: nothing is committed.
func TestVerified(t *testing.T) {
	for table, change := range map[string]string{"agents": `new.doc = '{"agentId":"other"}'`, "run_events": "return null", "checkpoints": `new.data = new.data || '\x00'`,
		"runs": `new.ord = -new.ord`, "rehome": `new.data = '\x00'`} {
		h, dir := open(t, "verified "+table), filepath.Join(t.TempDir(), "store")
		if err := errors.Join(os.CopyFS(dir, os.DirFS(play)), os.WriteFile(dir+formats.SidecarSuffix, []byte("{}\n"), 0o600)); err != nil {
			t.Fatal(err)
		}
		name := fmt.Sprintf("rehome_test_%d", os.Getpid())
		drop := "set client_min_messages to error; drop event trigger if exists " + name + "; drop schema if exists " + name + " cascade"
		run(t, fmt.Sprintf(`create schema %[1]s;
			create function %[1]s.change() returns trigger language plpgsql as $$ begin %[2]s; return new; end $$;
			create function %[1]s.plant() returns event_trigger language plpgsql as $$ declare t text; begin
				for t in select object_identity from pg_event_trigger_ddl_commands() where object_type = 'table' and object_identity like '%%.%[3]s' loop
					execute 'create trigger change before insert on ' || t || ' for each row execute function %[1]s.change()';
				end loop; end $$;
			create event trigger %[1]s on ddl_command_end when tag in ('CREATE TABLE') execute function %[1]s.plant()`, name, change, table))
		_, err := h.Place(t.Context(), dir, home.PlaceOptions{})
		run(t, drop)
		if err == nil {
			t.Errorf("%s: placed", table)
		}
		if n := run(t, "select 1 from pg_namespace where nspname = '"+h.schema+"'"); len(n) > 0 {
			t.Errorf("%s: something was committed", table)
		}
	}
}
