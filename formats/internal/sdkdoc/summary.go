package sdkdoc

import (
	"bytes"
	"strconv"
	"unicode/utf8"
)

// A summary is the last member of an agent's line where each agent has a folder of
// its own: how many turns it has, and how the last one ended. It makes a conflict in
// git legible, is made anew with each conversion, and is no part of the document.
const (
	summaryName  = `"rehome":`
	summaryValue = `{"turns":`
	maxSummary   = 80 // characters of the last turn
)

// AppendSummary adds an agent's line with its summary; a line that is not an object
// is added as it is. last is the text of the last turn; only its start is kept.
func AppendSummary(dst, line []byte, turns int, last string) []byte {
	end := bytes.LastIndexByte(line, '}')
	if end < 0 || !split(line, nil, nil).object {
		return append(dst, line...)
	}
	dst = append(dst, line[:end]...)
	if before := bytes.TrimRight(line[:end], " \t\r\n"); before[len(before)-1] != '{' {
		dst = append(dst, ',')
	}
	dst = strconv.AppendInt(append(append(dst, summaryName...), summaryValue...), int64(turns), 10)
	if last != "" {
		text := []byte(last)
		for n, i := 0, 0; i < len(text); n++ {
			if n == maxSummary {
				text = text[:i]
				break
			}
			_, size := utf8.DecodeRune(text[i:])
			i += size
		}
		dst = Quote(append(dst, `,"last":`...), text)
	}
	return append(append(dst, "}"...), line[end:]...)
}

// IsSummary reports whether a member of an agent's line is its summary, by its name.
func IsSummary(name []byte) bool { return string(name) == "rehome" }

// CutSummary returns an agent's line without its summary, and the line itself if it
// has none.
func CutSummary(line []byte) []byte {
	if !bytes.Contains(line, []byte(summaryName+summaryValue)) {
		return line
	}
	var found [1]span
	if !split(line, []string{"rehome"}, found[:]).object || !bytes.HasPrefix(found[0].of(line), []byte(summaryValue)) {
		return line
	}
	before, named := bytes.CutSuffix(line[:found[0].from], []byte(summaryName))
	after := line[found[0].to:]
	switch {
	case !named:
		return line
	case bytes.HasSuffix(before, []byte(",")):
		before = before[:len(before)-1]
	case bytes.HasPrefix(after, []byte(",")): // the SDK has put members behind it
		after = after[1:]
	}
	return append(append(make([]byte, 0, len(before)+len(after)), before...), after...)
}
