package leaves_test

import (
	"iter"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"rehome/formats/formatstest/leaves"
	"rehome/formats/session"
)

// writes0 declares what a writer of lines does that has a call and its result as elements.
const writes0 = `kinds record role agent

dropped The test has no use for it.
	* * * {Agent,Role,ID,Bytes,Turns,Parts.ToolCall.Name,Extras.name}
derived as:** It is a member of that name.
	message assistant * Extras.raw

kinds type

calls
	call list[].id
answers
	result list[].of

invented A line says what it is.
	* type
`

const reader0 = `kinds type
said user
	user text
	list said
said model
	model text
	call list[].input.**
said tool
	result list[].text
	list text
`

const lines0 = `{"type":"user","text":"What is in the picture?"}
{"type":"call","list":[{"id":"c1","input":{"path":"a.png"}},{"id":"c2","input":{"path":"b.png"}}]}
{"type":"result","list":[{"of":"c1","text":"a cat that sleeps"},{"of":"c2","text":"a dog"}]}
{"type":"model","text":"There are two pets.","ms":82}
`

// pets is the session that lines0 is made of.
func pets() *session.Session {
	list := []*session.Message{
		{ID: "1", Role: session.User, Parts: []session.Part{&session.Text{Text: "What is in the picture?"}}},
		{ID: "2", Role: session.Assistant, Parts: []session.Part{
			&session.ToolCall{ID: "c1", Name: "Read", Input: session.Raw(`{"path":"a.png"}`)}, &session.ToolCall{ID: "c2", Name: "Read", Input: session.Raw(`{"path":"b.png"}`)},
		}},
		{ID: "3", Role: session.Tool, Parts: []session.Part{
			&session.ToolResult{Call: "c1", Content: []session.Part{&session.Text{Text: "a cat that sleeps"}}}, &session.ToolResult{Call: "c2", Content: []session.Part{&session.Text{Text: "a dog"}}},
		}},
		{ID: "4", Role: session.Assistant, Parts: []session.Part{&session.Text{Text: "There are two pets."}},
			Extras: []session.Extra{{Name: "ms", Raw: session.Raw("82")}}},
	}
	return &session.Session{Head: session.Head{ID: "s", Agent: "a"}, Messages: func(yield func(*session.Message, error) bool) {
		for _, m := range list {
			if !yield(m, nil) {
				return
			}
		}
	}}
}

// TestWriter: what a writer forgets, invents, puts into other mouths, in another order or beside
// another call is found.
func TestWriter(t *testing.T) {
	for _, c := range []struct{ from, to, want string }{
		{"", "", ""},
		{"two pets", "pets", `lost: 4: message assistant a Parts.Text.Text: "There are two pets."`},
		{`{"type":"user","text":"What is in the picture?"}` + "\n", "", `lost: 1: message user a Parts.Text.Text: "What is in the picture?"`},
		{`"type":"model"`, `"type":"user"`, `lost: 4: message assistant a Parts.Text.Text: "There are two pets." is what the user says`},
		{"a dog", `a dog","more":"of it`, `invented: s.jsonl:3: result list[].more: "of it"`},
		{`"a cat that sleeps"},{"of":"c2","text":"a dog"`, `"a dog"},{"of":"c2","text":"a cat that sleeps"`, `apart: 3: no record has a result of call "c1"`},
		{`{"path":"a.png"}},{"id":"c2","input":{"path":"b.png"}`, `{"path":"b.png"}},{"id":"c2","input":{"path":"a.png"}`, `apart: 2: no record has call "c1"`},
		{`"ms":82`, `"seconds":82`, `lost: 4: message assistant a Extras.raw: "82"`},
		{`"What is in the picture?"`, `"There are two pets."`, "lost: 1: message user a"},
	} {
		holds(t, writes0, strings.Replace(lines0, c.from, c.to, 1), c.want, false)
	}
	line := strings.SplitAfter(lines0, "\n")
	holds(t, writes0, line[3]+line[0]+line[1]+line[2], `out of order: 4: message assistant a Parts.Text.Text: "There are two pets." is before 1`, false)
}

// TestTold: what must be in a second telling is missed there, and a copy of what the session does
// not have is found.
func TestTold(t *testing.T) {
	declared := strings.Replace(writes0, "dropped", "told list\n\tmessage user * Parts.Text.Text\n\ndropped", 1) + `
copied The list repeats what a tool got.
	list {path,name,line}
`
	const list = `{"type":"list","said":"What is in the picture?","path":"a.png","name":"path"}` + "\n"
	for _, c := range []struct{ from, to, want string }{
		{"", "", ""},
		{`"said":"What is in the picture?"`, `"path":"b.png"`, `not told in list: 1: message user a Parts.Text.Text: "What is in the picture?"`},
		{"a.png", "c.png", `invented: s.jsonl:5: list path: "c.png"`},
		{`"name":"path"`, `"name":"paths"`, `invented: s.jsonl:5: list name: "paths"`},
	} {
		holds(t, declared, lines0+strings.Replace(list, c.from, c.to, 1), c.want, false)
	}
}

// TestToldTogether: where a call or a result is declared to be told, it must be with what it has, or
// with a record of a result, unless a loss names it.
func TestToldTogether(t *testing.T) {
	declared := strings.Replace(writes0, "dropped", "told list\n\tmessage * * Parts.{ToolCall.ID,ToolResult.Call}\n\ndropped", 1)
	declared = strings.Replace(declared, "calls\n", "calls\n\tlist id\n", 1)
	declared = strings.Replace(declared, "answers\n", "answers\n\tlist id\n", 1) + "copied The list repeats it.\n\tlist {input.**,text}\n"
	const list = `{"type":"list","id":"c1","input":{"path":"a.png"},"text":"a cat that sleeps"}
{"type":"list","id":"c2","input":{"path":"b.png"},"text":"a dog"}
`
	for _, c := range []struct{ from, to, want string }{
		{"", "", ""},
		{`,"text":"a dog"`, "", `apart: 3: no record in list has a result of call "c2"`},
		{`"text":"a cat that sleeps"`, `"text":"a dog"`, `apart: 3: no record in list has a result of call "c1"`},
		{`"path":"b.png"`, `"path":"a.png"`, `apart: 2: no record in list has call "c2"`},
	} {
		holds(t, declared, lines0+strings.Replace(list, c.from, c.to, 1), c.want, false)
	}
}

const linedWrites0 = `kinds record role agent

derived is:Text=text,ToolCall=call,ToolResult=result The word for it.
	message * * Parts.**.Type
dropped They are counted anew.
	session - * {Bytes,Turns}

kinds type

invented A line says what it is.
	* type
`

const lined0 = `{"type":"session","id":"s","agent":"a"}
{"type":"message","id":"1","role":"user","parts":[{"type":"text","text":"What is in the picture?"}]}
{"type":"message","id":"2","role":"assistant","parts":[{"type":"call","id":"c1","name":"Read","input":{"path":"a.png"}},{"type":"call","id":"c2","name":"Read","input":{"path":"b.png"}}]}
{"type":"message","id":"3","role":"tool","parts":[{"type":"result","call":"c1","content":[{"type":"text","text":"a cat that sleeps"}]},{"type":"result","call":"c2","content":[{"type":"text","text":"a dog"}]}]}
{"type":"message","id":"4","role":"assistant","parts":[{"type":"text","text":"There are two pets."}],"extras":[{"name":"ms","raw":82}]}
`

// TestLined: where each record is a line, each leaf is under its member, and in its order.
func TestLined(t *testing.T) {
	for _, c := range []struct{ from, to, want string }{
		{"", "", ""},
		{`"id":"4"`, `"id":"5"`, `lost: 4: message assistant a ID: "4" is missing`},
		{`"agent":"a"`, `"agent":"a","model":"m"`, `invented: s.jsonl:1: session model: "m"`},
		{`"text","text":"There are two pets."`, `"text","said":"There are two pets."`, `lost: 4: message assistant a Parts.Text.Text`},
		{`[{"type":"text","text":"What`, `[{"type":"call","text":"What`, `lost: 1: message user a Parts.Text.Type: "Text"`},
		{`"a cat that sleeps"}]},{"type":"result","call":"c2","content":[{"type":"text","text":"a dog"`, `"a dog"}]},{"type":"result","call":"c2","content":[{"type":"text","text":"a cat that sleeps"`, `out of order: 3: message tool a Parts.ToolResult.Content.Text.Text: "a dog"`},
		{`{"type":"session","id":"s","agent":"a"}` + "\n", "", "5 records are 4 lines"},
	} {
		holds(t, linedWrites0, strings.Replace(lined0, c.from, c.to, 1), c.want, true)
	}
}

// holds requires that the law of a writer reports what is wanted of lines, or nothing if that is "".
func holds(t *testing.T, declared, lines, want string, lined bool) {
	t.Helper()
	path := filepath.Join(t.TempDir(), "s.jsonl")
	if err := os.WriteFile(path, []byte(lines), 0o666); err != nil {
		t.Fatal(err)
	}
	walk := func(t testing.TB, path string, kinds []string) iter.Seq[leaves.Record] {
		return func(yield func(leaves.Record) bool) {
			for r := range leaves.Lines()(t, path, kinds) {
				if r.Kind == "list" {
					r.Telling = r.Kind
				}
				if !yield(r) {
					return
				}
			}
		}
	}
	w, r := leaves.NewWriter(t, leaves.NewLaw(t, walk, reader0, nil), declared, nil), &recorder{TB: t}
	w.Lined = lined
	w.Holds(r, []*leaves.Source{w.Source(t, pets())}, path)
	if got := r.text.String(); !strings.Contains(got, want) || (got == "") != (want == "") {
		t.Errorf("%s\nwant %q\n got %q", lines, want, got)
	}
}
