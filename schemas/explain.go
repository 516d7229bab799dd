package schemas

import (
	"cmp"
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

// Cause is one reason why a document does not match its schema. It repeats no
// value of the document.
type Cause struct {
	Pointer string // JSON pointer to the value; "" for the whole document
	Message string // what is wrong: a format for fmt if there are Args
	Args    []any  // the schema's names and values, and names of the document's members
}

// String returns the pointer and what is wrong.
func (c Cause) String() string {
	text := c.Message
	if len(c.Args) > 0 {
		text = fmt.Sprintf(c.Message, c.Args...)
	}
	return cmp.Or(c.Pointer, "/") + ": " + text
}

// Mismatch is the error of a document that does not match its schema.
type Mismatch []Cause

// Error returns one line for each cause.
func (m Mismatch) Error() string {
	lines := make([]string, min(len(m), maxCauses))
	for i := range lines {
		lines[i] = m[i].String()
	}
	if len(m) > maxCauses {
		lines = append(lines, fmt.Sprintf("and %d more", len(m)-maxCauses))
	}
	return strings.Join(lines, "\n")
}

// Causes returns why a document was refused, at most 20 reasons; none if err is
// nil.
func Causes(err error) []Cause {
	var m Mismatch
	switch {
	case err == nil:
		return nil
	case !errors.As(err, &m):
		return []Cause{{Message: err.Error()}}
	case len(m) > maxCauses:
		return append(m[:maxCauses:maxCauses], Cause{Message: fmt.Sprintf("and %d more", len(m)-maxCauses)})
	}
	return m
}

// explain words the library's verdict. The library's own messages quote the
// document, which may hold secrets, so these are made from the schema alone.
func explain(err error, schema any) error {
	var ve *jsonschema.ValidationError
	if !errors.As(err, &ve) {
		return err
	}
	var out Mismatch
	collect(ve, schema, func(c Cause) { out = append(out, c) })
	// The library walks maps, so its order is different each time.
	slices.SortFunc(out, func(a, b Cause) int { return strings.Compare(a.String(), b.String()) })
	return slices.CompactFunc(out, func(a, b Cause) bool { return a.String() == b.String() })
}

// collect walks to the causes. A choice (anyOf, oneOf) is one cause: what each
// of its branches requires would not help the user.
func collect(ve *jsonschema.ValidationError, schema any, found func(Cause)) {
	where := keyword(ve)
	choice := strings.HasSuffix(where, "/anyOf") || strings.HasSuffix(where, "/oneOf") || strings.HasSuffix(where, "/not")
	if len(ve.Causes) > 0 && !choice {
		for _, c := range ve.Causes {
			collect(c, schema, found)
		}
		return
	}
	switch where[strings.LastIndexByte(where, '/')+1:] {
	case "required": // the message names members that the schema asks for
		names, _ := strings.CutPrefix(ve.Message, "missing properties: ")
		found(Cause{place(ve.InstanceLocation), "lacks: %s", []any{names}})
	case "additionalProperties": // and this one members of the document: names, no values
		_, names, _ := strings.Cut(ve.Message, " ")
		names = strings.TrimSuffix(names, " not allowed")
		found(Cause{place(ve.InstanceLocation), "has members that have no place here: %s", []any{clip(strconv.QuoteToASCII(names))}})
	default:
		message, args := says(where, schema)
		found(Cause{place(ve.InstanceLocation), message, args})
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
func says(where string, schema any) (message string, args []any) {
	rule := where[strings.LastIndexByte(where, '/')+1:]
	value := at(schema, where)
	switch rule {
	case "type":
		return "must be %s", []any{list(value, " or ")}
	case "enum":
		return "must be one of %s", []any{list(value, ", ")}
	case "const":
		return "must be %s", []any{list(value, "")}
	case "anyOf", "oneOf", "not", "pattern":
		parent := at(schema, strings.TrimSuffix(where, "/"+rule))
		if m, ok := parent.(map[string]any); ok && m["title"] != nil {
			return "must be %s", []any{m["title"]}
		}
	}
	switch value.(type) {
	case nil, map[string]any, []any:
		return "violates %q", []any{rule}
	}
	return "violates %s: %v", []any{rule, value}
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
