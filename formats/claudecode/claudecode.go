package claudecode

import (
	"rehome/formats"
)

const (
	name    = "claude-code"
	ending  = ".jsonl"
	version = "2.1.328" // the client whose lines these are like
)

// Format is the codec.
func Format() *formats.Format {
	return &formats.Format{
		Name:              name,
		Title:             "Claude Code's sessions (~/.claude/projects)",
		Families:          []string{formats.PlainFiles},
		Schemas:           []string{"claude-code-user-1", "claude-code-assistant-1", "claude-code-system-1", "claude-code-attachment-1", "claude-code-entry-1"},
		Probe:             probe,
		Open:              open,
		Create:            create,
		Decode:            decode,
		Heads:             heads,
		DefaultPaths:      home,
		Encode:            encode,
		SessionPath:       named,
		Companion:         beside,
		Verify:            verify,
		Unmodified:        untouched,
		OneSessionPerFile: true,
		Check:             check,
	}
}
