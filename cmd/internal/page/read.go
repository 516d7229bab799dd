package page

import (
	"bytes"
	"html"
	"io"
	"regexp"
	"strings"
)

// The limits of what Read holds: of text, of how much of it is passed on again with what
// follows, and of a tag.
const (
	maxRead     = 1 << 20
	readOverlap = 64 << 10
	maxTag      = 32 << 10
)

// Words returns the words that every page has, or can have, whatever is in the session.
func Words() string { return slot.ReplaceAllString(file("page.html"), " ") }

// slot matches what is not a word in the template.
var slot = regexp.MustCompile(`<[^>]*>|\{[a-z]+\}`)

// Read passes on the text of a page as readers see it, without times, and where its links lead:
// what Markdown, colors of a terminal or highlighting split in the session is whole there.
func Read(r io.Reader, pass func(text []byte)) error {
	var text, links, tag []byte
	inside, timed := false, false
	done := func(keep int) {
		pass([]byte(html.UnescapeString(string(text))))
		pass([]byte(html.UnescapeString(string(links))))
		text, links = append(text[:0], text[max(0, len(text)-keep):]...), links[:0]
	}
	buf := make([]byte, 64<<10)
	for {
		n, err := r.Read(buf)
		for _, c := range buf[:n] {
			switch {
			case !inside && c == '<':
				inside, tag = true, tag[:0]
			case !inside:
				if !timed {
					text = append(text, c)
				}
			case c != '>':
				if len(tag) < maxTag {
					tag = append(tag, c)
				}
			default:
				inside = false
				name, _, _ := strings.Cut(strings.Trim(string(tag[:min(len(tag), 16)]), "/"), " ")
				switch name {
				case "time":
					timed = !timed
				case "a":
					links = append(append(links, tag...), '\n')
				case "span", "code", "em", "strong", "s", "bdi":
				case "img":
					tag, _, _ = bytes.Cut(tag, []byte(" src="))
					links = append(append(links, tag...), '\n')
				default:
					text = append(text, '\n')
				}
			}
		}
		if len(text)+len(links) > maxRead {
			done(readOverlap)
		}
		if err == io.EOF {
			done(0)
			return nil
		}
		if err != nil {
			return err
		}
	}
}
