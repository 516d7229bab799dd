package read

import (
	"bytes"

	"rehome/formats/internal/members"
	"rehome/internal/rawjson"
)

// patched applies changes of lines to a text. Each states which lines it replaces,
// [{"original":{"startLineNumber":3,"endLineNumberExclusive":4},"modified":["…"]}],
// in the order of the text. It returns false if they do not fit the text.
func patched(text, changes []byte) ([]byte, bool) {
	lines := bytes.Split(text, []byte("\n"))
	var out [][]byte
	at := 0
	if len(changes) == 0 || changes[0] != '[' {
		return nil, false
	}
	for change := range rawjson.Elements(changes) {
		span := rawjson.Last(change, "original")
		from, ok1 := members.Whole(rawjson.Last(span, "startLineNumber"))
		to, ok2 := members.Whole(rawjson.Last(span, "endLineNumberExclusive"))
		if !ok1 || !ok2 || from < 1 || to < from || int(from-1) < at || to-1 > int64(len(lines)) {
			return nil, false
		}
		out = append(out, lines[at:from-1]...)
		for l := range rawjson.Elements(rawjson.Last(change, "modified")) {
			out = append(out, []byte(rawjson.Text(l)))
		}
		at = int(to - 1)
	}
	return bytes.Join(append(out, lines[at:]...), []byte("\n")), true
}
