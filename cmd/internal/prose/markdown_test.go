package prose

import (
	"regexp"
	"slices"
	"strings"
	"testing"

	"rehome/cmd/internal/screen"
)

func TestTamed(t *testing.T) {
	for in, want := range map[string]string{
		"a <b>bold</b> word":            "a &lt;b>bold&lt;/b> word",
		"`<b>` is code, <i> is not":     "`<b>` is code, &lt;i> is not",
		"an `open one <b>":              "an `open one &lt;b>",
		"one ` here\nand `<b>` there":   "one ` here\nand `&lt;b>` there",
		"escaped \\`<b>` ` x":           "escaped \\`&lt;b>` ` x",
		"``a ` <b>`` and `c`":           "``a ` <b>`` and `c`",
		"| `<b> | x` |":                 "| `&lt;b> | x` |",
		"> ```html":                     "> \\```html",
		"> ~~~\n> <b>":                  "> \\~~~\n> &lt;b>",
		"see ![x](http://h/p.png)":      `see \![x](http://h/p.png)`,
		"[![x](http://h/p)](u) ![y][r]": `[\![x](http://h/p)](u) \![y][r]`,
		`\![a](u) \\![b](u) wow!`:       `\![a](u) \\\![b](u) wow!`,
		"`![x](u)` ![y](u)":             "`![x](u)` \\![y](u)",
		"an `open ![x](u)":              "an `open \\![x](u)",
		"| ![x](u) | `c` |":             "| \\![x](u) | `c` |",
		"# heading\n- list\n1. numbers": "# heading\n- list\n1. numbers",
	} {
		if got := string(screen.Join(escapeParagraph(slices.Collect(screen.Rows(screen.Safe(in)))), "\n")); got != want {
			t.Errorf("%q: %q, want %q", in, got, want)
		}
	}
}

func flowed(words string) string {
	var b strings.Builder
	d := &markdownRenderer{lineWriter: newLineWriter(&b)}
	d.writeMarkdown(words, "")
	d.Flush()
	return b.String()
}

// TestFences: code blocks keep what is in them, and end.
func TestFences(t *testing.T) {
	for in, want := range map[string]string{
		"```go\nif a < b {\n```\nafter <b>": "```go\nif a < b {\n```\nafter &lt;b>\n",
		"open\n```\n<b>":                    "open\n```\n<b>\n```\n",
		"~~~\n```\n~~~":                     "````\n```\n````\n",
		"````\n```\ninner\n```\n````":       "````\n```\ninner\n```\n````\n",
		"1. Do this:\n\n   ```sh\n   ls <x\n     deeper\n   ```": "1. Do this:\n\n```sh\nls <x\n  deeper\n```\n",
		"- ```\n  <b>\n  ```\n<i>":                               "-\n```\n<b>\n```\n&lt;i>\n",
		"```a `b` c\n<b>":                                        "```a `b` c\n&lt;b>\n",
		"```js onclick=\"x\"\nx\n```":                            "```js\nx\n```\n",
		"```\n```\n":                                             "```\n```\n",
	} {
		if got := flowed(in); got != want {
			t.Errorf("%q:\n%s\nwant\n%s", in, got, want)
		}
	}
}

// FuzzMarkdown reads what is written as a strict reader would: blocks of code
// begin and end only where we began and ended them, and outside of them there
// is no HTML but ours.
func FuzzMarkdown(f *testing.F) {
	f.Add("a <b> `c` ``` x\n> ```\n<script>\n", `{"success":{"stdout":"</details>\n`+"```"+`"}}`)
	f.Add("- ```\n  <b>\n  ```\n<i>", `{"a":"<b>"}`)
	f.Add("1. x\n   ~~~\n<b>\n\n    ```\n<i>", `{"success":{"diffString":"@@\n+<b>\n+`+"````"+`"}}`)
	f.Add("![x](http://h/p) `![c](u)` \\\\![y][r]\n> ![z](u)", `"![x](u)"`)
	f.Add("`<b\n`>` <i>", `"`+"```"+`"`)
	ours := regexp.MustCompile(`^(?:<details><summary>(?:thinking|summary of compacted messages|<code>[^<>]*</code>[^<>]*)</summary>|</details>)$`)
	image := regexp.MustCompile(`(?:^|[^\\])(?:\\\\)*!\[`)
	fenced := regexp.MustCompile("^[ \t>*+0-9.)-]*(```+|~~~+)")
	f.Fuzz(func(t *testing.T, words, value string) {
		var b strings.Builder
		if err := Markdown(&b, hostile(words, value), Options{Tools: Full, Thinking: true, Source: words}); err != nil {
			t.Fatal(err)
		}
		open, quoted := "", false
		for line := range strings.Lines(b.String()) {
			line = strings.TrimRight(line, "\n")
			if open == "" {
				quoted = strings.HasPrefix(line, "> ")
			}
			inner := line
			if quoted {
				inner = strings.TrimPrefix(line, ">")
				inner = strings.TrimPrefix(inner, " ")
			}
			switch m := fenced.FindStringSubmatch(inner); {
			case open != "":
				if inner == open {
					open = ""
				} else if run := backticks(screen.Safe(strings.TrimLeft(inner, " \t"))); run >= len(open) {
					t.Fatalf("%q, %q: %q may end the block that %q began:\n%s", words, value, line, open, b.String())
				}
			case m != nil && strings.HasPrefix(inner, "```") && !strings.Contains(strings.TrimLeft(inner, "`"), "`"):
				open = m[1]
			case m != nil && !strings.Contains(strings.TrimLeft(strings.TrimLeft(inner, " \t>*+0123456789.)-"), "`"), "`"):
				t.Fatalf("%q, %q: %q may begin a block:\n%s", words, value, line, b.String())
			case ours.MatchString(line):
			case strings.Contains(withoutCode(inner), "<"):
				t.Fatalf("%q, %q: %q holds HTML:\n%s", words, value, line, b.String())
			case image.MatchString(withoutCode(inner)):
				t.Fatalf("%q, %q: %q holds an image:\n%s", words, value, line, b.String())
			}
		}
		if open != "" {
			t.Fatalf("%q, %q: a block is left open:\n%s", words, value, b.String())
		}
	})
}

// withoutCode takes the code out of a line by the rule of the standard: a run
// of backticks up to the next one of the same length.
func withoutCode(line string) string {
	var out strings.Builder
	for i := 0; i < len(line); {
		if line[i] == '\\' && i+1 < len(line) {
			out.WriteString(line[i : i+2])
			i += 2
			continue
		}
		if line[i] != '`' {
			out.WriteByte(line[i])
			i++
			continue
		}
		n := len(line[i:]) - len(strings.TrimLeft(line[i:], "`"))
		end := -1
		for j := i + n; j < len(line); j++ {
			if line[j] == '`' {
				run := len(line[j:]) - len(strings.TrimLeft(line[j:], "`"))
				if run == n {
					end = j + run
					break
				}
				j += run - 1
			}
		}
		if end < 0 {
			out.WriteString(line[i : i+n])
			i += n
			continue
		}
		i = end
	}
	return out.String()
}
