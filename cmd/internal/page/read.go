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

// What Read looks for in tags: where a link leads and what it is called, unless it leads to the
// page itself, and the number of a turn.
var (
	link   = regexp.MustCompile(` (?:href|title)="([^"#][^"]*)"`)
	number = regexp.MustCompile(` id="turn-(-?[0-9]+)`)
)

// Text is a part of what a page says.
type Text struct {
	Text   []byte
	Turn   string // the number of its turn; "" outside of turns
	Quoted bool   // from the session; otherwise, words of the program are in it
}

// Read passes on the text of a page as readers see it, and where its links lead: what
// Markdown, colors of a terminal or highlighting split in the session is whole there.
func Read(r io.Reader, pass func(Text)) error {
	var text [2][]byte // of the program, and quoted
	var links, tag []byte
	inside, main, quoted, turn, depth := false, false, 0, "", 0
	done := func(keep int) {
		for i, b := range [][]byte{text[0], text[1], links} {
			pass(Text{[]byte(html.UnescapeString(string(b))), turn, i > 0})
		}
		for i, b := range text {
			text[i] = append(b[:0], b[max(0, len(b)-keep):]...)
		}
		links = links[:0]
	}
	buf := make([]byte, 64<<10)
	for {
		n, err := r.Read(buf)
		for _, c := range buf[:n] {
			switch {
			case !inside && c == '<':
				inside, tag = true, tag[:0]
			case !inside:
				text[quoted] = append(text[quoted], c)
			case c != '>':
				if len(tag) < maxTag {
					tag = append(tag, c)
				}
			default:
				inside = false
				name, _, _ := strings.Cut(string(tag), " ")
				switch name {
				case "a":
					for _, m := range link.FindAllSubmatch(tag, -1) {
						links = append(append(links, m[1]...), '\n')
					}
					continue
				case "/a", "span", "/span", "code", "/code", "em", "/em", "strong", "/strong", "s", "/s", "bdi", "/bdi", "time", "/time":
					continue
				case "main", "/main":
					main = name == "main"
				case "section":
					if depth++; depth == 1 {
						done(0)
						if m := number.FindSubmatch(tag); m != nil {
							turn = string(m[1])
						}
					}
				case "/section":
					if depth--; depth == 0 {
						done(0)
						turn = ""
					}
				}
				text[quoted] = append(text[quoted], '\n')
				if !strings.HasPrefix(name, "/") && name != "br" {
					if quoted = 0; main && name != "dd" && (name == "pre" || bytes.HasSuffix(tag, []byte(` dir="auto"`))) {
						quoted = 1
					}
				}
			}
		}
		if len(text[0])+len(text[1])+len(links) > maxRead {
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
