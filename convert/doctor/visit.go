package doctor

import (
	"cmp"
	"encoding/json"
	"strings"

	"rehome/formats/session"
)

// visitor counts what the records of one store hold that is not known.
type visitor struct {
	known    *knowledge // nil: nothing is counted
	out      tally
	at       string // the record that is visited, as the canonical form names it
	rawBytes int64
}

// visit counts a record and all records in it.
func (v *visitor) visit(at string, r session.Record) {
	was := v.at
	v.at = at
	switch r := r.(type) {
	case *session.Opaque:
		v.rawBytes += int64(len(r.Raw))
		v.opaque(r)
	case *session.ToolCall:
		v.toolName(r)
	}
	session.Visit(r, v)
	v.at = was
}

// opaque counts a record that was not converted, or, of an event that was, the
// members that were not.
func (v *visitor) opaque(r *session.Opaque) {
	switch r.Kind {
	case "event members":
		var object map[string]json.RawMessage
		if json.Unmarshal(r.Raw, &object) == nil {
			for name := range object {
				v.add(Field, name)
			}
		}
	case "event":
		var event struct {
			EventType string
			Payload   struct {
				Type    string
				Message struct{ Type string }
			}
		}
		json.Unmarshal(r.Raw, &event) // whatever else is in it does not matter
		v.add(Record, "event/"+cmp.Or(event.Payload.Message.Type, event.Payload.Type, event.EventType))
	default:
		v.add(Record, r.Kind)
	}
}

// toolName counts a call of a tool that is not known. The names of MCP tools are the
// user's.
func (v *visitor) toolName(c *session.ToolCall) {
	numbered := strings.HasPrefix(c.Kind, "tool-")
	switch {
	case strings.HasPrefix(c.Name, "mcp_") || c.Kind != "" && !numbered:
	case numbered:
		v.add(Tool, c.Kind)
	default:
		v.add(Tool, c.Name)
	}
}

// Required and Optional are called by session.Visit with the members of a record.
func (v *visitor) Required(name string, value any) {
	if kind, ok := value.(session.Constant); ok && name == "type" {
		if kind := strings.Trim(string(kind), `"`); kind != "session" && kind != "message" && kind != "file" {
			v.at += "/" + kind
		}
		return
	}
	v.Optional(name, value)
}

func (v *visitor) Optional(name string, value any) {
	switch value := value.(type) {
	case *[]session.Extra:
		for i := range *value {
			e := &(*value)[i]
			v.rawBytes += int64(len(e.Raw))
			if at := strings.LastIndexByte(e.Name, '.'); !isNumbered(e.Name[at+1:]) { // a rule reports these
				v.add(Field, e.Name)
			}
		}
	case *[]session.Part:
		for _, p := range *value {
			v.visit(v.at, p)
		}
	case session.Object:
		if r := value.Get(); r != nil {
			v.visit(v.at+"/"+name, r)
		}
	case session.Objects:
		for i := range value.Len() {
			v.visit(v.at+"/"+name, value.At(i))
		}
	}
}

// isNumbered reports whether a name is that of a field of protobuf without a name.
func isNumbered(name string) bool {
	digits, ok := strings.CutPrefix(name, "#")
	return ok && digits != "" && strings.Trim(digits, "0123456789") == ""
}

// add counts something at the current place, unless it is known.
func (v *visitor) add(kind Kind, name string) {
	if v.known != nil && !v.known.has(kind, name) {
		separators := "."
		if kind == Record { // see opaque
			separators = "./"
		}
		v.out.add(Drift{Kind: kind, Name: cmp.Or(hideParts(name, separators), "(no name)"), Where: hide(v.at), Count: 1})
	}
}
