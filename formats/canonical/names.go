package canonical

import (
	"fmt"
	"strings"

	"rehome/formats/internal/digest"
	"rehome/formats/session"
)

// named is where a session's file belongs. Ids are foreign: they become names
// that are safe on every system, and distinct where the ids are.
func named(h *session.Head) string { return safe(h.Agent) + "/" + safe(h.ID) + ending }

const (
	longestName = 64
	longestHint = 40 // of what is left of an unsafe name, in front of its hash
)

// safe is the name itself where that is safe everywhere, else what can be kept
// of it and a hash of the whole.
func safe(name string) string {
	if len(name) > 0 && len(name) <= longestName && plain(name) == name && !device(name) {
		return name
	}
	hint := plain(name)
	if len(hint) > longestHint {
		hint = hint[:longestHint]
	}
	if hint = strings.Trim(hint, "-"); hint == "" || device(hint) {
		hint = "x"
	}
	return fmt.Sprintf("%s-%016x", hint, digest.Name(name))
}

// plain keeps lower-case letters, digits, dashes and underscores; a run of
// anything else becomes a dash. No name begins with a dash.
func plain(name string) string {
	if len(name) > 4*longestName {
		name = name[:4*longestName]
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

// device reports the names that Windows keeps for itself.
func device(s string) bool {
	switch s {
	case "con", "prn", "aux", "nul":
		return true
	}
	return len(s) == 4 && (s[:3] == "com" || s[:3] == "lpt") && s[3] >= '0' && s[3] <= '9'
}
