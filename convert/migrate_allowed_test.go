package convert

import (
	"path/filepath"
	"reflect"
	"testing"

	"rehome/formats"
)

// TestLackingRules: a rule is named if the session's client let a command run by it, and
// the new one would ask.
func TestLackingRules(t *testing.T) {
	home, cwd := t.TempDir(), t.TempDir()
	other, to := talk(nil), client()
	other.Home = &formats.Home{Allowed: &formats.Allowed{Member: []string{"permissions", "allow"}, Tool: "Shell",
		Files: func(m formats.Machine, _ string) []string { return []string{filepath.Join(m.Home, "other.json")} }}}
	to.Home.Allowed = &formats.Allowed{Member: []string{"permissions", "allow"}, Tool: "Bash", Rest: ":*",
		Files: func(m formats.Machine, cwd string) []string {
			return []string{filepath.Join(cwd, "own.json"), filepath.Join(m.Home, "own.json")}
		}}
	other.Clients = []string{"talker"}
	reg, on := formats.NewRegistry(other, to), formats.Machine{Home: home}
	write(t, filepath.Join(home, "other.json"), `{"permissions":{"allow":["Shell(git)","Shell(npm)","Shell(go)","Shell(unused)","Shell(*)","Shell","Shell(a;b)","Read(x)",7]}}`)
	write(t, filepath.Join(home, "own.json"), `{"permissions":{"allow":["Bash(git diff:*)","Bash(go test)","Bash(npm *)","WebFetch"]}}`)
	for name, want := range map[string]*AllowedCommand{
		"git diff --stat": nil, "npm test": nil, "npm": nil, "go test": nil, "gitk": nil, "ls": nil, "a;b": nil,
		"git push":   {Words: "git", Rule: "Bash(git:*)"},
		"git differ": {Words: "git", Rule: "Bash(git:*)"},
		"go test x":  {Words: "go", Rule: "Bash(go:*)"},
	} {
		got := LackingRules(reg, to, &Migrated{Cwd: cwd, Agent: other.Clients[0], Commands: []string{name}}, on, on)
		if want != nil {
			want.From, want.File = filepath.Join(home, "other.json"), filepath.Join(cwd, "own.json")
		}
		if want == nil && len(got) == 0 || want != nil && len(got) == 1 && reflect.DeepEqual(got[0], *want) {
			continue
		}
		t.Errorf("%s: %+v, want %+v", name, got, want)
	}
	if got := LackingRules(reg, to, &Migrated{Cwd: cwd, Agent: "another", Commands: []string{"git push"}}, on, on); got != nil {
		t.Errorf("rules of a client that did not run the session: %+v", got)
	}
	write(t, filepath.Join(cwd, "own.json"), `{"permissions":{"allow":["Bash"]}}`)
	if got := LackingRules(reg, to, &Migrated{Cwd: cwd, Agent: other.Clients[0], Commands: []string{"git push"}}, on, on); got != nil {
		t.Errorf("the client runs everything, but lacks %+v", got)
	}
}

// TestSettingsInTOML: servers of a client that keeps its settings in TOML.
func TestSettingsInTOML(t *testing.T) {
	file := filepath.Join(t.TempDir(), "config.toml")
	write(t, file, "model = \"x\"\n[mcp_servers.db]\ncommand = \"run\"\nargs = [\"it\"]\nenv = { A = \"hush\" }\n[mcp_servers.\"web\"]\nurl = \"https://x/mcp\"\n[mcp_servers.web.http_headers]\nB = \"hush\"\n")
	got := readMCP("mcp_servers", file, "/")
	for name, want := range map[string]MCPServer{
		"db":  {Command: []string{"run", "it"}, Env: []string{"A"}},
		"web": {URL: "https://x/mcp", Headers: []string{"B"}},
	} {
		if s := got[name].server(t.Context()); !reflect.DeepEqual(s, want) {
			t.Errorf("%s: %+v, want %+v", name, s, want)
		}
	}
	write(t, file, "[mcp_servers.db\n")
	if got := readMCP("mcp_servers", file, "/"); len(got) > 0 {
		t.Errorf("of a file that is cut: %v", got)
	}
}
