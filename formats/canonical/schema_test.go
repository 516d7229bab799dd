package canonical

import (
	"fmt"
	"reflect"
	"strings"
	"testing"

	"rehome/formats/session"
	"rehome/internal/rawjson"
	"rehome/schemas"
)

// records are the definitions of the schema and what they describe.
var records = map[string]session.Record{
	"head": &session.Session{}, "link": &session.Link{}, "repo": &session.Repo{}, "todo": &session.Todo{}, "context": &session.Context{}, "branch": &session.Branch{}, "extra": &session.Extra{},
	"message": &session.Message{}, "turn": &session.Turn{}, "usage": &session.Usage{}, "file": &session.File{}, "body": &session.Body{},
	"text": &session.Text{}, "injected": &session.Injected{}, "thinking": &session.Thinking{}, "tool_call": &session.ToolCall{}, "tool_result": &session.ToolResult{},
	"media": &session.Media{}, "summary": &session.Summary{}, "boundary": &session.Boundary{}, "opaque": &session.Opaque{},
}

// TestPublishedSchema holds the published schema to the members that are written and
// read: their names, their order, the form of their values, and which are required.
func TestPublishedSchema(t *testing.T) {
	text, err := schemas.Text("canonical-1")
	if err != nil {
		t.Fatal(err)
	}
	defs := map[string][]byte{}
	for name, def := range rawjson.Members(rawjson.Last(text, "$defs")) {
		defs[string(name)] = def
		if records[string(name)] == nil && string(name) != "part" && string(name) != "stamp" {
			t.Errorf("%s: not a record", name)
		}
	}
	for name, r := range records {
		var want, required []string
		for name, value := range rawjson.Members(rawjson.Last(defs[name], "properties")) {
			want = append(want, string(name)+" "+form(value))
		}
		for name := range rawjson.Elements(rawjson.Last(defs[name], "required")) {
			required = append(required, rawjson.Text(name))
		}
		var got described
		session.Visit(r, &got)
		if !reflect.DeepEqual(got.members, want) || !reflect.DeepEqual(got.required, required) {
			t.Errorf("%s:\nrecord %s\nschema %s\nrecord requires %q, schema requires %q", name, strings.Join(got.members, "\n       "), strings.Join(want, "\n       "), got.required, required)
		}
		if part, ok := r.(session.Part); ok && reflect.TypeOf(session.NewPart(got.kind)) != reflect.TypeOf(part) {
			t.Errorf("%s: a part of type %q is another", name, got.kind)
		}
	}
}

// form is a schema without the words, as far as a value determines it.
func form(schema []byte) (out string) {
	for name, value := range rawjson.Members(schema) {
		switch string(name) {
		case "description", "minItems":
		case "items":
			out += "[" + form(value) + "]"
		case "enum":
			out += "string"
		default:
			out += strings.Trim(fmt.Sprintf("%s=%s;", name, value), ";")
		}
	}
	return strings.NewReplacer(`type="array"`, "", `type="string"`, "string", `type="integer"`, "integer", `$ref="#/$defs/`, "", `"`, "").Replace(out)
}

// described is a record, in the words of form.
type described struct {
	members, required []string
	kind              string
}

func (d *described) Required(name string, value any) {
	d.required = append(d.required, name)
	d.Optional(name, value)
}

func (d *described) Optional(name string, value any) {
	if kind, ok := value.(session.Constant); ok && name == "type" {
		d.kind = strings.Trim(string(kind), `"`)
	}
	form := valueForm(value)
	if _, ok := value.(*int); ok && name == "number" { // of a turn
		form = "integerminimum=1"
	}
	d.members = append(d.members, name+" "+form)
}

func valueForm(value any) string {
	switch v := value.(type) {
	case session.Constant:
		return "const=" + strings.Trim(string(v), `"`)
	case *session.Raw:
		return ""
	case *session.Stamp:
		return "stamp"
	case *bool:
		return "const=true"
	case *int, *session.Count:
		return "integerminimum=0"
	case *int64:
		return "integer"
	case *[]byte, *session.Binary:
		return "stringcontentEncoding=base64"
	case *[]string:
		return "[string]"
	case *[]session.Part:
		return "[part]"
	case *[]session.Extra:
		return "[extra]"
	case session.Object:
		return definition(v.New())
	case session.Objects:
		return "[" + definition(v.Add()) + "]"
	}
	return "string"
}

func definition(r session.Record) string {
	for name, of := range records {
		if reflect.TypeOf(of) == reflect.TypeOf(r) {
			return name
		}
	}
	return "no definition"
}
