package cursorsdk

import (
	"rehome/formats"
	"rehome/formats/cursorsdk/internal/into"
	"rehome/formats/internal/sdkwrite"
)

// writer writes sessions as agents.
func writer() *formats.Writer {
	w := sdkwrite.Writer()
	w.Into = intoStore()
	return w
}

// intoStore adds agents to a state root that the SDK uses.
func intoStore() *formats.Into {
	return &formats.Into{Add: into.Add, Undo: into.Undo, Has: into.Has}
}
