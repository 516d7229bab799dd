// Package forks rewrites lines of JSON for forks of sessions: a copy of a line under
// other ids and another title, with every other byte as it was.
package forks

import (
	"bytes"
	"strings"

	"rehome/internal/rawjson"
)

// suffix ends the title of a fork.
const suffix = " (fork)"

// Key returns the values of top-level members of a line as one string. A line without
// all of them is its own key.
func Key(line []byte, members ...string) string {
	var key strings.Builder
	for _, m := range members {
		v := rawjson.Last(line, m)
		if v == nil {
			return string(line)
		}
		key.Write(v)
		key.WriteByte('\n')
	}
	return key.String()
}

// said are the members that have what people, models and tools said.
const said = " arguments content display input message output prompt text thinking "

// Rename appends a line in which each string that is one of the ids is another one. A
// string that merely contains an id is left as it is, and so is what somebody said, even
// if that is just an id.
func Rename(dst, line []byte, ids map[string]string) []byte {
	return RenameWhere(dst, line, ids, func(_, member string, _ int) bool {
		return member == "" || !strings.Contains(said, " "+member+" ")
	})
}

// RenameWhere is Rename for the strings that where accepts, given the id, the name of the
// member that has it, "" if it is a name itself, and how many objects and arrays it is in.
func RenameWhere(dst, line []byte, ids map[string]string, where func(id, member string, depth int) bool) []byte {
	longest, from, member := 0, 0, []byte(nil)
	for id := range ids {
		longest = max(longest, len(id))
	}
	var t rawjson.Tokens
	for t.Reset(line); t.Next(); {
		if t.To-t.From < 2 || line[t.From] != '"' {
			continue
		}
		end := t.From + 1 + bytes.LastIndexByte(line[t.From+1:t.To], '"') // a name has its colon
		text := line[t.From+1 : end]
		within := member
		if t.Kind == rawjson.Name {
			member, within = text, nil
		}
		if len(text) > len(`\u0000`)*longest {
			continue
		}
		id := string(text)
		if t.Escaped {
			id = rawjson.Text(line[t.From : end+1])
		}
		if to, ok := ids[id]; ok && where(id, string(within), t.Depth) {
			dst = append(dst, line[from:t.From+1]...)
			dst = append(dst, to...)
			from = end
		}
	}
	return append(dst, line[from:]...)
}

// Retitle returns a line whose top-level member is the title of a fork. A member that is
// missing, null or empty is left, unless a title is given for it.
func Retitle(line []byte, member, title string) (out []byte, titled bool) {
	at := rawjson.Last(line, member)
	if at == nil {
		return line, false
	}
	if is := rawjson.Text(at); is != "" {
		title = is
	}
	if title == "" {
		return line, false
	}
	// Last returns a part of the line: its capacity tells where it begins.
	from := cap(line) - cap(at)
	out = append(bytes.Clone(line[:from]), rawjson.Quote(nil, []byte(Title(title)))...)
	return append(out, line[from+len(at):]...), true
}

// Title returns the title of a fork of a session.
func Title(title string) string { return strings.TrimSuffix(title, suffix) + suffix }
