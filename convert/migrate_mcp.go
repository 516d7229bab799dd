package convert

import (
	"cmp"
	"context"
	"encoding/json"
	"maps"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"rehome/convert/internal/leaks"
	"rehome/convert/internal/settings"
	"rehome/formats"
)

// MCPServer is an MCP server whose tools a session called, but that is not set up in
// the client it was migrated to. It has no secrets: of variables and headers only the
// names, and nothing of a command or an address that seems to contain one.
type MCPServer struct {
	Name    string
	File    string   // where another client has it set up; "" if nowhere
	Shared  bool     // File is not in the project folder
	Command []string // how to start it, or
	URL     string   // where it is; both empty if not known, or secret
	SSE     bool     // URL is one for server-sent events
	Env     []string
	Headers []string
}

// mcpConfig is what clients write about a server.
type mcpConfig struct {
	Type, URL, HTTPURL string
	Command            words // with arguments, for some clients
	Args               []string
	Env, Environment   map[string]any
	Headers            map[string]any
	HTTPHeaders        map[string]any `json:"http_headers"`
}

// words are one word or several.
type words []string

func (w *words) UnmarshalJSON(b []byte) error {
	if len(b) > 0 && b[0] == '[' {
		return json.Unmarshal(b, (*[]string)(w))
	}
	*w = words{""}
	return json.Unmarshal(b, &(*w)[0])
}

const (
	maxMCPServers = 64
	maxMCPCommand = 4 << 10
)

// LackingServers returns the MCP servers that a session used and its new client lacks,
// by the files of all clients. used describes this machine as the other clients see
// it, and to as the new one does.
func LackingServers(ctx context.Context, reg *formats.Registry, client *formats.Format, m *Migrated, used, to formats.Machine) (out []MCPServer) {
	if len(m.Servers) == 0 || client.Home.MCP == nil {
		return nil
	}
	var have []string
	for _, file := range client.Home.MCP.Files(to, m.Cwd) {
		have = slices.AppendSeq(have, maps.Keys(readMCP(client.Home.MCP.Key, file, m.Cwd)))
	}
	for _, name := range m.Servers[:min(len(m.Servers), maxMCPServers)] {
		if !slices.ContainsFunc(have, func(key string) bool { return isServer(key, name) }) {
			out = append(out, findServer(ctx, reg, client, name, m.Cwd, used))
		}
	}
	return out
}

// findServer returns a server as the first client has it set up.
func findServer(ctx context.Context, reg *formats.Registry, except *formats.Format, name, cwd string, on formats.Machine) MCPServer {
	for _, f := range reg.All() {
		if f == except || f.Home == nil || f.Home.MCP == nil {
			continue
		}
		for _, file := range f.Home.MCP.Files(on, cwd) {
			known := readMCP(f.Home.MCP.Key, file, cwd)
			for _, key := range slices.Sorted(maps.Keys(known)) {
				if isServer(key, name) {
					s := known[key].server(ctx)
					s.Name, s.File = key, file
					s.Shared = !strings.HasPrefix(file, cwd+string(filepath.Separator))
					return s
				}
			}
		}
	}
	return MCPServer{Name: name}
}

// readMCP reads the servers that a file configures for the folder cwd, below a member.
func readMCP(member, file, cwd string) map[string]mcpConfig {
	doc, found, out := settings.Read(file), map[string][]byte{}, map[string]mcpConfig{}
	settings.Members(found, doc, member)
	settings.Members(found, doc, "projects", cwd, member)
	for name, raw := range found {
		var c mcpConfig
		if json.Unmarshal(raw, &c) != nil {
			c = mcpConfig{} // it is there
		}
		out[name] = c
	}
	return out
}

// isServer reports whether tools call a server by this name that is configured under
// key. Cursor adds where it is configured: user-github, project-0-app-github.
func isServer(key, name string) bool {
	key = notInName.ReplaceAllString(key, "_")
	return name == key || name == "user-"+key || strings.HasPrefix(name, "project-") && strings.HasSuffix(name, "-"+key)
}

// notInName are the characters that names of tools cannot have.
var notInName = regexp.MustCompile(`[^A-Za-z0-9_-]`)

// server returns what is not secret of a configuration.
func (c mcpConfig) server(ctx context.Context) MCPServer {
	all := append(slices.Clone([]string(c.Command)), c.Args...)
	s := MCPServer{SSE: c.Type == "sse"}
	for _, m := range []map[string]any{c.Env, c.Environment} {
		s.Env = slices.AppendSeq(s.Env, maps.Keys(m))
	}
	for _, m := range []map[string]any{c.Headers, c.HTTPHeaders} {
		s.Headers = slices.AppendSeq(s.Headers, maps.Keys(m))
	}
	slices.Sort(s.Env)
	slices.Sort(s.Headers)
	url := cmp.Or(c.HTTPURL, c.URL)
	switch {
	case holdsSecret(ctx, append(all, url)):
	case len(c.Command) > 0 && c.Command[0] != "":
		s.Command = all
	default:
		s.URL = url
	}
	return s
}

// holdsSecret reports whether words seem to contain a secret, or are too many to tell.
func holdsSecret(ctx context.Context, words []string) (found bool) {
	text := strings.Join(words, "\n")
	if len(text) > maxMCPCommand || secretWord.MatchString(text) {
		return true
	}
	scan, err := leaks.New()
	if err != nil {
		return true
	}
	scan.Scan(ctx, []byte(text), func(leaks.Hit) { found = true })
	return found
}

// secretWord matches names of secrets, and addresses with a password or a query.
var secretWord = regexp.MustCompile(`(?i)key|token|secret|passw|auth|bearer|credential|://[^/\s]*@|://\S*\?`)
