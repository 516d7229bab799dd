package cli

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"strings"

	"rehome/cmd/internal/prose"
	"rehome/cmd/internal/screen"
	"rehome/convert/diff"
)

// Markdown has a max size, since build services refuse longer job summaries.
const (
	maxMarkdown    = 500 << 10
	minFence       = 3
	maxPerMarkdown = 100 << 10 // of one session
)

// markdown prints each session as a heading and a block of a diff.
func (v *diffView) markdown(w io.Writer, c *diff.Comparison) error {
	if _, err := fmt.Fprintf(w, "**Sessions:** %s\n", diffSummary("session", c)); err != nil {
		return err
	}
	if c.Across > 0 {
		fmt.Fprintf(w, "\n%s\n", acrossClients(c))
	}
	out, left := &limitWriter{w, maxMarkdown}, c.Added+c.Removed+c.Changed
	err := c.Each(func(s *diff.Session) error {
		var block, doc bytes.Buffer
		p := screen.NewPage(&limitWriter{&block, maxPerMarkdown}, false)
		v.session(s, func(l diffLine) bool {
			switch l.level {
			case 0, 2:
				p.Line("  " + l.text)
			case 1:
				p.Line("@@ " + l.text + " @@")
			default:
				p.Line(l.prefix() + l.text)
			}
			return p.Err() == nil
		})
		if p.Err() != nil {
			block.WriteString("…\n")
		}
		fmt.Fprintf(&doc, "\n#### %s\n", prose.EscapeMarkdown(v.title(s)))
		if block.Len() > 0 {
			fence := strings.Repeat("`", max(minFence, longestRun(block.String(), '`')+1))
			fmt.Fprintf(&doc, "\n%sdiff\n%s%s\n", fence, block.String(), fence)
		}
		if _, err := out.Write(doc.Bytes()); err != nil {
			return err
		}
		left--
		return nil
	})
	if errors.Is(err, errLimit) {
		_, err = fmt.Fprintf(w, "\nand %s: too long to show\n", screen.Plural(int64(left), "more session"))
	}
	return err
}

// longestRun returns the length of the longest run of a character.
func longestRun(s string, c rune) (longest int) {
	n := 0
	for _, r := range s {
		if n++; r != c {
			n = 0
		}
		longest = max(longest, n)
	}
	return longest
}
