package convert

import (
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"rehome/formats"
)

// TestLackingServers: a server that the client has is not named; of one that it lacks
// the settings of another client are known, but never what may be secret.
func TestLackingServers(t *testing.T) {
	home, cwd := t.TempDir(), t.TempDir()
	other, to := talk(nil), client()
	other.Home = &formats.Home{MCP: &formats.MCP{Key: "mcpServers", Files: func(m formats.Machine, cwd string) []string {
		return []string{filepath.Join(cwd, "mcp.json"), filepath.Join(m.Home, "mcp.json")}
	}}}
	to.Home.MCP = &formats.MCP{Key: "mcpServers", Files: func(m formats.Machine, cwd string) []string {
		return []string{filepath.Join(cwd, "shared.json"), filepath.Join(m.Home, "own.json")}
	}}
	reg := formats.NewRegistry(other, to)
	quoted := strings.NewReplacer("\\", "\\\\").Replace(cwd)
	write(t, filepath.Join(cwd, "shared.json"), `{"mcpServers":{"shared":{}}}`)
	write(t, filepath.Join(home, "own.json"), `{"mcpServers":{"own":{"command":7}},"projects":{"`+quoted+`":{"mcpServers":{"here":{}}},"/x":{"mcpServers":{"there":{}}}}}`)
	write(t, filepath.Join(cwd, "mcp.json"), `{"mcpServers":{"there":{"command":"run","args":["it"],"env":{"A_TOKEN":"hush"}},"my db":{"url":"https://db.example/mcp","headers":{"Authorization":"hush"},"type":"sse"}}}`)
	write(t, filepath.Join(home, "mcp.json"), `{"mcpServers":{"there":{"command":"other"},"wide":{"command":"w"},"flag":{"command":"w","args":["--token","hush"]},"query":{"url":"https://x.example/?k=hush"},"login":{"url":"https://a:hush@x.example/"},"long":{"command":"`+strings.Repeat("x", maxMCPCommand)+`"},"known":{"command":"w","args":["ghp_`+"0123456789abcdefghijABCDEFGHIJ012345"+`"]}}}`)
	in := filepath.Join(cwd, "mcp.json")
	above := filepath.Join(home, "mcp.json")
	secret := func(name string) MCPServer { return MCPServer{Name: name, File: above, Shared: true} }
	for name, want := range map[string]*MCPServer{
		"shared": nil, "own": nil, "here": nil, "user-own": nil,
		"there":              {Name: "there", File: in, Command: []string{"run", "it"}, Env: []string{"A_TOKEN"}},
		"project-0-app-wide": {Name: "wide", File: above, Shared: true, Command: []string{"w"}},
		"my_db":              {Name: "my db", File: in, URL: "https://db.example/mcp", SSE: true, Headers: []string{"Authorization"}},
		"flag":               new(secret("flag")), "query": new(secret("query")), "login": new(secret("login")), "long": new(secret("long")), "known": new(secret("known")),
		"nobody": {Name: "nobody"},
	} {
		got := LackingServers(t.Context(), reg, to, &Migrated{Cwd: cwd, Servers: []string{name}}, formats.Machine{Home: home}, formats.Machine{Home: home})
		if want == nil && len(got) == 0 || want != nil && len(got) == 1 && reflect.DeepEqual(got[0], *want) {
			continue
		}
		t.Errorf("%s: %+v, want %+v", name, got, want)
	}
	// Nothing else is read, and nothing of it can stop a migration.
	for _, content := range []string{"", "[", `{"mcpServers":[]}`, `{"mcpServers":{"a":` + strings.Repeat("[", 20000)} {
		write(t, filepath.Join(home, "mcp.json"), content)
		if got := LackingServers(t.Context(), reg, to, &Migrated{Cwd: cwd, Servers: []string{"a"}}, formats.Machine{Home: home}, formats.Machine{}); len(got) != 1 || got[0].File != "" {
			t.Errorf("%.40q: %+v", content, got)
		}
	}
	if err := os.Remove(filepath.Join(home, "mcp.json")); err != nil {
		t.Fatal(err)
	}
	if err := os.Mkdir(filepath.Join(home, "mcp.json"), 0o755); err != nil {
		t.Fatal(err)
	}
	if got := readMCP("mcpServers", filepath.Join(home, "mcp.json"), cwd); len(got) > 0 {
		t.Errorf("%v", got)
	}
	if got := readMCP("mcpServers", "mcp.json", cwd); len(got) > 0 {
		t.Errorf("relative to the folder that rehome runs in: %v", got)
	}
}
