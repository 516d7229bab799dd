// Package all lists the formats in this build.
package all

import (
	"rehome/formats"
	"rehome/formats/archive"
	"rehome/formats/canonical"
	"rehome/formats/claudecode"
	"rehome/formats/codex"
	"rehome/formats/copilot"
	"rehome/formats/cursorchat"
	"rehome/formats/cursoride"
	"rehome/formats/cursorndjson"
	"rehome/formats/cursorsdk"
	"rehome/formats/cursortranscript"
	"rehome/formats/gemini"
	"rehome/formats/opencode"
	"rehome/formats/pi"
	"rehome/formats/sqlite"
	"rehome/formats/streamjson"
)

// Registry returns the formats in the order in which detection probes them: the
// more specific first.
func Registry() *formats.Registry {
	return formats.NewRegistry(
		archive.Format(),
		canonical.Format(),
		claudecode.Format(),
		codex.Format(),
		pi.Format(),
		opencode.Format(),
		opencode.Export(),
		opencode.Storage(),
		gemini.Format(),
		gemini.Document(),
		copilot.Format(),
		copilot.History(),
		cursorsdk.Format(),
		cursorndjson.Format(),
		cursoride.Format(),
		cursorchat.Format(),
		streamjson.Format(),
		cursortranscript.Format(),
		sqlite.Format(),
	)
}
