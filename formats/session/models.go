package session

// Model is a model as clients know it: by an id in what they store and ask
// for, by a display name in what they show.
type Model struct{ ID, Name string }

// models are those of which both names have been seen. A store that has only one
// of the two keeps it; nothing is translated on the way through a session.
var models = [...]Model{
	{"claude-4-sonnet", "Claude Sonnet 4"},
	{"claude-4.5-opus-high-thinking", "Claude Opus 4.5 (Thinking)"},
	{"default", "Auto"},
	{"gemini-2.5-pro", "Gemini 2.5 Pro"},
	{"gpt-4.1", "GPT-4.1"},
	{"gpt-4o", "GPT-4o"},
}

// Models lists the models whose two names are known, by their ids.
func Models() []Model { return append([]Model(nil), models[:]...) }

// ModelNamed finds a model by its id or by its display name.
func ModelNamed(idOrName string) (Model, bool) {
	for _, m := range models {
		if m.ID == idOrName || m.Name == idOrName {
			return m, true
		}
	}
	return Model{}, false
}
