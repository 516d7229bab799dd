package claudecode

import (
	"cmp"
	"context"
	"path/filepath"
	"strings"
	"time"

	"rehome/formats"
	"rehome/formats/claudecode/internal/audit"
	"rehome/formats/claudecode/internal/mend"
	"rehome/formats/claudecode/internal/move"
	"rehome/formats/claudecode/internal/outline"
	"rehome/formats/claudecode/internal/read"
	"rehome/formats/claudecode/internal/write"
	"rehome/formats/internal/jsonl"
	"rehome/formats/internal/plainfiles"
	"rehome/formats/session"
)

// Format is the codec.
func Format() *formats.Format {
	return &formats.Format{
		Name:    outline.FormatName,
		Title:   "Claude Code's sessions (~/.claude/projects)",
		Clients: []string{session.ClaudeCode},
		Schemas: []string{"claude-code-user-1", "claude-code-assistant-1", "claude-code-system-1", "claude-code-attachment-1", "claude-code-entry-1"},
		Probe:   probe,
		Records: &formats.Records{
			Kinds:  []formats.Kind{{Name: formats.PlainFiles, Schema: outline.FormatName}},
			Open:   open,
			Create: create,
		},
		Plain:    plainfiles.Records(outline.FormatName),
		Sessions: &formats.Sessions{Decode: read.Decode, Heads: read.Heads, Scan: scan},
		Writer: &formats.Writer{
			New:        write.New,
			Path:       write.SessionPath,
			ID:         write.SessionID,
			Losses:     write.Losses(),
			Appends:    true,
			Unmodified: write.Unmodified,
		},
		Home: &formats.Home{
			Title:    "Claude Code",
			Resume:   []string{"claude", "--resume"},
			Variable: configVariable,
			// Of the usual window of 200,000 tokens, the client keeps some for the
			// answer and for the summary; its own prompt and tools take some more.
			Summarizes: 150_000,
			Roots:      home,
			MCP: &formats.MCP{Files: mcpFiles, Key: "mcpServers", Add: &formats.MCPCommand{
				Verb: []string{"mcp", "add"}, Shared: []string{"--scope", "user"}, Env: "--env", Header: "--header",
				HTTP: []string{"--transport", "http"}, SSE: []string{"--transport", "sse"},
			}},
			Allowed: &formats.Allowed{Files: ruleFiles, Member: []string{"permissions", "allow"}, Tool: "Bash", Rest: ":*"},
			Folder:  "projects",
			Parts:   carried(),
			SessionFiles: []string{
				"*/projects/*/*.jsonl",
				"*/projects/*/sessions-index.json",
				"*/projects/*/*/subagents/**/*.jsonl",
				"*/projects/*/*/subagents/**/*.meta.json",
				"*/projects/*/*/tool-results/*.txt",
				"*/projects/*/*/tool-results/*.json",
				"*/projects/*/*/tool-results/*.png",
				"*/projects/*/*/tool-results/*.jpg",
				"*/projects/*/*/tool-results/*.pdf",
				"*/file-history/*/*@v*",
				"*/tasks/*/*.json",
				"*/todos/*.json",
				"*/history.jsonl",
			},
			SideFiles: []string{".json"},
			Keep:      30 * 24 * time.Hour, // when it starts, unless its settings say otherwise
		},
		Mover:       &formats.Mover{Find: move.Find(home, settings), File: move.File, Members: move.Members},
		IsStoreName: isStoreName,
		Strays:      strays,
		Check:       audit.Check,
		Repair:      mend.Repair,
		Merge:       merge(),
	}
}

// scan searches the files of sessions.
func scan(ctx context.Context, l *formats.Location, _ formats.View, s *formats.Scan) error {
	return jsonl.Scan(ctx, l, outline.Layout(l), s, nil)
}

// isStoreName reports whether a path is named like the file of a session in the
// folder of its project.
func isStoreName(path string) bool {
	id, ok := strings.CutSuffix(filepath.Base(path), ".jsonl")
	return ok && formats.IsUUID(id) && filepath.Base(filepath.Dir(filepath.Dir(path))) == "projects"
}

// configVariable names the config folder of the client.
const configVariable = "CLAUDE_CONFIG_DIR"

// mcpFiles returns the file that a project shares, and the client's own, which also
// has the servers of each project.
func mcpFiles(m formats.Machine, cwd string) []string {
	return []string{filepath.Join(cwd, ".mcp.json"), settings(m)}
}

// ruleFiles returns the settings of a person in a project, of the project, and of the person.
func ruleFiles(m formats.Machine, cwd string) []string {
	project := filepath.Join(cwd, ".claude")
	return []string{filepath.Join(project, "settings.local.json"), filepath.Join(project, "settings.json"), filepath.Join(home(m)[0], "settings.json")}
}

// settings returns the file with the client's settings of projects.
func settings(m formats.Machine) string {
	return filepath.Join(cmp.Or(m.Env(configVariable), m.Home), ".claude.json")
}

// home returns the config folder of the client.
func home(m formats.Machine) []string {
	return []string{cmp.Or(m.Env(configVariable), filepath.Join(m.Home, ".claude"))}
}
