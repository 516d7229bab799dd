package cli

import (
	"strings"
	"testing"

	"rehome/cmd/internal/screen"
	"rehome/convert"
	"rehome/formats/all"
)

// screenOf is what a result prints, on a terminal of some width if that is not 0.
func screenOf(r *migrateResult) string {
	var out strings.Builder
	r.Text(screen.NewPage(&out, false))
	return out.String()
}

// TestMigrateHeavy: a session is said to be too long where it is, and only there.
func TestMigrateHeavy(t *testing.T) {
	long := func(tokens int64) migrated {
		return migrated{Migrated: &convert.Migrated{ID: "a", Title: "Long", Status: convert.Placed, Tokens: tokens}}
	}
	for want, list := range map[string][]migrated{
		"About 340k tokens: Claude Code will summarize the session first":              {long(341_234)},
		"About 1,200k tokens: Claude Code will summarize the session first":            {long(1_234_567)},
		"2 sessions have more than 150k tokens: Claude Code will summarize them first": {long(200_000), long(20), long(160_000)},
		"": {long(150_000), long(0)},
	} {
		got := screenOf(&migrateResult{Migrated: list, client: "Claude Code", tokens: 150_000})
		if want != "" && !strings.Contains(got, want) || want == "" && strings.Contains(got, "tokens") {
			t.Errorf("want %q:\n%s", want, got)
		}
	}
}

// TestMigrateNarrow: the title gives way on a terminal, and nothing else does.
func TestMigrateNarrow(t *testing.T) {
	m := migrated{Migrated: &convert.Migrated{ID: "a", Title: "  Fix\n\tthe flaky \x1b[31mlogin test that nobody has understood yet",
		Status: convert.Placed, Turns: 4, Messages: 18}}
	r := &migrateResult{Migrated: []migrated{m}, client: "Claude Code", width: 60}
	if got, want := screenOf(r), "✓ Fix the flaky \\e[31… → Claude Code   4 turns, 18 messages\n"; screen.Cells(screen.Visible(strings.TrimSuffix(got, "\n"))) > 60 || !strings.HasPrefix(got, "✓ Fix the flaky") || !strings.HasSuffix(got, "… → Claude Code   4 turns, 18 messages\n") {
		t.Errorf("%q, want such as %q", got, want)
	}
	if r.width = 0; strings.Contains(screenOf(r), "…") {
		t.Errorf("%q", screenOf(r))
	}
}

// TestMigrateFailures: many failures for one reason take a few lines.
func TestMigrateFailures(t *testing.T) {
	r := &migrateResult{client: "Claude Code"}
	for range 125 {
		m := &convert.Migrated{ID: "a", Status: convert.Failed, Error: &convert.ErrorReport{Message: "no folder", Hint: "do this"}}
		r.Migrated = append(r.Migrated, migrated{Migrated: m})
	}
	r.Migrated[7].Error.Message = "another"
	got := screenOf(r)
	for _, want := range []string{"✗ 124 sessions failed: no folder\n", "    and 119 more\n", "✗ 1 session failed: another\n    a\n"} {
		if !strings.Contains(got, want) {
			t.Errorf("want %q", want)
		}
	}
	if n := strings.Count(got, "\n"); n > 12 || strings.Count(got, "do this") != 2 {
		t.Errorf("%d lines\n%s", n, got)
	}
}

// TestMigrateAnew: the new copy of a session that was continued goes to the same client.
func TestMigrateAnew(t *testing.T) {
	for agent, want := range map[string]string{
		"claude-code": "  New copy:  rehome migrate a --again\n",
		"codex":       "  New copy:  rehome migrate a --again --to codex\n",
	} {
		m := migrated{Migrated: &convert.Migrated{ID: "a", Status: convert.Continued}, Launch: &launch{Argv: []string{"x", "a"}}, Continue: "x a"}
		if got := screenOf(&migrateResult{Migrated: []migrated{m}, client: "X", agent: agent}); !strings.Contains(got, want) {
			t.Errorf("%s: want %q:\n%s", agent, want, got)
		}
	}
}

// TestMCPServer: what a session or a file says is never more than a word of the command.
func TestMCPServer(t *testing.T) {
	by := all.Registry().Lookup("claude-code").Home.MCP.Add
	l := launch{Argv: []string{"claude", "--resume", "x"}, Dir: "/a b"}
	for want, s := range map[string]convert.MCPServer{
		"cd '/a b' && claude mcp add db -- run '$(rm -r x)' '; y'": {Name: "db",
			Command: []string{"run", "$(rm -r x)", "; y"}},
		"claude mcp add db --scope user --env A=VALUE -- run": {Name: "db", Shared: true,
			Env: []string{"A"}, Command: []string{"run"}},
		"claude mcp add db --scope user --transport http https://x/mcp --header 'Authorization: VALUE'": {Name: "db", Shared: true,
			URL: "https://x/mcp", Headers: []string{"Authorization"}},
		"claude mcp add db --scope user --transport sse https://x": {Name: "db", Shared: true, SSE: true,
			URL: "https://x"},
	} {
		if got := newMCPServer(s, by, l, "linux"); got.Add != want {
			t.Errorf("%s\nwant %s", got.Add, want)
		}
	}
	for _, s := range []convert.MCPServer{
		{Name: "--help", Command: []string{"x"}}, {Name: "a b", Command: []string{"x"}}, {Name: "a"},
		{Name: "a", Env: []string{"A=$(x)"}, Command: []string{"x"}}, {Name: "a", Headers: []string{"A\nB"}, URL: "x"},
	} {
		if got := newMCPServer(s, by, l, "linux"); got.Add != "" || got.Name != s.Name {
			t.Errorf("%+v", got)
		}
	}
}

// TestMCPServerOfCopilot: all that it is told of is for all folders.
func TestMCPServerOfCopilot(t *testing.T) {
	by := all.Registry().Lookup("copilot").Home.MCP.Add
	l := launch{Argv: []string{"copilot", "--resume", "x"}, Dir: "/a"}
	for want, s := range map[string]convert.MCPServer{
		"copilot mcp add db --env A=VALUE -- run it": {Name: "db", Env: []string{"A"}, Command: []string{"run", "it"}},
		"copilot mcp add db --transport sse https://x --header 'A: VALUE'": {Name: "db", Shared: true, SSE: true, URL: "https://x",
			Headers: []string{"A"}},
	} {
		if got := newMCPServer(s, by, l, "linux"); got.Add != want {
			t.Errorf("%s\nwant %s", got.Add, want)
		}
	}
}

// TestMCPServerOfCodex: its command is for all folders, and has no headers and no
// server-sent events.
func TestMCPServerOfCodex(t *testing.T) {
	by := all.Registry().Lookup("codex").Home.MCP.Add
	l := launch{Argv: []string{"codex", "resume", "x"}, Dir: "/a"}
	for want, s := range map[string]convert.MCPServer{
		"codex mcp add db --env A=VALUE -- run it": {Name: "db", Env: []string{"A"}, Command: []string{"run", "it"}},
		"codex mcp add db --url https://x/mcp":     {Name: "db", Shared: true, URL: "https://x/mcp"},
	} {
		if got := newMCPServer(s, by, l, "linux"); got.Add != want {
			t.Errorf("%s\nwant %s", got.Add, want)
		}
	}
	for _, s := range []convert.MCPServer{{Name: "a", URL: "https://x", SSE: true}, {Name: "a", URL: "https://x", Headers: []string{"A"}}} {
		if got := newMCPServer(s, by, l, "linux"); got.Add != "" {
			t.Errorf("%+v", got)
		}
	}
}
