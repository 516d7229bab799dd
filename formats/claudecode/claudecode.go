package claudecode

import (
	"cmp"
	"path/filepath"

	"rehome/formats"
	"rehome/formats/claudecode/internal/audit"
	"rehome/formats/claudecode/internal/outline"
	"rehome/formats/claudecode/internal/read"
	"rehome/formats/claudecode/internal/write"
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
		Sessions: &formats.Sessions{Decode: read.Decode, Heads: read.Heads},
		Writer: &formats.Writer{
			New:        write.New,
			Path:       write.SessionPath,
			Unmodified: write.Unmodified,
		},
		Home:  &formats.Home{Roots: home},
		Check: audit.Check,
	}
}

// home returns the config folder of the client.
func home(m formats.Machine) []string {
	return []string{cmp.Or(m.Env("CLAUDE_CONFIG_DIR"), filepath.Join(m.Home, ".claude"))}
}
