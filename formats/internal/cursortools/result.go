package cursortools

import (
	"slices"
	"strconv"
	"strings"

	"rehome/formats/internal/object"
	"rehome/formats/internal/toolmap"
	"rehome/formats/internal/wire"
	"rehome/formats/session"
	"rehome/internal/rawjson"
)

// values returns the objects of a record in which the fields of a result are looked for.
func values(value []byte) []doc {
	if len(value) == 0 || value[0] != '{' {
		return nil
	}
	if in := Case(value); len(in) > 0 && in[0] == '{' {
		value = in
	}
	docs := []doc{parse(value)}
	if file := parse(docs[0].get("file")); file != nil {
		docs = append([]doc{file}, docs...)
	}
	return docs
}

// shown returns what the model was shown of the result.
func (s *speller) shown() string {
	if s.text == nil {
		var texts []string
		for _, p := range s.result.Content {
			if t, ok := p.(*session.Text); ok {
				texts = append(texts, t.Text)
			}
		}
		text := strings.Join(texts, "\n")
		if record := string(s.result.Value); text == "" && len(s.result.Content) == 0 {
			if text = Shown(s.kind.name, s.result.Value); strings.HasPrefix(text, "{") && strings.HasSuffix(strings.TrimRight(record, "}"), strings.TrimRight(text, "}")) {
				text = "" // nothing in it is known to be text
			}
		}
		s.text = &text
	}
	return *s.text
}

// rejected reports a call that the user did not allow.
func (s *speller) rejected() bool {
	return s.result.Status == "rejected" || s.result.Error && strings.HasPrefix(s.shown(), "The user doesn't want to ")
}

// failed reports a call that did not do what it was asked to.
func (s *speller) failed() bool { return s.result.Error || toolmap.Failed(s.result.Status) }

// returned makes the message of the result.
func (s *speller) returned() message {
	value := s.result.Value
	if s.own && s.kind.name == "read" {
		value = s.inlined(value)
	}
	if v, ok := s.verbatim(s.kind.result, value); ok {
		return v
	}
	f := s.outcome()
	if f == nil {
		return message{session.Raw("{}"), []byte{}}
	}
	for _, trust := range []bool{true, false} {
		o := object.New(nil)
		o.Name(f.Name)
		o.B = s.body(o.B, f, trust)
		if s.kind.name == "shell" && get(s.values, "backgroundTaskId") != nil {
			o.Flag("isBackground", true)
		}
		if v, ok := canonical(s.kind.result, o.Done()); ok {
			return v
		}
	}
	v, _ := canonical(s.kind.result, []byte(`{"`+f.Name+`":{}}`))
	return v
}

// outcome returns the case of the result; nil if the message has none.
func (s *speller) outcome() *wire.Field {
	m := s.kind.result
	for _, name := range s.cases() {
		if f := m.Named(name); f != nil && f.OneOf != "" && f.Message != nil {
			return f
		}
	}
	for _, f := range m.Fields {
		if f.OneOf != "" && f.Message != nil && toolmap.Failed(f.Name) == s.failed() {
			return f
		}
	}
	return nil
}

// cases returns the cases that the result can be of, the best first.
func (s *speller) cases() []string {
	word, _ := toolmap.Outcome(s.result.Status)
	failed := s.failed()
	switch {
	case s.rejected():
		return []string{"rejected", "error", "failure"}
	case failed && word != "error" && word != "success":
		return []string{word, "failure", "error"}
	case failed:
		return []string{"failure", "error"}
	}
	return []string{word, "success", "complete"}
}

// errorNames are the fields that say what went wrong.
var errorNames = []string{"error", "errorMessage", "reason", "modelVisibleError", "clientVisibleError"}

// body appends the message of a case. Without trust each value is tried first.
func (s *speller) body(dst []byte, f *wire.Field, trust bool) []byte {
	if s.kind.name == "edit" && f.Name == "success" {
		return s.edited().success(dst, s)
	}
	o := object.New(dst)
	told := false
	fields := s.kind.cases[f.Name]
	for i := range fields {
		in := &fields[i]
		raw := get(s.values, in.names...)
		if in.make != nil {
			raw = in.make(s, f, raw)
		}
		if raw == nil && in.given != nil {
			raw = get([]doc{s.input, s.args}, in.given...)
		}
		if raw == nil && !told && toolmap.Failed(f.Name) && slices.Contains(errorNames, in.Name) {
			raw = session.AppendString(nil, s.shown())
			told = true
		}
		if raw == nil && in.make == nil && in.main {
			raw = s.main(in.Field)
		}
		fill(&o, in.Field, raw, trust && in.make != nil)
	}
	return o.Done()
}

// named returns an argument of the call.
func (s *speller) named(name string) []byte {
	return get([]doc{s.input, s.args}, s.kind.given(name)...)
}

// main returns what the model was shown as the value of a field.
func (s *speller) main(f *wire.Field) []byte {
	if f.Kind != wire.String {
		return nil
	}
	text := s.shown()
	if !f.Repeated {
		return session.AppendString(nil, text)
	}
	out := []byte{'['}
	for line := range strings.Lines(text) {
		if len(out) > 1 {
			out = append(out, ',')
		}
		out = session.AppendString(out, strings.TrimSuffix(line, "\n"))
	}
	return append(out, ']')
}

// makeField makes the value of a field of a case. raw is what the record has, if anything.
type makeField func(s *speller, f *wire.Field, raw []byte) []byte

// madeResults are the fields that other clients have in another form.
func madeResults() map[string]makeField {
	return map[string]makeField{
		"shell.exitCode":         func(s *speller, f *wire.Field, raw []byte) []byte { return s.exitCode(f, raw) },
		"shell.workingDirectory": func(s *speller, _ *wire.Field, raw []byte) []byte { return folder(raw) },
		"shell.command":          func(*speller, *wire.Field, []byte) []byte { return nil }, // that of the call
		"read.content":           func(s *speller, _ *wire.Field, raw []byte) []byte { return s.content(raw) },
		"read.data":              func(s *speller, _ *wire.Field, raw []byte) []byte { return s.picture(raw) },
		"read.isEmpty":           func(*speller, *wire.Field, []byte) []byte { return nil },
		"task.resultSuffix":      func(s *speller, _ *wire.Field, raw []byte) []byte { return s.answer(raw) },
		"task.agentId":           func(s *speller, _ *wire.Field, raw []byte) []byte { return s.child(raw) },
		"grep.workspaceResults":  func(s *speller, _ *wire.Field, raw []byte) []byte { return s.found(raw) },
		"grep.outputMode":        func(s *speller, _ *wire.Field, _ []byte) []byte { return s.mode() },
		"ls.directoryTreeRoot":   func(s *speller, _ *wire.Field, raw []byte) []byte { return s.folder(raw) },
		"webSearch.references":   func(s *speller, _ *wire.Field, raw []byte) []byte { return s.references(raw) },
		"updateTodos.todos":      func(s *speller, _ *wire.Field, raw []byte) []byte { return s.listed(raw) },
		"updateTodos.totalCount": func(s *speller, _ *wire.Field, raw []byte) []byte { return s.total(raw) },
		"readTodos.todos":        func(s *speller, _ *wire.Field, raw []byte) []byte { return todos(raw) },
		"askQuestion.answers":    func(s *speller, _ *wire.Field, raw []byte) []byte { return s.answers(raw) },
		"shell.aborted":          func(s *speller, _ *wire.Field, _ []byte) []byte { return get(s.values, "aborted", "interrupted") },
		"readTodos.totalCount":   func(s *speller, _ *wire.Field, raw []byte) []byte { return s.total(raw) },
	}
}

// exitCode returns how a command ended, by its record or by what the model was shown. A
// command that failed did not end with 0.
func (s *speller) exitCode(f *wire.Field, raw []byte) []byte {
	if raw != nil {
		return raw
	}
	text := strings.TrimPrefix(s.shown(), "Error: ")
	for _, label := range []string{"Exit code ", "Exit code: ", "Process exited with code "} {
		if _, rest, ok := strings.Cut(text[:min(len(text), 1<<10)], label); ok {
			digits := rest[:len(rest)-len(strings.TrimLeft(rest, "0123456789"))]
			if n, err := strconv.ParseInt(digits, 10, 32); err == nil {
				return strconv.AppendInt(nil, n, 10)
			}
		}
	}
	if f.Name == "failure" {
		return []byte("1")
	}
	return nil
}

// child returns the session that the call started.
func (s *speller) child(raw []byte) []byte {
	if s.call.Child == "" {
		return raw
	}
	return session.AppendString(nil, s.call.Child)
}

// answer returns what a subagent answered. It has a place among the steps of the
// subagent, too, but those of a call are a session: that of the subagent is another one.
func (s *speller) answer(raw []byte) []byte {
	if raw != nil {
		return raw
	}
	text := ""
	for e := range rawjson.Elements(get(s.values, "content")) {
		text += rawjson.TextAt(e, "text")
	}
	if text == "" {
		text = s.shown()
	}
	if text == "" {
		return nil
	}
	return session.AppendString(nil, text)
}
