package claude

import (
	"cmp"
	"errors"
	"fmt"
	"net/url"
	"strings"
)

// key names a transcript as the SDK does. Subpath is empty for the session itself; for its
// subagents it is the path of their file below the session's folder, without the extension.
type key struct{ Project, Session, Subpath string }

func (k key) compare(o key) int {
	return cmp.Or(strings.Compare(k.Project, o.Project), strings.Compare(k.Session, o.Session), strings.Compare(k.Subpath, o.Subpath))
}

// session returns the key of the session that k belongs to.
func (k key) session() key { return key{Project: k.Project, Session: k.Session} }

func (k key) String() string {
	name := k.Project + "/" + k.Session
	if k.Subpath != "" {
		name += "/" + k.Subpath
	}
	if len(name) > maxShown {
		name = name[:maxShown] + "…"
	}
	return fmt.Sprintf("%q", name)
}

const (
	maxShown = 200 // bytes of a key in a message
	maxName  = 200 // bytes of a file's name, without its extension
	maxDepth = 16  // folders in a subpath
)

// path returns the path of the transcript below the projects folder, without its extension. It
// is local and has no character that a file system treats in a special way.
func (k key) path() (string, error) {
	parts := append([]string{k.Project, k.Session}, strings.Split(k.Subpath, "/")...)
	if k.Subpath == "" {
		parts = parts[:2]
	}
	if len(parts) > maxDepth {
		return "", errors.New("too many folders in the subpath")
	}
	for i, part := range parts {
		if parts[i] = escape(part); len(parts[i]) > maxName {
			return "", errors.New("too long for the name of a file")
		}
	}
	return strings.Join(parts, "/"), nil
}

// keyOf is the reverse of path, for a path with at least two parts.
func keyOf(path string) key {
	parts := strings.Split(path, "/")
	for i, part := range parts {
		parts[i] = unescape(part)
	}
	return key{Project: parts[0], Session: parts[1], Subpath: strings.Join(parts[2:], "/")}
}

// escape returns s as the name of a file: an empty name, one of dots alone, and characters other
// than those of names that clients write, are percent-encoded. No two names give the same.
func escape(s string) string {
	if s == "" {
		return "%"
	}
	var b strings.Builder
	for i := range len(s) {
		c := s[i]
		plain := c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || strings.IndexByte("-_@+=, ", c) >= 0 ||
			c == '.' && i > 0 && i < len(s)-1
		if plain && !(c == ' ' && (i == 0 || i == len(s)-1)) {
			b.WriteByte(c)
		} else {
			fmt.Fprintf(&b, "%%%02X", c)
		}
	}
	return b.String()
}

// unescape is the reverse of escape. A name that escape does not return is a name of its own.
func unescape(s string) string {
	if s == "%" {
		return ""
	}
	if t, err := url.PathUnescape(s); err == nil && escape(t) == s {
		return t
	}
	return s
}
