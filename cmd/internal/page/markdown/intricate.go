package markdown

import "bytes"

// The limits of what is parsed. The parser takes time in the square of what they count,
// and a table has as many cells as its lines times its columns.
const (
	maxScans   = 8 << 20 // brackets, each of which may be searched to the end
	maxNesting = 32      // markers of quotes and lists that a line begins with
	maxMarks   = 4000    // of emphasis, each of which may be matched with each
	maxCells   = 20_000
)

// intricate reports whether text would take long to parse, or become a page much larger
// than it is.
func intricate(src []byte) bool {
	if len(src) > maxText || len(src)*bytes.Count(src, []byte("[")) > maxScans {
		return true
	}
	if bytes.Count(src, []byte("*"))+bytes.Count(src, []byte("_"))+bytes.Count(src, []byte("~")) > maxMarks {
		return true
	}
	columns, rows := 0, 0
	for line := range bytes.Lines(src) {
		nesting := 0
		marks := line[:len(line)-len(bytes.TrimLeft(line, "> \t-+*.)0123456789"))]
		for i, c := range marks {
			if c == '>' || i > 0 && (c == ' ' || c == '\t') && bytes.IndexByte([]byte("-+*.)"), marks[i-1]) >= 0 {
				nesting++
			}
		}
		if nesting > maxNesting && len(bytes.Trim(line, "-* \r\n")) > 0 {
			return true
		}
		if n := bytes.Count(line, []byte("|")); n > 0 {
			columns, rows = max(columns, n), rows+1
		}
	}
	return columns*rows > maxCells
}
