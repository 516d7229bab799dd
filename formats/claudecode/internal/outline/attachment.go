package outline

import (
	"embed"
	"strings"
	"sync"

	"rehome/internal/rawjson"
)

//go:embed attachments.txt
var attachmentsFile embed.FS

// use is what the client makes of a kind of attachment when it resumes a session.
type use struct {
	record bool     // it makes a message from the record
	text   bool     // it sends the text that the line has beside the record
	needs  []string // what the record must hold for a message
}

// attachments is attachments.txt, read once.
var attachments = sync.OnceValue(func() map[string]use {
	text, err := attachmentsFile.ReadFile("attachments.txt")
	if err != nil {
		panic(err) // it is part of the program
	}
	table := map[string]use{}
	for line := range strings.Lines(string(text)) {
		words := strings.Fields(line)
		if len(words) < 2 || words[0] == "#" {
			continue
		}
		kinds, u := words[1:], use{record: words[0] == "sent" || words[0] == "if", text: words[0] != "never"}
		if words[0] == "if" {
			kinds, u.needs = words[1:2], words[2:]
		}
		for _, kind := range kinds {
			table[kind] = u
		}
	}
	return table
})

// KnownAttachment reports whether it is known what the client makes of a kind of
// attachment.
func KnownAttachment(kind string) bool {
	_, known := attachments()[kind]
	return known
}

// Attached reports whether the client sends an attachment to the model when it resumes
// the session. rendered: the line has text for it.
func Attached(kind string, record []byte, rendered bool) bool {
	u := attachments()[kind]
	if rendered {
		return u.text
	}
	for _, need := range u.needs {
		if !holds(record, need) {
			return false
		}
	}
	return u.record
}

// holds reports whether one of the members that a condition names is not empty, or has
// one of the values that the condition names.
func holds(record []byte, need string) bool {
	if name, values, ok := strings.Cut(need, "="); ok {
		value := rawjson.TextAt(record, name)
		for v := range strings.SplitSeq(values, "|") {
			if v == value {
				return true
			}
		}
		return false
	}
	for path := range strings.SplitSeq(need, "|") {
		v := record
		for name := range strings.SplitSeq(path, ".") {
			v = rawjson.Last(v, name)
		}
		switch string(v) {
		case "", "null", `""`, "[]", "{}":
		default:
			return true
		}
	}
	return false
}
