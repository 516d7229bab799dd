// Package picture draws what a command printed on a terminal, as an SVG that is
// readable on light and dark pages.
package picture

import (
	"encoding/xml"
	"fmt"
	"regexp"
	"strings"
	"unicode/utf8"
)

const (
	columns = 88
	cell    = 8.4 // width of a character,
	row     = 19  // height of a line,
	margin  = 16
)

// style is the same picture for both color schemes. Steps appear one after the
// other where animations run, and stand there at once where they do not.
const style = `
rect { fill: #ffffff; stroke: #d0d7de; }
text { fill: #1f2328; font: 14px ui-monospace, SFMono-Regular, Menlo, Consolas, "DejaVu Sans Mono", monospace; white-space: pre; }
.b { font-weight: bold; }
.f { fill: #656d76; }
.r { fill: #cf222e; }
.g { fill: #116329; }
.y { fill: #7d4e00; }
.c { fill: #0550ae; }
.w { font-weight: bold; text-decoration: underline; }
@media (prefers-color-scheme: dark) {
  rect { fill: #0d1117; stroke: #30363d; }
  text { fill: #e6edf3; }
  .f { fill: #8b949e; }
  .r { fill: #ff7b72; }
  .g { fill: #7ee787; }
  .y { fill: #e3b341; }
  .c { fill: #79c0ff; }
}
@media (prefers-reduced-motion: no-preference) {
  g { animation: appear .4s ease-out backwards; }
  @keyframes appear { from { opacity: 0; } }
}
`

// piece is text of one look.
type piece struct {
	class string
	text  string
}

// Draw returns the picture of a prompt, and of what was printed below it in
// colors. An empty line ends a step.
func Draw(command, printed string) []byte {
	rows := [][]piece{{{"c", "$ " + command}}, {}}
	for line := range strings.Lines(printed) {
		rows = append(rows, wrapped(pieces(strings.TrimSuffix(line, "\n")))...)
	}
	var b strings.Builder
	width, height := columns*cell+2*margin, float64(len(rows)*row+2*margin)
	fmt.Fprintf(&b, `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 %.0f %.0f" width="%.0f" height="%.0f" role="img" aria-label="%s on a terminal">`,
		width, height, width, height, escape(command))
	fmt.Fprintf(&b, "\n<style>%s</style>\n<rect x=\"0.5\" y=\"0.5\" width=\"%.0f\" height=\"%.0f\" rx=\"8\"/>\n<g>\n", style, width-1, height-1)
	step := 0
	for i, line := range rows {
		if len(line) == 0 {
			step++
			fmt.Fprintf(&b, "</g>\n<g style=\"animation-delay: %.1fs\">\n", float64(step)*1.5)
			continue
		}
		at := 0
		for _, p := range line {
			n := utf8.RuneCountInString(p.text)
			if strings.TrimSpace(p.text) != "" {
				fmt.Fprintf(&b, `<text x="%.1f" y="%d"%s textLength="%.1f" xml:space="preserve">%s</text>`+"\n",
					margin+float64(at)*cell, margin+i*row+row-5, class(p), float64(n)*cell, escape(p.text))
			}
			at += n
		}
	}
	b.WriteString("</g>\n</svg>\n")
	return []byte(b.String())
}

// pieces takes a line apart at its escape sequences. Blanks at the beginning of
// a piece only move it, for some programs that draw SVG drop them.
func pieces(line string) (out []piece) {
	looks := map[string]string{"1": "b", "2": "f", "31": "r", "32": "g", "33": "y", "36": "c", "7;31": "r w", "7;32": "g w"} // inverse is underlined
	escapes := regexp.MustCompile("\x1b\\[([0-9;]*)m")
	class := ""
	add := func(s string) {
		rest := strings.TrimLeft(s, " ")
		for _, text := range []string{s[:len(s)-len(rest)], rest} {
			if text != "" {
				out = append(out, piece{class, text})
			}
		}
	}
	for {
		at := escapes.FindStringSubmatchIndex(line)
		if at == nil {
			add(line)
			return out
		}
		add(line[:at[0]])
		class = looks[line[at[2]:at[3]]]
		line = line[at[1]:]
	}
}

// wrapped breaks a line where the terminal ends, between words if it can.
func wrapped(line []piece) [][]piece {
	out, used := [][]piece{nil}, 0
	for _, p := range line {
		text := []rune(p.text)
		for used+len(text) > columns {
			n := columns - used
			if at := strings.LastIndex(string(text[:n]), " "); at > 0 {
				n = utf8.RuneCountInString(string(text[:n])[:at]) + 1
			}
			out[len(out)-1] = append(out[len(out)-1], piece{p.class, string(text[:n])})
			text, out, used = text[n:], append(out, nil), 0
		}
		out[len(out)-1] = append(out[len(out)-1], piece{p.class, string(text)})
		used += len(text)
	}
	return out
}

func class(p piece) string {
	if p.class == "" {
		return ""
	}
	return ` class="` + p.class + `"`
}

func escape(s string) string {
	var b strings.Builder
	xml.EscapeText(&b, []byte(s))
	return b.String()
}
