// Package rawjson reads JSON as raw bytes and never re-encodes it.
//
// Whoever decodes and encodes JSON again changes it: numbers lose digits,
// duplicate names vanish, escapes are spelled anew. So a value that may stand
// in a line as it is (Inline) is copied byte by byte, anything else becomes a
// string in one fixed spelling (Quote), and a member that has to leave is cut
// out by its offsets (Find).
//
// Every loop here is iterative: hostile nesting costs a bit a level, up to
// MaxDepth, and never the stack.
package rawjson

// MaxDepth is how many objects and arrays may lie inside one another. Real
// sessions stay below 40; a limit keeps every later reader of the text safe.
const MaxDepth = 512

// SyntaxError says what is wrong with the JSON and where. It never quotes the
// bytes: they may be a secret.
type SyntaxError struct {
	Offset int
	Msg    string
}

func (e *SyntaxError) Error() string { return e.Msg }

// What is wrong with JSON. They are constants so that a refusal costs no
// allocation.
const (
	Truncated    = "unexpected end of JSON"
	TooDeep      = "JSON is nested too deeply"
	msgValue     = "expected a value"
	msgName      = "expected a name"
	msgColon     = "expected a colon"
	msgNext      = "expected a comma or the end"
	msgNumber    = "malformed number"
	msgControl   = "raw control character in a string"
	msgEscape    = "malformed escape"
	msgUTF8      = "invalid UTF-8"
	msgSeparator = "raw line separator"
	msgTrailing  = "unexpected data after the value"
	msgQuote     = "expected a string"
	msgSpelling  = "string is not in canonical form"
)
