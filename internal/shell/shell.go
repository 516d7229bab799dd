// Package shell writes commands for people to paste. Names in them come from stores and repositories,
// which anybody may have written: every word is quoted here, and nowhere else.
package shell

import (
	"fmt"
	"runtime"
	"strconv"
	"strings"
	"unicode/utf16"
	"unicode/utf8"
)

// Command returns words as a command for the shell of this machine: PowerShell on Windows, else one
// that follows POSIX.
func Command(words ...string) string { return Join(Word, words) }

// Join returns words as a command for a shell that quotes them so.
func Join(quote func(string) string, words []string) string {
	quoted := make([]string, len(words))
	for i, word := range words {
		quoted[i] = quote(word)
	}
	return strings.Join(quoted, " ")
}

// Word returns s as one word of a Command.
func Word(s string) string { return For(runtime.GOOS)(s) }

// For returns how the shell of an operating system quotes a word.
func For(goos string) func(string) string {
	if goos == "windows" {
		return powerShell
	}
	return POSIX
}

// POSIX quotes s as one word for a shell that follows POSIX, if necessary. Characters
// that are unsafe on a terminal are written as octal escapes, so that the command can
// be copied from the screen.
func POSIX(s string) string {
	plain := func(r rune) bool {
		return isAlphanumeric(r) || strings.ContainsRune("/._-+:@%#=,", r) // shells expand ~ after = and :, too
	}
	if s != "" && strings.TrimFunc(s, plain) == "" && !strings.ContainsRune("#=", rune(s[0])) {
		return s
	}
	if isPrintable(s) {
		return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'"
	}
	b := []byte("$'")
	for _, c := range []byte(s) {
		if c < ' ' || c >= 0x7f || c == '\'' || c == '\\' {
			b = fmt.Appendf(b, `\%03o`, c)
		} else {
			b = append(b, c)
		}
	}
	return string(append(b, '\''))
}

// powerShell is POSIX for PowerShell, which takes several characters for quotation marks.
func powerShell(s string) string {
	plain := func(r rune) bool { return isAlphanumeric(r) || strings.ContainsRune(`./\_-:`, r) }
	if s != "" && strings.TrimFunc(s, plain) == "" {
		return s
	}
	if isPrintable(s) && !strings.ContainsAny(s, "'‘’‚‛") {
		return "'" + s + "'"
	}
	b := []byte(`"`)
	for _, c := range utf16.Encode([]rune(s)) {
		if plain(rune(c)) || c == ' ' {
			b = append(b, byte(c))
		} else {
			b = fmt.Appendf(b, "$([char]0x%x)", c)
		}
	}
	return string(append(b, '"'))
}

func isAlphanumeric(r rune) bool {
	return r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9'
}

func isPrintable(s string) bool {
	return utf8.ValidString(s) && strings.IndexFunc(s, func(r rune) bool { return !strconv.IsPrint(r) }) < 0
}
