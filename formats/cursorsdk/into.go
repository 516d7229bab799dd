package cursorsdk

import (
	"rehome/formats"
	"rehome/formats/cursorsdk/internal/into"
)

// intoStore adds agents to a state root that the SDK uses.
func intoStore() *formats.Into {
	return &formats.Into{Add: into.Add, Undo: into.Undo, Has: into.Has}
}
