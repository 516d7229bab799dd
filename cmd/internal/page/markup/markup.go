// Package markup turns foreign text into HTML. No other package converts strings to
// HTML, so that every foreign string is escaped by its type: text, or a URL.
package markup

import (
	"html"
	"net/url"
	"strconv"
	"strings"

	"rehome/cmd/internal/screen"
)

// HTML is markup. Untyped constants are HTML; everything foreign comes from this package.
type HTML string

// Text returns foreign text as the content of an element or of a quoted attribute.
// Characters that would be invisible or act on the text around them are spelled out.
func Text(s string) HTML { return HTML(html.EscapeString(string(screen.Lines(s)))) }

// Safe returns text that is visible already.
func Safe(s screen.Safe) HTML { return HTML(html.EscapeString(string(s))) }

// Trusted returns what is part of the program, such as its stylesheet.
func Trusted(s string) HTML { return HTML(s) }

// Int returns a number.
func Int(n int) HTML { return HTML(strconv.Itoa(n)) }

// maxURL is the length of the longest URL that becomes a link.
const maxURL = 4 << 10

// URL returns a foreign URL as the value of a quoted attribute; false if it is not one
// that leads to a page or a mailbox.
func URL(s string) (HTML, bool) {
	if len(s) > maxURL || strings.ContainsFunc(s, func(r rune) bool { return r == ' ' || screen.Invisible(r) }) {
		return "", false
	}
	u, err := url.Parse(s)
	if err != nil {
		return "", false
	}
	switch {
	case (u.Scheme == "http" || u.Scheme == "https") && u.Host != "" && u.Opaque == "" && u.User == nil:
	case u.Scheme == "mailto" && u.Opaque != "":
	default:
		return "", false
	}
	return HTML(html.EscapeString(u.String())), true
}

// Link returns a link to a foreign URL, or its text and the URL as text if that is not
// safe. title can be "".
func Link(to, title string, words HTML) HTML {
	href, ok := URL(to)
	if !ok {
		for _, s := range []string{to, title} {
			if s != "" && Text(s) != words {
				words += " (" + Text(s) + ")"
			}
		}
		return words
	}
	if title != "" {
		title = ` title="` + string(Text(title)) + `"`
	}
	return `<a href="` + href + `"` + HTML(title) + ` rel="noopener noreferrer nofollow">` + words + `</a>`
}

// Builder collects markup.
type Builder struct{ b strings.Builder }

// Add appends markup.
func (b *Builder) Add(parts ...HTML) {
	for _, p := range parts {
		b.b.WriteString(string(p))
	}
}

// HTML returns what was added.
func (b *Builder) HTML() HTML { return HTML(b.b.String()) }

// Template is a file of fragments, each after a line <!-- fragment: NAME -->. A fragment
// holds slots, such as {title}.
type Template map[string]string

// ParseTemplate splits a file into its fragments.
func ParseTemplate(text string) Template {
	t := Template{}
	for _, part := range strings.Split(text, "<!-- fragment: ")[1:] {
		name, body, _ := strings.Cut(part, " -->\n")
		t[name] = body
	}
	return t
}

// Fill returns a fragment with its slots filled: a name, its value, and so on. Values are
// not searched for slots.
func (t Template) Fill(name string, slots ...HTML) HTML {
	pairs := make([]string, len(slots))
	for i, s := range slots {
		if pairs[i] = string(s); i%2 == 0 {
			pairs[i] = "{" + pairs[i] + "}"
		}
	}
	return HTML(strings.NewReplacer(pairs...).Replace(t[name]))
}
