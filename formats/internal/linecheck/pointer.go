package linecheck

import (
	"strconv"
	"unicode/utf8"

	"rehome/internal/rawjson"
)

// odd notes something at the present place.
func (s *scanner) odd(ids []string, says string, args ...any) {
	if len(s.issues) < mostIssues {
		s.issues = append(s.issues, issue{ids, s.pointer(), says, args})
	}
}

// mostPointer bounds what a finding says of its place.
const mostPointer = 300

// pointer is the JSON pointer of the present place.
func (s *scanner) pointer() string {
	var out []byte
	for _, f := range s.frames[1 : s.depth+1] {
		if len(out) > mostPointer {
			return string(out) + "/…"
		}
		if !f.object {
			out = strconv.AppendInt(append(out, '/'), int64(f.index), 10)
			continue
		}
		if f.to == 0 {
			continue
		}
		out = appendName(append(out, '/'), rawjson.AppendText(nil, s.b[f.from:f.to]))
	}
	return string(out)
}

// appendName spells a name as part of a pointer: short, and in one line.
func appendName(dst, name []byte) []byte {
	const most = 80
	cut := len(name) > most
	if cut {
		name = name[:most]
		for len(name) > 0 && !utf8.RuneStart(name[len(name)-1]) {
			name = name[:len(name)-1]
		}
	}
	quoted := strconv.AppendQuoteToGraphic(nil, string(name))
	for _, c := range quoted[1 : len(quoted)-1] {
		switch c {
		case '~':
			dst = append(dst, "~0"...)
		case '/':
			dst = append(dst, "~1"...)
		default:
			dst = append(dst, c)
		}
	}
	if cut {
		dst = append(dst, "…"...)
	}
	return dst
}
