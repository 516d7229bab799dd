package home

import (
	"net/url"
	"slices"
	"strings"
	"unicode"
)

// Secrets are passwords that no message may hold.
type Secrets []string

// Clean returns text of a server or of a driver as one line for people, without secrets and
// repetitions: drivers list each attempt to connect.
func (of Secrets) Clean(text string) string {
	var lines []string
	for line := range strings.Lines(text) {
		if line = strings.TrimSpace(line); line != "" && !slices.Contains(lines, line) && len(lines) < 8 {
			lines = append(lines, line)
		}
	}
	text = strings.Join(lines, " ")
	for _, secret := range of {
		if secret == "" {
			continue
		}
		for _, form := range []string{secret, url.QueryEscape(secret), url.PathEscape(secret), url.UserPassword("", secret).String()[1:]} {
			text = strings.ReplaceAll(text, form, "xxxxx")
		}
	}
	text = strings.Map(func(r rune) rune {
		if !unicode.IsPrint(r) {
			return ' '
		}
		return r
	}, strings.ToValidUTF8(text, "?"))
	text = strings.Join(strings.Fields(text), " ")
	if len(text) > 1000 {
		text = strings.ToValidUTF8(text[:1000], "") + "…"
	}
	return text
}

// Error returns err with clean text.
func (of Secrets) Error(err error) error { return &Failure{of.Clean(err.Error()), err} }

// Failure is an error with another text.
type Failure struct {
	Text string
	Err  error
}

func (f *Failure) Error() string { return f.Text }
func (f *Failure) Unwrap() error { return f.Err }
