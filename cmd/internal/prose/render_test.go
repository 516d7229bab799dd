package prose

import (
	"strings"
	"testing"

	"rehome/cmd/internal/screen"
	"rehome/formats/session"
)

// marked shows the styles of rendered Markdown as tags: <b>, <i>, <u>, <s>, <c>
// (code) and <f> (faint).
func marked(t *testing.T, words string, width int) string {
	t.Helper()
	var b strings.Builder
	r := &textRenderer{lineWriter: newLineWriter(&b), o: Options{Width: width, Palette: true}}
	r.rendered(words, margin{})
	if err := r.Flush(); err != nil {
		t.Fatal(err)
	}
	unstyled(t, b.String())
	tags := strings.NewReplacer("0", "/", "1", "b", "3", "i", "4", "u", "9", "s", "2", "f")
	return styleCode.ReplaceAllStringFunc(b.String(), func(code string) string {
		return "<" + strings.ReplaceAll(tags.Replace(strings.ReplaceAll(strings.Trim(code, "\x1b[m"), "36", "c")), ";", "") + ">"
	})
}

// TestRendered: markers become styles, and what is not closed stays as it is.
func TestRendered(t *testing.T) {
	for in, want := range map[string]string{
		"a **bold** and *em* and `co*de*`":    "a <b>bold</> and <i>em</> and <c>co*de*</>",
		"__bold__ _em_ ***both*** ~~gone~~":   "<b>bold</> <i>em</> <bi>both</> <s>gone</>",
		"**bold with `code` and *em***":       "**bold with <c>code</> and *em***", // only equal runs match
		"**bold with `code` and *em* in it**": "<b>bold with </><bc>code</><b> and </><bi>em</><b> in it</>",
		"snake_case_name and 2 * 3 * 4":       "snake_case_name and 2 * 3 * 4",
		"**open and `open and [open](x":       "**open and `open and [open](x",
		"*.go and *.md":                       "*.go and *.md",
		`\*not em\* and C:\dir`:               `*not em* and C:\dir`,
		"`` a ` b ``":                         "<c>a ` b</>",
		"see [the docs](https://x.org/a)":     "see <u>the docs</> (https://x.org/a)",
		"[https://x.org](https://x.org)":      "<u>https://x.org</>",
		"![shot](a.png)":                      "!<u>shot</> (a.png)",
		"[x] done [1][2] a[i](j k)":           "[x] done [1][2] a[i](j k)",
		"# Title\n\n### Sub `x`":              "<bu>Title</>\n\n<b>Sub </><bc>x</>",
		"#hashtag\n####### seven":             "#hashtag\n####### seven",
		"- one\n  * two\n12. three\n- [ ] x":  "• one\n  • two\n12. three\n• [ ] x",
		"> quoted **b**\n> > twice":           "<f>│ </>quoted <b>b</>\n<f>│ </><f>│ </>twice",
		"a\n\n---\nb":                         "a\n\n<f>───</>\nb",
		"```go\n\tx **y**\n```\nafter":        "  <c>    x **y**</>\nafter",
		"- ```\n  x\n  ```":                   "•\n  <c>x</>",
		"```\nopen *x*":                       "  <c>open *x*</>",
		"| a **b** |\n|---|":                  "| a **b** |\n|---|",
		"text\n\n    code *x*\n    more":      "text\n\n<c>    code *x*</>\n<c>    more</>",
		"- item\n\n    text **x**":            "• item\n\n    text <b>x</>",
	} {
		if got := strings.TrimSuffix(marked(t, in, 80), "\n"); got != want {
			t.Errorf("%q: %q, want %q", in, got, want)
		}
	}
}

// TestRenderedWrapped: a style that goes over the end of a line ends there, and
// begins again on the next one.
func TestRenderedWrapped(t *testing.T) {
	want := "• one <b>two three </>\n  <b>four five</> six\n  <c>seven-eight-nin</>\n  <c>e-ten</>\n"
	got := marked(t, "- one **two three four five** six `seven-eight-nine-ten`", 17)
	if strings.ReplaceAll(got, " </>", "</>") != strings.ReplaceAll(want, " </>", "</>") {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
}

// TestRenderedTamed: text that holds codes of a terminal gets none through,
// whatever it puts them in, and its lines end with our reset.
func TestRenderedTamed(t *testing.T) {
	for _, in := range []string{
		"**\x1b[31mred**", "`\x1b]0;title\a`", "[\x1b[8mhidden](http://a\x1b[0m)", "# \x1b[2J", "> \x1b[H", "- \u202eevil", "\\\x1b[31m", "*a\r*b*",
		"~~\u009b31m~~", "```\n\x1b[31m\n```", "    \x1b[31m", "***\x1b[31m", "\u2066*x*",
	} {
		got := marked(t, in, 40)
		for _, r := range got {
			if r != '\n' && screen.Invisible(r) {
				t.Errorf("%q: %U comes through: %q", in, r, got)
			}
		}
	}
}

// TestRenderedLong: the work grows with a line, not with its square, whatever
// markers it is made of.
func TestRenderedLong(t *testing.T) {
	for _, unit := range []string{"*a ", "**a*", "`", "[", "[a](", "_a_ ", "~~a", "\\*", "> ", "- ", "`` ` ", "***", "*a **b "} {
		for _, n := range []int{maxInline - 10, 1 << 20} {
			marked(t, strings.Repeat(unit, n/len(unit)), 80)
		}
	}
	var growing strings.Builder // no two runs are equal
	for i := 1; growing.Len() < maxInline-300; i++ {
		growing.WriteString(strings.Repeat("`", i) + " ")
	}
	marked(t, growing.String(), 80)
}

// TestInternalRecords: they are counted in one line a turn, and printed with All.
func TestInternalRecords(t *testing.T) {
	list := func() *session.Session {
		return stream(
			&session.Message{Role: session.System, Parts: []session.Part{&session.Text{Text: "You are good."}, &session.Opaque{Kind: "mode"}}},
			user(1, "hi"), said(&session.Injected{Tag: "rules", Text: "x"}, &session.Opaque{Kind: "latch"}, &session.Text{Text: "Hello."}, &session.Opaque{Kind: "cost"}),
			user(2, "on"), said(&session.Text{Text: "Yes."}),
			user(3, "on"), said(&session.Opaque{Kind: "latch"}))
	}
	got := shown(t, list(), Options{})
	for _, want := range []string{"[2 internal records, --all shows them]\n\n── turn 1", "● Hello.\n\n[3 internal records]\n\n── turn 2", "● Yes.\n\n── turn 3", "> on\n\n[1 internal record]\n"} {
		if !strings.Contains(got, want) {
			t.Errorf("not %q in\n%s", want, got)
		}
	}
	all := shown(t, list(), Options{All: true})
	for _, want := range []string{"[system prompt: 13 B]", "[mode 0 B]", "[context: rules 1 B]", "[latch 0 B]", "[cost 0 B]"} {
		if !strings.Contains(all, want) || strings.Contains(all, "internal") {
			t.Errorf("not %q in\n%s", want, all)
		}
	}
	var b strings.Builder
	if err := Markdown(&b, list(), Options{}); err != nil {
		t.Fatal(err)
	}
	if text := b.String(); strings.Count(text, "internal record") != 3 || strings.Contains(text, "latch") {
		t.Errorf("Markdown:\n%s", text)
	}
}

// TestDiffArguments: what the diff shows is not printed again.
func TestDiffArguments(t *testing.T) {
	edit := call("a", "edit", `{"file_path":"/home/ann/app/a.go","old_string":"one","new_string":"two","replace_all":true}`)
	got := shown(t, stream(user(1, "go"), said(edit), result("a", "success", `{"success":{}}`)), Options{Tools: Full})
	if !strings.Contains(got, "edit  a.go  +1 -1\n    replace_all: true\n    @@ -1 +1 @@\n    -one\n    +two\n") || strings.Contains(got, "_string") || strings.Contains(got, "file_path") {
		t.Errorf("got\n%s", got)
	}
	refused := result("a", "error", `{"error":{"error":"no such text"}}`)
	refused.Parts[0].(*session.ToolResult).Error = true
	failed := shown(t, stream(user(1, "go"), said(edit), refused), Options{Tools: Full})
	if !strings.Contains(failed, "old_string: one") {
		t.Errorf("a failed edit keeps its arguments:\n%s", failed)
	}
}
