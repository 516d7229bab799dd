package outline

import (
	"strconv"
	"strings"
	"unicode/utf16"

	"rehome/internal/rawjson"
)

// maxFolder is the length at which the name of a project's folder is cut.
const maxFolder = 200

// FolderName returns the name of the folder with the sessions of a working directory.
func FolderName(cwd string) string {
	units := utf16.Encode([]rune(cwd))
	out := make([]byte, len(units))
	hash := int32(0)
	for i, u := range units {
		hash = hash*31 + int32(u)
		if out[i] = '-'; u < 0x80 && (u >= 'a' && u <= 'z' || u >= 'A' && u <= 'Z' || u >= '0' && u <= '9') {
			out[i] = byte(u)
		}
	}
	if len(out) <= maxFolder {
		return string(out)
	}
	n := int64(hash)
	if n < 0 {
		n = -n
	}
	return string(out[:maxFolder]) + "-" + strconv.FormatInt(n, 36)
}

// MaxID is the maximum length of the id of a call.
const MaxID = 64

// ValidID reports whether the API accepts s as an id or a name of at most max bytes.
func ValidID(s string, max int) bool { return s != "" && len(s) <= max && Sanitize(s) == s }

// Sanitize replaces each character that the API does not accept in an id or a name
// by a dash.
func Sanitize(s string) string {
	return strings.Map(func(r rune) rune {
		if r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || r == '_' || r == '-' {
			return r
		}
		return '-'
	}, s)
}

// MaxTool is the maximum length of the name of a tool.
const MaxTool = 128

// KnownModel reports whether model is an id of the Claude API. The client resumes
// with the model of the last answer, and warns if it does not know it.
func KnownModel(model string) bool {
	rest, ok := strings.CutPrefix(model, "claude-")
	if !ok {
		return false
	}
	words := 0
	for _, part := range strings.Split(rest, "-") {
		switch part {
		case "opus", "sonnet", "haiku", "fable":
			words++
		default:
			if _, err := strconv.Atoi(part); err != nil {
				return false
			}
		}
	}
	return words == 1 && strings.ContainsAny(rest, "0123456789")
}

// Blank reports whether JavaScript's trim leaves nothing of s.
func Blank(s string) bool { return strings.Trim(strings.TrimSpace(s), "\ufeff") == "" }

// Fields is an object, split into members in one pass. Of members with the same
// name, the last one is used.
type Fields struct{ names, values [][]byte }

// Split replaces the members by those of b.
func (t *Fields) Split(b []byte) {
	t.names, t.values = t.names[:0], t.values[:0]
	for n, v := range rawjson.Members(b) {
		t.names, t.values = append(t.names, n), append(t.values, v)
	}
}

// Raw returns the value of a member, nil if it is missing.
func (t *Fields) Raw(name string) []byte {
	for i := len(t.names) - 1; i >= 0; i-- {
		if string(t.names[i]) == name {
			return t.values[i]
		}
	}
	return nil
}

// Text returns the value of a string member.
func (t *Fields) Text(name string) string { return rawjson.Text(t.Raw(name)) }

// Only reports whether there are no members but these, each at most once.
func (t *Fields) Only(names ...string) bool {
	seen := 0
next:
	for _, name := range t.names {
		for i, n := range names {
			if string(name) == n {
				if seen&(1<<i) != 0 {
					return false
				}
				seen |= 1 << i
				continue next
			}
		}
		return false
	}
	return true
}

// Only reports whether an object has no members but these, each at most once.
func Only(b []byte, names ...string) bool {
	t := Fields{}
	t.Split(b)
	return t.Only(names...)
}
