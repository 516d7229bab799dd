package cli

import (
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strconv"
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

// allowed are rules for commands that the client of a session ran without asking, and the
// other asks about.
type allowed struct {
	Rules []string `json:"rules"` // as the other client would have them, in
	File  string   `json:"file"`
	From  []string `json:"from"` // the files that have them for the first client
}

// lacking returns the MCP servers and the rules that a session used and its new client lacks.
func lacking(a *console.App, to *formats.Format, m *convert.Migrated, l launch) (servers []mcpServer, rules *allowed) {
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
		servers = append(servers, newMCPServer(s, to.Home.MCP.Add, l, runtime.GOOS))
	}
	for _, r := range convert.LackingRules(a.Reg, to, m, used, own) {
		if rules == nil {
			rules = &allowed{File: r.File}
		}
		rules.Rules = append(rules.Rules, r.Rule)
		if !slices.Contains(rules.From, r.From) {
			rules.From = append(rules.From, r.From)
		}
	}
	return servers, rules
}

// mcpName and mcpVariable are names that the client accepts and that no shell changes.
var (
	mcpName     = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9_-]{0,63}$`)
	mcpVariable = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_-]{0,63}$`)
)

// newMCPServer returns a server with the command that sets it up. Values of variables
// and headers are for the user to fill in: they can be secrets.
func newMCPServer(s convert.MCPServer, by *formats.MCPCommand, l launch, goos string) mcpServer {
	out := mcpServer{Name: s.Name, File: s.File, values: len(s.Env)+len(s.Headers) > 0}
	odd := func(name string) bool { return !mcpVariable.MatchString(name) }
	remote := len(s.Command) == 0
	switch {
	case by == nil, !mcpName.MatchString(s.Name), remote && s.URL == "", slices.ContainsFunc(s.Env, odd), slices.ContainsFunc(s.Headers, odd),
		len(s.Headers) > 0 && by.Header == "", s.SSE && by.SSE == nil:
		return out
	}
	argv := append([]string{l.Argv[0]}, append(by.Verb, s.Name)...)
	shared := s.Shared && by.Shared != nil
	if shared {
		argv = append(argv, by.Shared...)
	}
	for _, name := range s.Env {
		argv = append(argv, by.Env, name+"=VALUE")
	}
	switch {
	case !remote:
		argv = append(append(argv, "--"), s.Command...)
	case s.SSE:
		argv = append(append(argv, by.SSE...), s.URL)
	default:
		argv = append(append(argv, by.HTTP...), s.URL)
	}
	is := ": "
	if by.Equals {
		is = "="
	}
	for _, name := range s.Headers {
		argv = append(argv, by.Header, name+is+"VALUE")
	}
	add := launch{Argv: argv, Dir: l.Dir, Env: l.Env}
	if shared || by.Shared == nil {
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

// maxShownRules is how many rules a line names.
const maxShownRules = 8

// printRules prints the rules that a session lacks.
func printRules(p *screen.Page, client string, list []*allowed) {
	for _, a := range list {
		quoted := make([]string, 0, len(a.Rules))
		for _, r := range a.Rules[:min(len(a.Rules), maxShownRules)] {
			quoted = append(quoted, strconv.Quote(r))
		}
		if more := len(a.Rules) - maxShownRules; more > 0 {
			quoted = append(quoted, "… "+strconv.Itoa(more)+" more with --json")
		}
		p.Line("  " + screen.Visible(client) + " will ask before commands that ran without asking. To allow them,")
		p.Line("  add to permissions.allow in " + screen.Visible(a.File) + ":")
		p.Line("    " + screen.Visible(strings.Join(quoted, ", ")))
	}
}
