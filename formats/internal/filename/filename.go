// Package filename says which names of files are safe on every operating system, and
// which are hashes of workspaces. It also makes UUIDs of names.
package filename

import (
	"crypto/md5"
	"encoding/hex"
	"strings"
	"unicode/utf8"
)

// MaxLen is the maximum length of a safe name.
const MaxLen = 64

// Safe reports whether a name consists of lower-case ASCII letters, digits, dashes and
// underscores, does not start with a dash, is not too long, and is not a device.
func Safe(s string) bool {
	if s == "" || len(s) > MaxLen || s[0] == '-' || Device(s) {
		return false
	}
	for _, c := range []byte(s) {
		if (c < 'a' || c > 'z') && (c < '0' || c > '9') && c != '-' && c != '_' {
			return false
		}
	}
	return true
}

// HashOf returns the name that Cursor's clients give to the folder for a workspace:
// the MD5 of its path.
func HashOf(workspace string) string {
	sum := md5.Sum([]byte(workspace))
	return hex.EncodeToString(sum[:])
}

// IsHash reports whether HashOf can return a name.
func IsHash(s string) bool {
	return len(s) == 2*md5.Size && strings.Trim(s, "0123456789abcdef") == ""
}

// Device reports whether Windows reserves a name, with any extension, for a device.
func Device(s string) bool {
	s, _, _ = strings.Cut(strings.ToLower(s), ".")
	switch s = strings.TrimRight(s, " "); s {
	case "con", "prn", "aux", "nul", "conin$", "conout$":
		return true
	}
	number, port := strings.CutPrefix(s, "com")
	if !port {
		number, port = strings.CutPrefix(s, "lpt")
	}
	return port && utf8.RuneCountInString(number) == 1 && strings.ContainsAny(number, "0123456789¹²³")
}
