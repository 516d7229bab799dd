package opencode

import (
	"cmp"
	"path/filepath"
	"strings"

	"rehome/formats"
	"rehome/formats/internal/lineclient"
	"rehome/formats/internal/rowclient"
	"rehome/formats/internal/sqlitefile"
	"rehome/formats/internal/sqlitestore"
	"rehome/formats/session"
)

const (
	name       = "opencode"
	exportName = "opencode-export"
)

// Format is the codec of OpenCode's own stores.
func Format() *formats.Format {
	shape := sqlitestore.Shape{Origin: name, Single: true, Tables: tables, Cascades: true, Known: new(sqlitefile.Known)}
	c := rowclient.Client{Client: lineclient.Prepare(client(name)), Open: opened(shape.Known)}
	return &formats.Format{
		Name:    name,
		Title:   "sessions of OpenCode (opencode.db)",
		Clients: []string{name},
		Known:   c.Known(),
		Probe:   probe,
		Records: &formats.Records{
			Kinds:   []formats.Kind{{Name: formats.Tables, Schema: name}},
			Open:    shape.Open,
			Create:  shape.Create,
			Changes: shape.Changes(rowclient.Shard),
			Shard:   rowclient.Shard,
		},
		Sessions: c.Sessions(),
		Check:    check(shape.Known),
		Home: &formats.Home{
			Title:  people,
			Resume: resume(),
			Roots: func(m formats.Machine) []string {
				return []string{filepath.Join(cmp.Or(m.Env("XDG_DATA_HOME"), filepath.Join(m.Home, ".local", "share")), name)}
			},
			Kept:      true,
			SideFiles: append(sqlitefile.SideFiles(), ".json", ".log"),
		},
	}
}

// people is what people call the client.
const people = "OpenCode"

// resume is the command that continues a session, without its id.
func resume() []string { return []string{name, "--session"} }

// waiting is where files wait until OpenCode imports them: it alone writes its database.
func waiting() *formats.Home {
	return &formats.Home{
		Title:  people,
		Resume: resume(),
		Import: &formats.Import{Take: []string{name, "import"}, Delete: []string{name, "session", "delete"}},
		Folder: ".",
		Config: func(m formats.Machine) string {
			if m.State() == "" {
				return ""
			}
			return filepath.Join(m.State(), name)
		},
		Roots: func(formats.Machine) []string { return nil },
		MCP:   mcp(),
	}
}

// mcp is how the client is told of servers. Those that it adds itself are for all folders.
func mcp() *formats.MCP {
	return &formats.MCP{
		Files: func(m formats.Machine, cwd string) []string {
			own := cmp.Or(m.Env("XDG_CONFIG_HOME"), filepath.Join(m.Home, ".config"))
			return []string{filepath.Join(cwd, "opencode.json"), filepath.Join(own, name, "opencode.json")}
		},
		Key: "mcp",
		Add: &formats.MCPCommand{Verb: []string{"mcp", "add"}, Env: "--env", Header: "--header", Equals: true, HTTP: []string{"--url"}},
	}
}

// client is the table of what OpenCode's messages are.
func client(format string) lineclient.Client {
	return lineclient.Client{
		Name:  format,
		Agent: name,
		Line:  lineclient.Line{Kind: []string{"kind"}, ID: "id", Time: "at"},
		Kinds: map[string]lineclient.Kind{
			"user":       {Role: session.User, Say: content, Prompt: true, Turn: asked, Unsent: unsent},
			"synthetic":  {Role: session.User, Simulated: true, Say: content, Unsent: unsent},
			"assistant":  {Role: session.Assistant, Say: content, Model: "modelID", Turn: spent, Unsent: unsent},
			"failed":     {Role: session.Assistant, Say: content, Model: "modelID", Turn: spent, Unsent: unsent},
			"summary":    {Role: session.System, Say: summary, Keeps: "keeps", Unsent: unsent},
			"compaction": {Unsent: unsent},
		},
		Spell:  &lineclient.Spelling{Own: true, Models: true, Title: func(*lineclient.Lines, string) {}},
		Tested: []string{version, "1.1.65"},
		Fields: strings.Fields(`agent auto cost data error finish format id interrupted metadata mode model modelID parentID path permission priority projectID
			providerID revert share slug source state.attachments state.error state.metadata state.output state.raw state.status state.title summary system
			tail_start_id time time.archived time.compacted time.compacting title tokens tools variant version workspaceID`),
		Parts: strings.Fields(`agent file patch retry snapshot step-finish step-start text unreadable`),
	}
}
