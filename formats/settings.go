package formats

// MCP is how a client is told of MCP servers.
type MCP struct {
	// Files returns the files that configure the servers of a client that runs in cwd,
	// those of the folder first: JSON, or TOML if they are named so.
	Files func(m Machine, cwd string) []string

	// Key is the member of a file that has the servers by their names.
	Key string

	// Add is the client's command that adds a server. nil: it has none.
	Add *MCPCommand
}

// MCPCommand has the arguments of the command that adds a server to a client, besides the
// name of the server, what starts it, and its address. nil or "": the client has none.
type MCPCommand struct {
	Verb   []string // after the name of the client: mcp add
	Shared []string // for all folders
	Env    string   // before a variable: NAME=VALUE
	Header string   // before a header: "Name: VALUE"
	Equals bool     // a header is Name=VALUE, as a variable is
	HTTP   []string // before an address
	SSE    []string // before one for server-sent events
}

// Allowed is how a client is told which commands of a shell it may run without asking.
type Allowed struct {
	// Files returns the JSON files with rules for a client that runs in cwd, the one that is
	// for people to change first.
	Files func(m Machine, cwd string) []string

	// Member is the path of the list of rules in a file.
	Member []string

	// Tool is the shell in a rule: Bash in Bash(git diff:*).
	Tool string

	// Rest is what a rule has after the words that a command begins with, if any may follow.
	Rest string
}
