package screen

import (
	"path"
	"strings"
	"unicode/utf8"
)

const (
	maxPart   = 24 // max length of a path element,
	keptChars = 14 // and what is kept of a longer one

	maxExt = 8 // a longer one is not an extension
)

// Shorten returns an address inside a store with its long elements shortened,
// made visible. Most of these are ids and hashes, whose first digits identify
// them; --json has the full address.
func Shorten(place string) Safe {
	parts := strings.Split(place, "/")
	for i, p := range parts {
		id, rest := p, ""
		if at := strings.IndexAny(p, "#( :"); at > maxPart {
			id, rest = p[:at], p[at:]
		}
		if utf8.RuneCountInString(id) > maxPart && !strings.ContainsRune(id, ' ') {
			ext := path.Ext(id)
			if len(ext) > maxExt {
				ext = ""
			}
			parts[i] = string([]rune(id)[:keptChars]) + "…" + ext + rest
		}
	}
	return Visible(strings.Join(parts, "/"))
}
