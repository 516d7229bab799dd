package claudecode

import (
	"rehome/formats"
	"rehome/formats/session"
)

const (
	name    = "claude-code"
	ending  = ".jsonl"
	version = "2.1.328" // the client whose lines these are like
)

// Format is the codec.
func Format() *formats.Format {
	return &formats.Format{
		Name:    name,
		Title:   "Claude Code's sessions (~/.claude/projects)",
		Clients: []string{session.ClaudeCode},
		Records: &formats.Records{
			Kinds:  []formats.Kind{{Name: formats.PlainFiles, Schema: "claude-code"}},
			Open:   open,
			Create: create,
		},
		Schemas: []string{"claude-code-user-1", "claude-code-assistant-1", "claude-code-system-1", "claude-code-attachment-1", "claude-code-entry-1"},
		Probe:   probe,
		Sessions: &formats.Sessions{
			Decode: decode,
			Heads:  heads,
		},
		Home: &formats.Home{
			Roots: home,
		},
		Writer: &formats.Writer{
			Encode:     encode,
			Path:       named,
			Companion:  beside,
			Verify:     verify,
			Unmodified: untouched,
			Single:     true,
		},
		Check: check,
	}
}
