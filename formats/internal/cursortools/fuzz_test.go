package cursortools

import (
	"testing"

	"rehome/formats/internal/toolmap"
	"rehome/formats/internal/wire"
	"rehome/formats/session"
	"rehome/internal/rawjson"
)

// FuzzSpell: whatever a call holds, it is spelled as one that is encoded, decoded as the
// same, and stays the same.
func FuzzSpell(f *testing.F) {
	for _, c := range append(claudeSamples(), otherSamples()...) {
		f.Add(c.agent, c.kind, c.name, c.input, c.args, c.status, c.shown, c.value)
	}
	kinds := toolmap.Kinds()
	f.Fuzz(func(t *testing.T, agent, kind, name, input, args, status, shown, value string) {
		if len(kind) == 1 {
			kind = kinds[int(kind[0])%len(kinds)]
		}
		c := sample{agent: agent, kind: kind, name: name, input: line(input), args: line(args), status: status, shown: shown, value: line(value)}
		call, r := c.parts()
		checkCall(t, name, Spell(c.agent, call, r), call, r)
		alone := Spell(c.agent, call, nil)
		with := Spell(c.agent, call, r)
		if alone.Kind != with.Kind || alone.Name != with.Name || string(alone.Input) != string(with.Input) || string(alone.Args) != string(with.Args) {
			t.Errorf("without its result it is\n%+v, with it\n%+v", alone, with)
		}
	})
}

// line makes a value of a session of a text, "" if it is not JSON.
func line(text string) string {
	b, _, err := rawjson.Line([]byte(text))
	if err != nil {
		return ""
	}
	return string(b)
}

// TestKinds: every kind has a place for each of its plain arguments, by its own name and by
// that in snake case, and for a result and an error.
func TestKinds(t *testing.T) {
	for name, k := range kinds() {
		if name == mcpKind {
			continue
		}
		for _, snake := range []bool{false, true} {
			input := `{"other":1`
			for _, a := range k.arguments {
				field := a.Name
				if snake {
					field = toolmap.Snake(field)
				}
				input += `,"` + field + `":` + plainValue(&a)
			}
			call := &session.ToolCall{ID: "c1", Name: name, Kind: name, Input: session.Raw(input + "}")}
			for _, r := range []*session.ToolResult{nil, {Call: "c1", Status: "success"}, {Call: "c1", Status: "error", Error: true, Content: []session.Part{&session.Text{Text: "bad"}}}} {
				got := Spell(session.Codex, call, r)
				if got.Kind != name {
					t.Errorf("%s is spelled as %s", name, got.Kind)
				}
				checkCall(t, name, got, call, r)
				for _, a := range k.arguments {
					if v := rawjson.Last(got.Args, a.Name); v == nil && plainValue(&a) != "null" {
						t.Errorf("%s: argument %s is not in %s", name, a.Name, got.Args)
					}
				}
			}
		}
	}
}

// plainValue is a value that every client writes alike; null for an argument that has none.
func plainValue(a *argument) string {
	switch {
	case a.must && a.Message != nil:
		return `[{"id":"1"}]`
	case a.Key != 0 || a.Message != nil || a.Name == "streamContent":
		return "null"
	case a.Kind == wire.Enum:
		for n := uint64(1); n < 5; n++ {
			if word := a.Word(n); word != "" {
				if a.Repeated {
					return "null"
				}
				return `"` + word + `"`
			}
		}
		return "null"
	}
	value := "7"
	switch a.Kind {
	case wire.String:
		value = `"text"`
	case wire.Bool:
		value = "true"
	case wire.Blob, wire.Ref:
		return "null"
	}
	if a.Repeated {
		value = "[" + value + "]"
	}
	return value
}
