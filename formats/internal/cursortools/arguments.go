package cursortools

import (
	"bytes"
	"slices"
	"strings"

	"rehome/formats/internal/object"
	"rehome/formats/internal/toolmap"
	"rehome/formats/internal/wire"
	"rehome/formats/session"
	"rehome/internal/rawjson"
)

// canonical returns the JSON of a message as decoding yields it; false if the message has
// no place for it.
func canonical(m *wire.Message, doc []byte) (message, bool) {
	if len(doc) == 0 || doc[0] != '{' {
		return message{}, false
	}
	b, err := m.AppendJSON(nil, doc)
	if err != nil {
		return message{}, false
	}
	var w wire.Walker
	return message{w.Append(make([]byte, 0, len(doc)), m, b), b}, true
}

// verbatim returns what one of Cursor's clients wrote itself.
func (s *speller) verbatim(m *wire.Message, doc []byte) (message, bool) {
	if !s.own && (s.agent == session.ClaudeCode || s.agent == session.Codex) {
		return message{}, false // a record of another client can look like one
	}
	return canonical(m, doc)
}

// arguments makes the message of arguments; false if one that it needs is missing.
func (s *speller) arguments() (message, bool) {
	o := object.New(nil)
	docs := []doc{s.input, s.args}
	for i := range s.kind.arguments {
		a := &s.kind.arguments[i]
		raw := get(docs, a.names...)
		if a.make != nil {
			raw = a.make(s, raw)
		}
		if a.Name == "toolCallId" {
			raw = session.AppendString(nil, s.call.ID)
		}
		if ok := fill(&o, a.Field, raw, false); a.must && !ok {
			return message{}, false
		}
	}
	return canonical(s.kind.args, o.Done())
}

// makeArgument makes the value of an argument. raw is what the call has, if anything.
type makeArgument func(s *speller, raw []byte) []byte

// madeArguments are the arguments that other clients have in another form.
func madeArguments() map[string]makeArgument {
	return map[string]makeArgument{
		"edit.path":              func(s *speller, raw []byte) []byte { return s.edited().path(raw) },
		"edit.streamContent":     func(s *speller, _ []byte) []byte { return get([]doc{s.input, s.args}, contentNames...) },
		"task.subagentType":      func(_ *speller, raw []byte) []byte { return subagent(raw) },
		"updateTodos.todos":      func(_ *speller, raw []byte) []byte { return todos(raw) },
		"askQuestion.questions":  func(_ *speller, raw []byte) []byte { return questions(raw) },
		"createPlan.todos":       func(_ *speller, raw []byte) []byte { return todos(raw) },
		"shell.workingDirectory": func(_ *speller, raw []byte) []byte { return folder(raw) },
	}
}

// folder returns a folder that can be given as a URI.
func folder(raw []byte) []byte {
	if path, ok := strings.CutPrefix(rawjson.Text(raw), "file://"); ok {
		return session.AppendString(nil, path)
	}
	return raw
}

// spoken returns the call as a model of Cursor's writes it.
func (s *speller) spoken() (name string, input session.Raw) {
	asked := len(s.call.Input) > 0
	name = s.call.Name
	if asked && (s.own || s.call.Input[0] != '{' && s.call.Input[0] != 'n') {
		if !s.own {
			name = s.usual()
		}
		return name, s.call.Input
	}
	if name = s.usual(); s.kind.name == "edit" && name == s.call.Name && name != "Write" && asked {
		return name, s.call.Input
	}
	return name, s.renamed()
}

// usual returns the name that Cursor's models have for the tool.
func (s *speller) usual() string {
	names := toolmap.Names(s.kind.name)
	docs := []doc{s.input, s.args}
	switch {
	case len(names) == 0:
		return s.call.Name
	case s.kind.name != "edit":
		return names[0]
	case rawjson.IsText(s.call.Input), get(docs, "patch", "patchContent") != nil:
		return "ApplyPatch"
	case get(docs, "edits") != nil, s.call.Name == "NotebookEdit":
		return s.call.Name
	case get(docs, oldNames...) != nil:
		return "StrReplace"
	case get(docs, contentNames...) != nil:
		return "Write"
	}
	return "StrReplace"
}

// The names of what an edit takes out, what it puts there, and what it writes.
var (
	oldNames     = []string{"old_string", "oldString", "old_str"}
	newNames     = []string{"new_string", "newString", "new_str"}
	contentNames = []string{"contents", "content", "file_text"}
)

// renamed returns the arguments under the names that Cursor's models have for them. All
// others keep their names.
func (s *speller) renamed() session.Raw {
	from, doc := s.input, s.call.Input
	inferred := len(doc) == 0 || doc[0] != '{'
	if inferred {
		from, doc = s.args, s.call.Args
	}
	o := object.New(make([]byte, 0, len(doc)+64))
	var taken []string
	same := true
	for _, m := range from {
		name, value := string(m.name), m.value
		model, known := s.modelName(name)
		if inferred && !known && s.own {
			continue // the client's own
		}
		if known {
			value = s.modelValue(model, value)
			if slices.Contains(taken, model) || model != name && from.has(model) {
				model = name
			}
			taken = append(taken, model)
		}
		same = same && model == name && bytes.Equal(value, m.value)
		writeName(&o, model)
		o.B = append(o.B, value...)
	}
	if same && !inferred {
		return s.call.Input
	}
	return o.Done()
}

func writeName(o *object.Writer, name string) {
	escaped := session.AppendString(nil, name)
	o.Name(string(escaped[1 : len(escaped)-1]))
}

// modelName returns what a model calls an argument, and whether the tool has it.
func (s *speller) modelName(name string) (model string, known bool) {
	if s.kind.name == "edit" {
		switch {
		case slices.Contains(oldNames, name):
			return oldNames[0], true
		case slices.Contains(newNames, name):
			return newNames[0], true
		case slices.Contains(contentNames, name):
			return contentNames[0], true
		case name == "replace_all" || name == "replaceAll":
			return "replace_all", true
		}
	}
	for _, a := range toolmap.Arguments(s.kind.name) {
		if slices.Contains(a.Names, name) {
			return a.Model, true
		}
	}
	return name, false
}

// modelValue returns an argument in the form in which models write it.
func (s *speller) modelValue(model string, value []byte) []byte {
	switch {
	case s.kind.name == "updateTodos" && model == "todos":
		return modelTodos(value)
	case s.kind.name == "askQuestion" && model == "questions":
		return modelQuestions(value)
	case s.kind.name == "task" && model == "subagent_type":
		if word := subagentWord(value); word != "" {
			return session.AppendString(nil, word)
		}
	case model == "command" && len(value) > 0 && value[0] == '[':
		if line := Line(value); line != "" {
			return session.AppendString(nil, line)
		}
	}
	return value
}
