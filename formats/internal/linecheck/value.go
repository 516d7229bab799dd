package linecheck

import (
	"bytes"
	"hash/maphash"
	"unicode/utf8"

	"rehome/formats/internal/lines"
	"rehome/formats/rule"
	"rehome/formats/store"
	"rehome/internal/rawjson"
)

// Value examines one JSON text that is no line: the value of a row. What it
// says of it is what it says of lines. It reports whether the value can be
// asked for more: it is JSON, and nothing in it is too much for a validator.
func Value(b []byte, at store.Addr, q *rule.Pass) bool { return new(Values).Ask(b, at, q) }

// Values is Value for one after another: what it needs it takes once. It
// belongs to one goroutine; the zero Values is ready.
type Values struct {
	scan  scanner
	ready bool
}

// Ask is Value.
func (v *Values) Ask(b []byte, at store.Addr, q *rule.Pass) bool {
	s := &v.scan
	if !v.ready {
		s.seed, v.ready = maphash.MakeSeed(), true
	}
	breach := func(ids []string, pointer, says string, args ...any) {
		if q.Enabled(rule.Container) {
			q.Report(rule.Finding{Rule: ids[0], At: at, Pointer: pointer, Message: says, Args: args})
		}
	}
	if !utf8.Valid(b) {
		breach(notUTF8, "", "byte %d", firstBad(b)+1)
		return false
	}
	end, bad := s.scan(b)
	if rest := bytes.TrimLeft(b[end:], " \t\r\n"); bad == "" && len(rest) > 0 {
		end, bad = len(b)-len(rest), "unexpected data after the value"
	}
	switch {
	case bad == rawjson.TooDeep:
		breach(tooDeep, "", "")
	case bad != "":
		breach(notJSON, "", "byte %d: %s", end+1, rule.Words(bad))
	default:
		for _, i := range s.issues {
			breach(i.ids, i.pointer, i.says, i.args...)
		}
	}
	return bad == "" && !s.wild
}

// UTF8 examines a line of text that is no JSON, and reports whether it can be
// read.
func UTF8(l *lines.Line, file, format string, q *rule.Pass) bool {
	c := newChecker(file, q, Options{Format: format})
	switch {
	case l.Long:
		c.breach(tooLong, l.Number, "", "")
	case len(l.Bytes) > 0 && len(bytes.Trim(l.Bytes, "\x00")) == 0:
		c.breach(zeros, l.Number, "", "%v", rule.Count(int64(len(l.Bytes)), "byte"))
	case !utf8.Valid(l.Bytes):
		c.breach(notUTF8, l.Number, "", "byte %d", firstBad(l.Bytes)+1)
	default:
		return true
	}
	return false
}
