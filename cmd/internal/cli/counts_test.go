package cli

import (
	"encoding/json"
	"io"
	"strings"
	"testing"
	"time"

	"rehome/cmd/internal/console"
	"rehome/cmd/internal/screen"
	"rehome/convert/sessions"
	"rehome/formats/all"
	"rehome/testdata/homes"
)

// TestCounts: the list, the table, the search, the first screen and doctor count the
// sessions of one home alike.
func TestCounts(t *testing.T) {
	home := t.TempDir()
	t.Chdir(home)
	if err := homes.Make(home, homes.Count{Chats: 9, Subagents: 2, Agents: 3, Empty: 1}); err != nil {
		t.Fatal(err)
	}
	const want = "12 sessions, 2 subagents"
	env := map[string]string{console.HomeVariable(): home}

	a := &console.App{Ctx: t.Context(), Reg: all.Registry(), Out: console.NewOutput(io.Discard, io.Discard,
		func(name string) string { return env[name] },
		console.OutputFlags{}), Now: time.Now}
	chosen, err := (&chooser{App: a}).load(t.Context())
	if err != nil || string(chosen.Count) != want || len(chosen.Search) != 12 {
		t.Errorf("list: %d rows, %q, %v", len(chosen.Search), chosen.Count, err)
	}
	listing, err := listAll(a, false)
	if err != nil {
		t.Fatal(err)
	}
	found, _ := listing.Select(sessions.Filter{})
	table := &lsResult{listing: listing, width: 80, height: 12}
	for i := range found {
		table.Sessions = append(table.Sessions, newLsSession(&found[i]))
	}
	var out strings.Builder
	table.Text(screen.NewPage(&out, false))
	if !strings.Contains(out.String(), " of "+want+"; all: --limit 0") {
		t.Errorf("table:\n%s", out.String())
	}
	for command, place := range map[string]string{"": "stdout", "doctor": "stdout", "search zeppelin": "stderr"} {
		stdout, stderr, code := callWith(t, t.Context(), env, strings.Fields(command)...)
		got := stdout
		if place == "stderr" {
			got = stderr
		}
		if !strings.Contains(got, want) {
			t.Errorf("rehome %s: exit %d, %s%s", command, code, stdout, stderr)
		}
	}
	for _, command := range []string{"", "doctor"} {
		stdout, _, _ := callWith(t, t.Context(), env, append(strings.Fields(command), "--json")...)
		var counts struct{ Sessions, Subagents int }
		if err := json.Unmarshal([]byte(stdout), &counts); err != nil || counts.Sessions != 12 || counts.Subagents != 2 {
			t.Errorf("rehome %s --json: %+v, %v", command, counts, err)
		}
		checkJSON(t, strings.Fields(command), []byte(stdout))
	}
	if lines, _, _ := callWith(t, t.Context(), env, "ls"); strings.Count(lines, "\n") != 14 {
		t.Errorf("ls in a pipe:\n%s", lines)
	}
}
