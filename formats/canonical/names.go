package canonical

import (
	"fmt"
	"strings"

	"rehome/formats/internal/digest"
	"rehome/formats/internal/filename"
	"rehome/formats/session"
)

// named returns the path of a session's file. The agent and the id can be any text: what
// is made of them is safe on every system, and different for different texts.
func named(h *session.Head) string { return safe(h.Agent) + "/" + safe(h.ID) + ending }

// maxHint is how much of an unsafe name is kept before its hash.
const maxHint = 40

// safe returns the name itself if it is safe, and otherwise what can be kept of it and a
// hash.
func safe(name string) string {
	if filename.Safe(name) {
		return name
	}
	hint := plain(name)
	if len(hint) > maxHint {
		hint = hint[:maxHint]
	}
	if hint = strings.Trim(hint, "-"); hint == "" || filename.Device(hint) {
		hint = "x"
	}
	return fmt.Sprintf("%s-%016x", hint, digest.Name(name))
}

// plain returns the letters, in lower case, digits, dashes and underscores of a name. A
// sequence of anything else becomes a dash, except at the start.
func plain(name string) string {
	if len(name) > 4*filename.MaxLen {
		name = name[:4*filename.MaxLen]
	}
	var out strings.Builder
	gap := false
	for _, c := range []byte(strings.ToLower(name)) {
		if c >= 'a' && c <= 'z' || c >= '0' && c <= '9' || c == '_' || c == '-' && out.Len() > 0 {
			if gap && out.Len() > 0 {
				out.WriteByte('-')
			}
			gap = false
			out.WriteByte(c)
			continue
		}
		gap = true
	}
	return out.String()
}
