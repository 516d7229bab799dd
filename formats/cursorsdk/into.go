package cursorsdk

import (
	"rehome/formats"
	"rehome/formats/cursorsdk/internal/into"
	"rehome/formats/internal/sdkwrite"
	"rehome/internal/rawjson"
)

// writer writes sessions as agents.
func writer() *formats.Writer {
	w := sdkwrite.Writer()
	w.Into = intoStore()
	return w
}

// resumeCode returns the TypeScript that resumes an agent.
func resumeCode(id, cwd string) string {
	quote := func(s string) string { return string(rawjson.Quote(nil, []byte(s))) }
	return "const agent = await Agent.resume(" + quote(id) + ", { local: { cwd: " + quote(cwd) + " } })"
}

// intoStore adds agents to a state root that the SDK uses.
func intoStore() *formats.Into {
	return &formats.Into{Add: into.Add, Extend: into.Extend, Undo: into.Undo, Has: into.Has}
}
