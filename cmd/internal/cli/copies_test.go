package cli

import (
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"rehome/cmd/internal/console"
	"rehome/convert"
)

// TestTwentyCopies: each copy that --again makes is known as one of its source, also where
// others were deleted. Without the record of it, as an older version left it, copies are known
// by their ids as far as none is missing, and nothing fails.
func TestTwentyCopies(t *testing.T) {
	h := newMovedHome(t, "app", "app2")
	made := func() (session, file string) {
		t.Helper()
		var res struct{ Migrated []convert.Migrated }
		stdout, stderr, _ := callWith(t, t.Context(), h.env, "migrate", movedChat, "--again", "--json")
		if err := json.Unmarshal([]byte(stdout), &res); err != nil || len(res.Migrated) != 1 {
			t.Fatal(err, stderr)
		}
		return res.Migrated[0].Session, res.Migrated[0].File
	}
	var ids, files []string
	for range 20 {
		id, file := made()
		ids, files = append(ids, id), append(files, file)
	}
	known := func(wants int) {
		t.Helper()
		var list struct{ Sessions []lsSession }
		if err := json.Unmarshal([]byte(h.run("ls", "--json", "--client", "claude-code")), &list); err != nil {
			t.Fatal(err)
		}
		n := 0
		for _, s := range list.Sessions {
			if s.Origin == movedChat {
				n++
			}
		}
		if n != wants {
			t.Errorf("%d of %d copies are known as such, want %d", n, len(list.Sessions), wants)
		}
	}
	newest := ids[len(ids)-1]
	known(20)
	if out := h.run("migrate", newest, "--back"); !strings.Contains(out, "No new turns") {
		t.Errorf("--back: %s", out)
	}
	_, stderr, code := callWith(t, h.t.Context(), h.env, "migrate", movedChat, "--back")
	if code != 2 || !strings.Contains(stderr, "rehome made 20 sessions from it") || !strings.Contains(stderr, "use one of these ids") {
		t.Errorf("--back of the original: exit %d, %s", code, stderr)
	}
	if err := errors.Join(os.Remove(files[1]), os.Remove(files[12])); err != nil {
		t.Fatal(err)
	}
	known(18)
	if out := h.run("migrate", newest, "--back"); !strings.Contains(out, "No new turns") {
		t.Errorf("--back: %s", out)
	}
	again, file := made()
	if again != ids[1] || file != files[1] {
		t.Errorf("%s was made again, want the id that is free: %s", again, ids[1])
	}
	record := filepath.Join(convert.UndoDir(console.Machine(func(name string) string { return h.env[name] })), "copies.ndjson")
	if b, err := os.ReadFile(record); err != nil || strings.Count(string(b), "{") != 20 {
		t.Errorf("%v, the record is\n%s", err, b)
	}
	if err := os.Rename(record, record+".old"); err != nil {
		t.Fatal(err)
	}
	known(12) // up to the one that is missing
	if err := os.Mkdir(record, 0o700); err != nil {
		t.Fatal(err)
	}
	if again, _ := made(); again != ids[12] {
		t.Errorf("%s was made again, want %s", again, ids[12])
	}
	known(20)
	if out := h.run("migrate", newest, "--back"); !strings.Contains(out, "No new turns") {
		t.Errorf("--back: %s", out)
	}
}
