package tables

import (
	"embed"
	"regexp"
	"strings"
	"sync"
)

//go:embed words.txt models.txt
var lists embed.FS

// Other takes the place of a name that rehome does not know in tables without text: that
// of a server, a model or a mode can be what somebody wrote.
const Other = "other"

// vocabulary are the names that may be in tables without text.
var vocabulary = sync.OnceValue(func() (k struct {
	words, models            map[string]bool
	word, id, split, version *regexp.Regexp
}) {
	read := func(name string) map[string]bool {
		text, err := lists.ReadFile(name)
		if err != nil {
			panic(err) // it is part of the program
		}
		out := map[string]bool{}
		for line := range strings.Lines(string(text)) {
			if strings.HasPrefix(line, "#") {
				continue
			}
			for _, w := range strings.Fields(line) {
				out[w] = true
			}
		}
		return out
	}
	k.words, k.models = read("words.txt"), read("models.txt")
	k.word = regexp.MustCompile(`^(?:tool|branch)-[0-9]{1,9}$`)
	k.split = regexp.MustCompile(`[-./: @_()\[\]<>]+`)
	k.version = regexp.MustCompile(`^(?:[a-z]?[0-9]{1,8}[a-z]?|[0-9]{1,3}[a-z]|a[0-9]{1,3}b)$`)
	// What follows the kind of an id is a UUID, a digest, a number, or as services make it.
	const kinds = `toolu?|srvtoolu|call|fc|ctc|ws|ig|rs|req|resp|gen|chatcmpl|msg|bdrk|vrtx`
	k.id = regexp.MustCompile(`^(?:(?:agent|bc|run|line|text|turn|message|m|t|e|item|event|prompt|a?compact|` + kinds + `)[-_.])*` +
		`(?:[0-9a-fA-F]{8}(?:-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}|[0-9a-f]{6,128}|[a-z]?[0-9]{1,19}|(?:` + kinds + `)[-_][0-9A-Za-z]{16,64})` +
		`(?:[-.][0-9]{1,9}){0,3}$`)
	return k
})

// isID reports whether a value looks like an id that a program made, or several lines of
// such.
func isID(s string) bool {
	for one := range strings.SplitSeq(s, "\n") {
		if len(s) > 256 || !vocabulary().id.MatchString(one) {
			return false
		}
	}
	return true
}

// nameOf returns a name if it is known, else Other.
func nameOf(s string) string {
	k := vocabulary()
	switch {
	case s == "" || k.words[s] || k.word.MatchString(s):
		return s
	case strings.HasPrefix(s, "mcp_") || strings.HasPrefix(s, "mcp-"):
		return "mcp"
	}
	return Other
}

// modelOf returns the name of a model if it has only known words and versions, else Other.
func modelOf(s string) string {
	k := vocabulary()
	if s == "" {
		return s
	}
	found := false
	for _, w := range k.split.Split(strings.ToLower(s[:min(len(s), 129)]), -1) {
		switch {
		case k.models[strings.TrimRight(w, "0123456789")], k.models[w]:
			found = true
		case w != "" && !k.version.MatchString(w):
			return Other
		}
	}
	if !found || len(s) > 128 {
		return Other
	}
	return s
}
