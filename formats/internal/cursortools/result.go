package cursortools

import (
	"slices"
	"strconv"
	"strings"

	"rehome/formats/internal/object"
	"rehome/formats/internal/rawjson"
	"rehome/formats/internal/toolmap"
	"rehome/formats/internal/wire"
	"rehome/formats/session"
)

// values returns the objects of a record in which the fields of a result are looked for.
func values(value []byte) []doc {
	if len(value) == 0 || value[0] != '{' {
		return nil
	}
	docs := []doc{parse(value)}
	if in := Case(value); len(in) > 0 && in[0] == '{' && len(in) < len(value) {
		docs = append([]doc{parse(in)}, docs...)
	}
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
		if text == "" && len(s.result.Content) == 0 {
			text = Shown(s.kind.name, s.result.Value)
		}
		s.text = &text
	}
	return *s.text
}

// rejected reports a call that the user did not allow.
func (s *speller) rejected() bool {
	return s.result.Status == "rejected" || s.result.Error && strings.HasPrefix(s.shown(), "The user doesn't want to ")
}

// returned makes the message of the result; nil if the call has none.
func (s *speller) returned() session.Raw {
	if s.result == nil {
		return nil
	}
	if v, ok := s.verbatim(s.kind.result, s.result.Value); ok {
		return v
	}
	o := object.New(nil)
	f := s.outcome()
	if f == nil {
		return o.Done()
	}
	o.Name(f.Name)
	o.B = s.body(o.B, f)
	if s.kind.name == "shell" && get(s.values, "backgroundTaskId") != nil {
		o.Flag("isBackground", true)
	}
	if v, ok := made(s.kind.result, o.Done()); ok {
		return v
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
		if f.OneOf != "" && f.Message != nil {
			return f
		}
	}
	return nil
}

// cases returns the cases that the result can be of, the best first.
func (s *speller) cases() []string {
	word, failed := toolmap.Outcome(s.result.Status)
	failed = failed || s.result.Error
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

// body appends the message of a case.
func (s *speller) body(dst []byte, f *wire.Field) []byte {
	if s.kind.name == "edit" && f.Name == "success" {
		return s.edited().success(dst, s)
	}
	o := object.New(dst)
	told := false
	for _, field := range f.Message.Fields {
		if field.OneOf != "" && field.Name != s.kind.main && !(s.kind.name == "read" && field.Name == "data") {
			continue
		}
		raw := get(s.values, s.kind.named(field)...)
		make := madeResults[s.kind.name+"."+field.Name]
		if make != nil {
			raw = make(s, f, raw)
		}
		if raw == nil {
			raw = s.argument(field.Name)
		}
		if raw == nil && toolmap.Failed(f.Name) && !told && slices.Contains(errorNames, field.Name) {
			raw = session.AppendString(nil, s.shown())
			told = true
		}
		if raw == nil && make == nil && field.Name == s.kind.main {
			raw = s.main(field)
		}
		fill(&o, field, raw)
	}
	return o.Done()
}

// argument returns what the call says of a field that arguments have, too.
func (s *speller) argument(name string) []byte {
	for i := range s.kind.arguments {
		if a := &s.kind.arguments[i]; a.Name == name && a.Kind == wire.String && !a.Repeated {
			return get([]doc{s.input, s.args}, a.names...)
		}
	}
	if name == "pattern" && s.kind.name == "glob" {
		return get([]doc{s.input, s.args}, toolmap.ArgumentNames("glob", "globPattern")...)
	}
	return nil
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

// madeResults are the fields that other clients have in another form.
var madeResults = map[string]func(s *speller, f *wire.Field, raw []byte) []byte{
	"shell.exitCode":         func(s *speller, f *wire.Field, raw []byte) []byte { return s.exitCode(f, raw) },
	"shell.workingDirectory": func(s *speller, _ *wire.Field, raw []byte) []byte { return folder(raw) },
	"shell.command":          func(*speller, *wire.Field, []byte) []byte { return nil }, // that of the call
	"read.content":           func(s *speller, _ *wire.Field, raw []byte) []byte { return s.content(raw) },
	"read.data":              func(s *speller, _ *wire.Field, raw []byte) []byte { return s.picture(raw) },
	"read.isEmpty":           func(*speller, *wire.Field, []byte) []byte { return nil },
	"task.resultSuffix":      func(s *speller, _ *wire.Field, raw []byte) []byte { return s.answer(raw) },
	"task.agentId":           func(s *speller, _ *wire.Field, _ []byte) []byte { return s.child() },
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
func (s *speller) child() []byte {
	if s.call.Child == "" {
		return nil
	}
	return session.AppendString(nil, s.call.Child)
}

// content returns what was read as text.
func (s *speller) content(raw []byte) []byte {
	if raw == nil && s.picture(nil) == nil {
		return session.AppendString(nil, s.shown())
	}
	return raw
}

// picture returns what was read if it is an image.
func (s *speller) picture(raw []byte) []byte {
	if raw == nil {
		raw = get(s.values, "base64")
	}
	return raw
}

// answer returns what a subagent answered. It has a place among the steps of the
// subagent, too, but those of a call are a session: that of the subagent is another one.
func (s *speller) answer(raw []byte) []byte {
	if raw != nil {
		return raw
	}
	text := ""
	for e := range rawjson.Elements(get(s.values, "content")) {
		text += rawjson.Text(rawjson.Last(e, "text"))
	}
	if text == "" {
		text = s.shown()
	}
	return session.AppendString(nil, text)
}
