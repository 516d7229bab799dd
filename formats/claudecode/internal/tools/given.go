package tools

import (
	"bytes"
	"slices"
	"strconv"
	"strings"

	"rehome/formats/internal/cursortools"
	"rehome/formats/internal/object"
	"rehome/formats/internal/toolmap"
	"rehome/internal/rawjson"
)

// given is the arguments of a call, and which of them the new call has.
type given struct {
	docs [][]byte // what the model wrote, and what the tool ran with; either can be nil
	used []member
	cd   string // before the command
}

type member struct {
	name  string
	value []byte
}

// find returns the value of the first of the names that has one.
func (g *given) find(names ...string) []byte { return cursortools.Find(g.docs, names...) }

// text returns the argument, if it is a text that is not empty, and marks it as used.
func (g *given) text(names ...string) string {
	raw := g.find(names...)
	text := rawjson.Text(raw)
	if text != "" {
		g.use(raw, names...)
	}
	return text
}

// use marks the argument that find returned for these names.
func (g *given) use(raw []byte, names ...string) {
	for _, name := range names {
		if bytes.Equal(cursortools.Find(g.docs, name), raw) {
			g.used = append(g.used, member{name, raw})
			return
		}
	}
}

// said returns what the model wrote. If that is not known, it returns what the tool ran
// with, which has members that no model gives.
func (g *given) said() (doc []byte, inferred bool) {
	if doc = g.docs[0]; len(doc) == 0 {
		return g.docs[1], true
	}
	return doc, false
}

// only returns the value of an argument that only the model can have given. A client fills
// in its own in what the tool ran with.
func (g *given) only(names ...string) []byte {
	doc, _ := g.said()
	return cursortools.Find([][]byte{doc}, names...)
}

// maxRest is the maximum number of arguments that are named.
const maxRest = 32

// rest returns the arguments that the new call does not have.
func (g *given) rest() (out []member) {
	doc, inferred := g.said()
	for name, value := range rawjson.Members(doc) {
		n := string(name)
		switch {
		case string(value) == "null" || inferred && (toolmap.ClientArgument(n) || empty(value)):
		case slices.ContainsFunc(g.used, func(m member) bool { return m.name == n && bytes.Equal(m.value, value) }):
		case slices.ContainsFunc(out, func(m member) bool { return m.name == n && bytes.Equal(m.value, value) }):
		case len(out) == maxRest:
			return append(out, member{name: "…"})
		default:
			out = append(out, member{n, value})
		}
	}
	return out
}

// empty reports the value that a client's record has of an argument that was not given.
func empty(raw []byte) bool {
	switch string(raw) {
	case "null", "false", "0", `""`, "[]", "{}":
		return true
	}
	return false
}

// write writes an argument of one of Claude Code's tools, if the value fits. exact: the
// value is spelled as it was. false: the tool needs the argument and it is not there.
func (g *given) write(o *object.Writer, a argument) (exact, ok bool) {
	raw := g.find(a.from...)
	if a.kind == '~' {
		raw = g.only(a.from...)
	}
	value := a.value(raw)
	if _, inferred := g.said(); inferred && a.kind == '?' && empty(raw) {
		value = nil
	}
	if value == nil {
		return true, !a.must
	}
	if a.name == "command" && g.cd != "" {
		value = appendText(nil, g.cd+rawjson.Text(value))
	}
	o.Raw(a.name, value)
	g.use(raw, a.from...)
	return len(raw) > 0 && (raw[0] == '"') == (value[0] == '"'), true
}

// value returns a value as the tool takes it; nil if it does not.
func (a *argument) value(raw []byte) []byte {
	plain := raw
	if text := rawjson.Text(raw); text != "" && a.kind != 0 {
		plain = []byte(text)
	}
	switch a.kind {
	case '#', '~':
		if n, err := strconv.ParseInt(string(plain), 10, 64); err == nil && n >= 0 && (n > 0 || a.kind == '#') {
			return strconv.AppendInt(nil, n, 10)
		}
		return nil
	case '?':
		if string(plain) == "true" || string(plain) == "false" {
			return plain
		}
		return nil
	case '=':
		if !slices.Contains(a.words, string(plain)) {
			return nil
		}
	}
	text := word(raw)
	if text == "" && (!rawjson.IsText(raw) || a.must && a.name != "content") {
		return nil
	}
	return appendText(nil, text)
}

// folder writes the working directory of a command as Claude Code's Bash can: it has no
// argument for one. One equal to the session's own says nothing.
func (g *given) folder(session string) (cd string) {
	names := toolmap.ArgumentNames("shell", "workingDirectory")
	raw := g.find(names...)
	dir, _ := strings.CutPrefix(rawjson.Text(raw), "file://")
	if !rawjson.IsText(raw) {
		return ""
	}
	g.use(raw, names...)
	if dir == "" || dir == "." || strings.TrimRight(dir, `/\`) == strings.TrimRight(session, `/\`) {
		return ""
	}
	return "cd " + cursortools.Quoted(dir) + " && "
}

// lines writes a range that is given by its first and last line.
func (g *given) lines(o *object.Writer) (exact bool) {
	from := []string{"start_line_one_indexed", "startLineOneIndexed"}
	to := []string{"end_line_one_indexed_inclusive", "endLineOneIndexedInclusive", "end_line_one_indexed"}
	all := []string{"should_read_entire_file", "shouldReadEntireFile"}
	whole := g.find(all...)
	if g.find("offset", "limit") != nil {
		return true
	}
	first, err := strconv.ParseInt(string(g.find(from...)), 10, 64)
	if err != nil || first < 1 {
		if string(whole) == "true" {
			g.use(whole, all...)
		}
		return true
	}
	o.Raw("offset", strconv.AppendInt(nil, first, 10))
	g.use(g.find(from...), from...)
	if last, err := strconv.ParseInt(string(g.find(to...)), 10, 64); err == nil && last >= first {
		o.Raw("limit", strconv.AppendInt(nil, last-first+1, 10))
		g.use(g.find(to...), to...)
	}
	if string(whole) == "false" {
		g.use(whole, all...)
	}
	return false
}

// letters writes whether a search tells capital letters from small ones, which another
// tool can be asked the other way around.
func (g *given) letters(o *object.Writer) (exact bool) {
	names := []string{"case_sensitive", "caseSensitive"}
	raw := g.find(names...)
	if g.find("-i", "caseInsensitive", "case_insensitive") != nil || string(raw) != "true" && string(raw) != "false" {
		return true
	}
	o.Flag("-i", string(raw) == "false")
	g.use(raw, names...)
	return false
}
