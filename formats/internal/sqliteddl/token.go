package sqliteddl

import (
	"errors"
	"strings"
)

// token is one token of SQL: a word, a quoted text or name, or one character.
type token struct {
	kind tokenKind
	text string // as written
}

type tokenKind uint8

const (
	none   tokenKind = iota // after the last one
	word                    // keyword, bare name, number
	quoted                  // '..' ".." `..` [..]
	sign                    // one character
)

func (t token) is(keyword string) bool { return t.kind == word && SameName(t.text, keyword) }

func (t token) char(c byte) bool { return t.kind == sign && t.text[0] == c }

// name is the name a token stands for, where one may stand.
func (t token) name() (string, bool) {
	if t.kind != quoted {
		return t.text, t.kind == word
	}
	text, end := t.text[1:len(t.text)-1], t.text[:1]
	if end == "[" { // has no way to quote its own end
		return text, true
	}
	return strings.ReplaceAll(text, end+end, end), true
}

// literal reports whether the token is a value and can be nothing else. Quoted
// with '"' it may be a column.
func (t token) literal() bool {
	return t.kind == quoted && t.text[0] == '\'' || t.kind == word && '0' <= t.text[0] && t.text[0] <= '9'
}

var errUnclosed = errors.New("its SQL has an unclosed quote")

// lexer takes SQL apart just as SQLite does, as far as finding the end of a
// statement goes: what it takes for quoted or a comment, SQLite does too.
type lexer struct {
	sql string
	i   int
}

// next is the next token, of kind none after the last.
func (l *lexer) next() (token, error) {
	for l.i < len(l.sql) {
		rest := l.sql[l.i:]
		switch c := rest[0]; {
		case strings.IndexByte(" \t\n\v\f\r", c) >= 0: // \v is one only behind another, else SQLite refuses it
			l.i++
		case strings.HasPrefix(rest, "--"):
			l.i += upTo(rest, "\n")
		case strings.HasPrefix(rest, "/*") && len(rest) > 2:
			l.i += min(2+upTo(rest[2:], "*/")+2, len(rest)) // one that is not closed goes on to the end
		case strings.HasPrefix(rest, "\ufeff"):
			l.i += len("\ufeff") // a space between tokens, a letter within
		case strings.IndexByte("'\"`[", c) >= 0:
			n := quotation(rest)
			if n == 0 {
				return token{}, errUnclosed
			}
			return l.take(quoted, n), nil
		case wordByte(c):
			n := 1
			for n < len(rest) && (wordByte(rest[n]) || rest[n] == '$') {
				n++
			}
			return l.take(word, n), nil
		default:
			return l.take(sign, 1), nil
		}
	}
	return token{}, nil
}

func (l *lexer) take(kind tokenKind, n int) token {
	l.i += n
	return token{kind, l.sql[l.i-n : l.i]}
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

// quotation is how long the quotation is that s begins with; 0 where it does
// not end.
func quotation(s string) int {
	end := s[0]
	if end == '[' {
		end = ']'
	}
	for i := 1; i < len(s); i++ {
		switch {
		case s[i] != end:
		case end != ']' && i+1 < len(s) && s[i+1] == end:
			i++
		default:
			return i + 1
		}
	}
	return 0
}

// Fold returns what SQLite compares of a name: it folds the letters of ASCII
// only, so that "Ü" and "ü" are two names.
func Fold(s string) string {
	if strings.IndexFunc(s, func(r rune) bool { return 'A' <= r && r <= 'Z' }) < 0 {
		return s
	}
	b := []byte(s)
	for i, c := range b {
		if 'A' <= c && c <= 'Z' {
			b[i] = c + 'a' - 'A'
		}
	}
	return string(b)
}

// SameName compares names as SQLite does.
func SameName(a, b string) bool {
	if len(a) != len(b) {
		return false
	}
	for i := range len(a) {
		if x, y := a[i], b[i]; x != y && (x|0x20 != y|0x20 || x|0x20 < 'a' || x|0x20 > 'z') {
			return false
		}
	}
	return true
}
