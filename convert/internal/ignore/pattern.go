package ignore

import (
	"regexp"
	"strings"
)

// pattern is one line of an ignore file.
type pattern struct {
	path       *regexp.Regexp // of a path below the file's folder, see latin1
	include    bool           // the line begins with "!"
	folderOnly bool           // the line ends with "/"
}

// parse returns the patterns of a text, in order. As in git, a line that is not
// a valid pattern matches nothing.
func parse(text string) (out []pattern) {
	for line := range strings.Lines(text) {
		if p, ok := parseLine(strings.TrimSuffix(strings.TrimSuffix(line, "\n"), "\r")); ok {
			out = append(out, p)
		}
	}
	return out
}

func parseLine(line string) (p pattern, ok bool) {
	if strings.HasPrefix(line, "#") {
		return p, false
	}
	line = trimSpaces(line)
	line, p.include = strings.CutPrefix(line, "!")
	line, p.folderOnly = strings.CutSuffix(line, "/")
	expr, ok := translate(line)
	if !ok || line == "" {
		return p, false
	}
	var err error
	p.path, err = regexp.Compile(expr)
	return p, err == nil
}

// trimSpaces removes the spaces at the end of a line, but not an escaped one.
func trimSpaces(line string) string {
	rest := strings.TrimRight(line, " ")
	escapes := len(rest) - len(strings.TrimRight(rest, `\`))
	if len(rest) < len(line) && escapes%2 == 1 {
		rest += " "
	}
	return rest
}

// translate returns the regular expression for a pattern: regexp takes linear
// time for every expression, so a pattern of somebody else cannot stall the walk.
// ok is false for a pattern that git takes to match nothing.
func translate(glob string) (expr string, ok bool) {
	anchored := strings.Contains(glob, "/")
	glob = strings.TrimPrefix(glob, "/")
	var b strings.Builder
	b.WriteString(`(?s)^`)
	if !anchored {
		b.WriteString(`(?:.*/)?`)
	}
	for i := 0; i < len(glob); {
		n, part := 1, quote(glob[i])
		switch c := glob[i]; c {
		case '*':
			n, part = stars(glob, i, anchored)
		case '?':
			part = `[^/]`
		case '\\':
			if i+1 == len(glob) {
				return "", false
			}
			n, part = 2, quote(glob[i+1])
		case '[':
			if part, n = class(glob[i:]); n == 0 {
				return "", false
			}
		}
		b.WriteString(part)
		i += n
	}
	b.WriteString(`$`)
	return b.String(), true
}

// stars translates the stars at glob[i:], and returns how many bytes they and the
// slash after them take. Two stars between slashes match any number of folders.
func stars(glob string, i int, anchored bool) (n int, expr string) {
	rest := strings.TrimLeft(glob[i:], "*")
	n = len(glob) - i - len(rest)
	switch {
	case n < 2 || !anchored || i > 0 && glob[i-1] != '/':
	case rest == "":
		return n, `.*`
	case rest[0] == '/':
		return n + 1, `(?:.*/)?`
	}
	return n, `[^/]*`
}

// class translates a set such as [a-z] or [!0-9] at the beginning of glob, and
// returns how many bytes it takes, 0 if it is malformed. No set has a slash.
func class(glob string) (expr string, n int) {
	var set [256]bool
	i, want := 1, true
	if i < len(glob) && (glob[i] == '!' || glob[i] == '^') {
		i, want = i+1, false
	}
	member := func() (c byte, ok bool) {
		if i < len(glob) && glob[i] == '\\' {
			i++
		}
		if i >= len(glob) {
			return 0, false
		}
		i++
		return glob[i-1], true
	}
	for first := i; i == first || i < len(glob) && glob[i] != ']'; {
		if name := className(glob[i:]); name != "" {
			named, err := regexp.Compile("[" + name + "]")
			if err != nil {
				return "", 0
			}
			for c := range set {
				set[c] = set[c] || named.MatchString(string(rune(c)))
			}
			i += len(name)
			continue
		}
		lo, ok := member()
		hi := lo
		if ok && i+1 < len(glob) && glob[i] == '-' && glob[i+1] != ']' {
			i++
			hi, ok = member()
		}
		if !ok {
			return "", 0
		}
		set[lo] = true // as git does if hi is less
		for c := int(lo); c <= int(hi); c++ {
			set[c] = true
		}
	}
	if i >= len(glob) {
		return "", 0
	}
	set['/'] = !want
	for c := 0; c < len(set); c++ {
		if first := c; set[c] == want {
			for c+1 < len(set) && set[c+1] == want {
				c++
			}
			expr += quote(byte(first)) + "-" + quote(byte(c))
		}
	}
	if expr == "" {
		expr = `^\x00-\x{10FFFF}` // nothing
	}
	return "[" + expr + "]", i + 1
}

// className returns the name such as [:alpha:] at the beginning of a part of a
// set, "" if there is none.
func className(s string) string {
	if !strings.HasPrefix(s, "[:") {
		return ""
	}
	if end := strings.IndexByte(s[2:], ']'); end > 0 && s[2+end-1] == ':' {
		return s[:2+end+1]
	}
	return ""
}

// quote returns the expression for one byte of a path, see latin1.
func quote(c byte) string {
	const digits = "0123456789abcdef"
	return `\x` + string(digits[c>>4]) + string(digits[c&15])
}

// latin1 returns a text with a character for each byte of s: git matches bytes, and a
// path need not be UTF-8.
func latin1(s string) string {
	plain := true
	for i := range len(s) {
		plain = plain && s[i] < 0x80
	}
	if plain {
		return s
	}
	var b strings.Builder
	for i := range len(s) {
		b.WriteRune(rune(s[i]))
	}
	return b.String()
}

// match returns the last of the patterns that matches a slash path, or nil.
func match(list []pattern, path string, folder bool) *pattern {
	path = latin1(path)
	for i := len(list) - 1; i >= 0; i-- {
		if p := &list[i]; (folder || !p.folderOnly) && p.path.MatchString(path) {
			return p
		}
	}
	return nil
}
