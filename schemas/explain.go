package schemas

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"github.com/santhosh-tekuri/jsonschema/v5"
)

const maxCauses = 20

// The beginnings of causes: what follows is a name or a value of the schema, or
// names of the document's members.
const (
	lacks   = "lacks: "
	unknown = "has members that have no place here: "
	mustBe  = "must be "
	breaks  = "breaks the rule "
)

// Identity returns what tells a cause from the others at its place, without its
// wording: the kind of rule, and the names and values in the cause. It returns ""
// for an error that is the only one of its document.
func Identity(cause string) string {
	for kind, begins := range map[string]string{"required": lacks, "additionalProperties": unknown, "value": mustBe, "rule": breaks} {
		if rest, ok := strings.CutPrefix(cause, begins); ok {
			return kind + " " + rest
		}
	}
	return ""
}

// explain words the library's verdict: position first, then what the schema
// asks for. The library's own messages quote the document, which may hold
// secrets; so ours are made from the schema alone.
func explain(err error, schema any) error {
	var ve *jsonschema.ValidationError
	if !errors.As(err, &ve) {
		return err
	}
	var lines []string
	collect(ve, schema, func(at, says string) {
		line := at + ": " + says
		if at == "" {
			line = "/: " + says
		}
		if !slices.Contains(lines, line) {
			lines = append(lines, line)
		}
	})
	slices.Sort(lines) // the library walks maps: its order is another one each time
	if len(lines) > maxCauses {
		lines = append(lines[:maxCauses], fmt.Sprintf("and %d more", len(lines)-maxCauses))
	}
	return errors.New(strings.Join(lines, "\n"))
}

// collect walks to the causes. A choice (anyOf, oneOf) is one cause: what each
// of its branches would have wanted helps nobody.
func collect(ve *jsonschema.ValidationError, schema any, say func(at, says string)) {
	where := keyword(ve)
	choice := strings.HasSuffix(where, "/anyOf") || strings.HasSuffix(where, "/oneOf") || strings.HasSuffix(where, "/not")
	if len(ve.Causes) > 0 && !choice {
		for _, c := range ve.Causes {
			collect(c, schema, say)
		}
		return
	}
	switch where[strings.LastIndexByte(where, '/')+1:] {
	case "required": // the message names members that the schema asks for
		say(place(ve.InstanceLocation), strings.Replace(ve.Message, "missing properties: ", lacks, 1))
	case "additionalProperties": // and this one members of the document: names, no values
		_, names, _ := strings.Cut(ve.Message, " ")
		names = strings.TrimSuffix(names, " not allowed")
		say(place(ve.InstanceLocation), unknown+clip(strconv.QuoteToASCII(names)))
	default:
		say(place(ve.InstanceLocation), says(where, schema))
	}
}

// keyword is the place of the broken rule inside the schema's text.
func keyword(ve *jsonschema.ValidationError) string {
	_, at, _ := strings.Cut(ve.AbsoluteKeywordLocation, "#")
	return at
}

// place makes a JSON pointer safe to print. Member names are the document's.
func place(pointer string) string {
	if plain, err := url.PathUnescape(pointer); err == nil {
		pointer = plain
	}
	return clip(strconv.QuoteToASCII(pointer))
}

// clip takes the quotes off an ASCII string and keeps it to one line's length.
func clip(q string) string {
	q = strings.ReplaceAll(q[1:len(q)-1], `\"`, `"`)
	if len(q) > 200 {
		q = q[:200] + "..."
	}
	return q
}

// says words one rule.
func says(where string, schema any) string {
	rule := where[strings.LastIndexByte(where, '/')+1:]
	value := at(schema, where)
	switch rule {
	case "type":
		return mustBe + list(value, " or ")
	case "enum":
		return "must be one of " + list(value, ", ")
	case "const":
		return mustBe + list(value, "")
	case "anyOf", "oneOf", "not", "pattern":
		parent := at(schema, strings.TrimSuffix(where, "/"+rule))
		if m, ok := parent.(map[string]any); ok && m["title"] != nil {
			return mustBe + fmt.Sprint(m["title"])
		}
	}
	switch value.(type) {
	case nil, map[string]any, []any:
		return breaks + strconv.Quote(rule)
	}
	return fmt.Sprintf(breaks+"%s: %v", rule, value)
}

// list prints a rule's value, which is a scalar or a list of scalars.
func list(value any, between string) string {
	many, ok := value.([]any)
	if !ok {
		many = []any{value}
	}
	var out []string
	for _, v := range many {
		text, _ := json.Marshal(v) // came from JSON
		out = append(out, strings.Trim(string(text), `"`))
	}
	return strings.Join(out, between)
}

// at follows a JSON pointer, nil where it leads nowhere.
func at(v any, pointer string) any {
	for _, step := range strings.Split(strings.TrimPrefix(pointer, "/"), "/") {
		if plain, err := url.PathUnescape(step); err == nil {
			step = plain
		}
		step = strings.NewReplacer("~1", "/", "~0", "~").Replace(step)
		switch t := v.(type) {
		case map[string]any:
			v = t[step]
		case []any:
			i, err := strconv.Atoi(step)
			if err != nil || i < 0 || i >= len(t) {
				return nil
			}
			v = t[i]
		default:
			return nil
		}
	}
	return v
}
