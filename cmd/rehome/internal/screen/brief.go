package screen

import (
	"path"
	"strings"
	"unicode/utf8"
)

const (
	longest = 24 // characters of a path's part that are worth reading whole,
	kept    = 14 // and what is left of a longer one

	longestExt = 8 // .ndjson and a bit: more is no extension
)

// Brief is a place inside a store with its long parts shortened, made visible:
// most are ids and hashes, of which the first digits will do. The whole text is
// in --json.
func Brief(place string) Safe {
	parts := strings.Split(place, "/")
	for i, p := range parts {
		id, rest := p, ""
		if at := strings.IndexAny(p, "#( :"); at > longest {
			id, rest = p[:at], p[at:]
		}
		if utf8.RuneCountInString(id) > longest && !strings.ContainsRune(id, ' ') {
			ext := path.Ext(id)
			if len(ext) > longestExt {
				ext = ""
			}
			parts[i] = string([]rune(id)[:kept]) + "…" + ext + rest
		}
	}
	return Visible(strings.Join(parts, "/"))
}
