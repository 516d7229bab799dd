package cli

import (
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strings"

	"rehome/cmd/internal/console"
	"rehome/cmd/internal/screen"
	"rehome/convert"
	"rehome/formats"
)

// mcpServer is an MCP server that a session used, but that its new client lacks.
type mcpServer struct {
	Name string `json:"name"`
	Add  string `json:"add,omitempty"`  // the command that sets it up, if its settings are known and not secret
	File string `json:"file,omitempty"` // where another client has its settings

	values bool // values in Add have to be filled in
}

// missingServers returns the MCP servers that a session used and its new client lacks.
func missingServers(a *console.App, to *formats.Format, m *convert.Migrated, l launch) (out []mcpServer) {
	used := console.Machine(a.Out.Getenv)
	if home, err := filepath.Abs(used.Home); err == nil && used.Home != "" {
		used.Home = home
	}
	own := used
	own.Getenv = func(name string) string {
		for _, v := range l.Env {
			if value, ok := strings.CutPrefix(v, name+"="); ok {
				return value
			}
		}
		return used.Env(name)
	}
	for _, s := range convert.LackingServers(a.Ctx, a.Reg, to, m, used, own) {
		out = append(out, newMCPServer(s, l, runtime.GOOS))
	}
	return out
}

// mcpName and mcpVariable are names that the client accepts and that no shell changes.
var (
	mcpName     = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9_-]{0,63}$`)
	mcpVariable = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_-]{0,63}$`)
)

// newMCPServer returns a server with the command that sets it up. Values of variables
// and headers are for the user to fill in: they can be secrets.
func newMCPServer(s convert.MCPServer, l launch, goos string) mcpServer {
	out := mcpServer{Name: s.Name, File: s.File, values: len(s.Env)+len(s.Headers) > 0}
	odd := func(name string) bool { return !mcpVariable.MatchString(name) }
	if !mcpName.MatchString(s.Name) || len(s.Command) == 0 && s.URL == "" || slices.ContainsFunc(s.Env, odd) ||
		slices.ContainsFunc(s.Headers, odd) {
		return out
	}
	argv := []string{l.Argv[0], "mcp", "add", s.Name}
	if s.Shared {
		argv = append(argv, "--scope", "user")
	}
	for _, name := range s.Env {
		argv = append(argv, "--env", name+"=VALUE")
	}
	switch {
	case len(s.Command) > 0:
		argv = append(append(argv, "--"), s.Command...)
	case s.SSE:
		argv = append(argv, "--transport", "sse", s.URL)
	default:
		argv = append(argv, "--transport", "http", s.URL)
	}
	for _, name := range s.Headers {
		argv = append(argv, "--header", name+": VALUE")
	}
	add := launch{Argv: argv, Dir: l.Dir, Env: l.Env}
	if s.Shared {
		add.Dir = "" // it is for all folders
	}
	out.Add = add.command(goos)
	return out
}

// printServers prints the servers that a session lacks.
func printServers(p *screen.Page, client string, list []mcpServer) {
	for _, s := range list {
		p.Linef("  MCP server %s is not set up in %s%s", p.Strong(screen.Visible(s.Name)), client,
			map[bool]screen.Safe{true: ":", false: ""}[s.Add != ""])
		switch {
		case s.Add != "" && s.values:
			p.Line("    " + screen.Visible(s.Add))
			p.Line(p.Faint("    replace VALUE as in " + screen.Visible(s.File)))
		case s.Add != "":
			p.Line("    " + screen.Visible(s.Add))
		case s.File != "":
			p.Line(p.Faint("    its settings are in " + screen.Visible(s.File)))
		}
	}
}
