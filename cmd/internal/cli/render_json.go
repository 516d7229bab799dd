package cli

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"strings"

	"rehome/cmd/internal/screen"
	"rehome/formats"
)

// writeJSON prints one indented object. Characters that are unsafe on a
// terminal are written as JSON escapes.
func writeJSON(w io.Writer, v any) error { return encodeJSON(w, v, "  ") }

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

	Candidates []candidate `json:"candidates,omitempty"` // if a name matches several sessions
}

func newErrorResult(err error, code int) errorResult {
	body := errorBody{Hint: formats.Hint(err), Code: code}
	if a, ok := errors.AsType[*ambiguousError](err); ok {
		err, body.Candidates = a.error, a.candidates
	}
	var messages []string
	for _, e := range flatten(err) {
		messages = append(messages, e.Error())
	}
	body.Message = strings.Join(messages, "\n")
	return errorResult{body}
}
