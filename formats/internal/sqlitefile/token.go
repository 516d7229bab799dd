package sqlitefile

import (
	"errors"
	"strings"
)

// token is one token of SQL: a word, a quoted text or name, or one character.
type token struct {
	kind tokenKind
	text string // as written; a quoted one without its quotes
}

type tokenKind uint8

const (
	word   tokenKind = iota // keyword, bare name, number
	quoted                  // '..' ".." `..` [..]
	sign                    // one character
)

func (t token) is(keyword string) bool { return t.kind == word && strings.EqualFold(t.text, keyword) }

func (t token) char(c byte) bool { return t.kind == sign && t.text[0] == c }

// name is the name a token stands for, where one may stand.
func (t token) name() (string, bool) { return t.text, t.kind == quoted || t.kind == word }

var errUnclosed = errors.New("a quotation is not closed")

// tokens takes SQL apart just as SQLite does, as far as finding the end of a
// statement goes: what it takes for quoted or a comment, SQLite does too.
func tokens(sql string) ([]token, error) {
	var out []token
	for i := 0; i < len(sql); {
		c := sql[i]
		switch {
		case c == 0:
			return nil, errors.New("it holds a NUL")
		case strings.IndexByte(" \t\n\f\r", c) >= 0:
			i++
		case strings.HasPrefix(sql[i:], "--"):
			i += upTo(sql[i:], "\n")
		case strings.HasPrefix(sql[i:], "/*"):
			end := strings.Index(sql[i+2:], "*/")
			if end < 0 {
				return nil, errors.New("a comment is not closed")
			}
			i += end + 4
		case strings.IndexByte("'\"`[", c) >= 0:
			text, n := unquote(sql[i:])
			if n == 0 {
				return nil, errUnclosed
			}
			out = append(out, token{quoted, text})
			i += n
		case wordByte(c):
			n := 1
			for i+n < len(sql) && (wordByte(sql[i+n]) || sql[i+n] == '$') {
				n++
			}
			out = append(out, token{word, sql[i : i+n]})
			i += n
		default:
			out = append(out, token{sign, sql[i : i+1]})
			i++
		}
	}
	return out, nil
}

func upTo(s, end string) int {
	if n := strings.Index(s, end); n >= 0 {
		return n
	}
	return len(s)
}

func wordByte(c byte) bool {
	return 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' || '0' <= c && c <= '9' || c == '_' || c >= 0x80
}

// unquote reads the quotation that s begins with and how long it is; 0 where it
// does not end.
func unquote(s string) (string, int) {
	end := s[0]
	if end == '[' { // has no way to quote its own end
		n := strings.IndexByte(s, ']')
		if n < 0 {
			return "", 0
		}
		return s[1:n], n + 1
	}
	var text strings.Builder
	for i := 1; i < len(s); i++ {
		switch {
		case s[i] == 0:
			return "", 0
		case s[i] != end:
			text.WriteByte(s[i])
		case i+1 < len(s) && s[i+1] == end:
			text.WriteByte(end)
			i++
		default:
			return text.String(), i + 1
		}
	}
	return "", 0
}
