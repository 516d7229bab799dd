// Package all is the one list of formats that this build carries.
package all

import (
	"rehome/formats"
	"rehome/formats/archive"
	"rehome/formats/cursorchat"
	"rehome/formats/cursoride"
	"rehome/formats/cursorndjson"
	"rehome/formats/cursorsdk"
	"rehome/formats/sqlite"
)

// Registry lists the formats in the order in which detection asks them: the
// more particular first.
func Registry() *formats.Registry {
	return formats.NewRegistry(
		archive.Format(),
		cursorsdk.Format(),
		cursorndjson.Format(),
		cursoride.Format(),
		cursorchat.Format(),
		sqlite.Format(),
	)
}
