package console

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"regexp"
	"strings"

	"rehome/cmd/internal/screen"
	"rehome/formats"
)

// writeJSON prints one indented object to stdout, with hints that name the program.
func (o *Output) writeJSON(v any) error {
	if o.Rename == nil {
		return WriteJSON(o.Stdout, v)
	}
	var doc bytes.Buffer
	if err := WriteJSON(&doc, v); err != nil {
		return err
	}
	_, err := o.Stdout.Write(renameHints(doc.Bytes(), o.Rename))
	return err
}

// hintMember matches a hint in indented JSON. No line within a string begins
// like this: strings have no line ends.
var hintMember = regexp.MustCompile(`(?m)^( *"hint": ")((?:[^"\\]|\\.)*)(",?)$`)

// renameHints renames the hints of an indented JSON document.
func renameHints(doc []byte, rename func(string) string) []byte {
	return hintMember.ReplaceAllFunc(doc, func(line []byte) []byte {
		m := hintMember.FindSubmatch(line)
		return []byte(string(m[1]) + rename(string(m[2])) + string(m[3]))
	})
}

// WriteJSON prints one indented object. Characters that are unsafe on a
// terminal are written as JSON escapes.
func WriteJSON(w io.Writer, v any) error { return encodeJSON(w, v, "  ") }

// writeJSONLine is writeJSON on one line.
func writeJSONLine(w io.Writer, v any) error { return encodeJSON(w, v, "") }

func encodeJSON(w io.Writer, v any, indent string) error {
	var doc bytes.Buffer
	enc := json.NewEncoder(&doc)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", indent)
	if err := enc.Encode(v); err != nil {
		return err
	}
	_, err := w.Write(screen.JSON(doc.Bytes()))
	return err
}

// errorResult is what --json prints instead of a result: schema error-1.
type errorResult struct {
	Error errorBody `json:"error"`
}

type errorBody struct {
	Message string `json:"message"`
	Hint    string `json:"hint,omitempty"`
	Code    int    `json:"code"`

	Candidates []Candidate `json:"candidates,omitempty"` // if a name matches several sessions
}

func newErrorResult(err error, code int) errorResult {
	body := errorBody{Hint: formats.Hint(err), Code: code}
	if a, ok := errors.AsType[*AmbiguousError](err); ok {
		err, body.Candidates = a.Err, a.Candidates
	}
	var messages []string
	for _, e := range flatten(err) {
		messages = append(messages, e.Error())
	}
	body.Message = strings.Join(messages, "\n")
	return errorResult{body}
}
