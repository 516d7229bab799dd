package code

import (
	"html"
	"regexp"
	"strings"
	"testing"

	"rehome/cmd/internal/page/markup"
)

func TestMark(t *testing.T) {
	for _, c := range []struct{ lang, in, want string }{
		{"go", `if x == "a\"b" { // no`, `<span class="k">if</span> x == <span class="s">&#34;a\&#34;b&#34;</span> { <span class="c">// no</span>`},
		{"clock.py", "'''a\nb''' # c\nx = 12", "<span class=\"s\">&#39;&#39;&#39;a\nb&#39;&#39;&#39;</span> <span class=\"c\"># c</span>\nx = <span class=\"n\">12</span>"},
		{"c", "/* a\nb */ int ifx;", "<span class=\"c\">/* a\nb */</span> <span class=\"k\">int</span> ifx;"},
		{"sh", "echo a#b", `<span class="k">echo</span> a#b`},
		{"js", "'open\nlet", "<span class=\"s\">&#39;open</span>\n<span class=\"k\">let</span>"},
		{"", "if <b>", "if &lt;b&gt;"},
		{"unknown", "if", "if"},
	} {
		if got := string(Mark(c.lang, c.in)); got != c.want {
			t.Errorf("%s:\n%s\nwant\n%s", c.lang, got, c.want)
		}
	}
}

// TestWhole: whatever is marked, the text is still there, in every language.
func TestWhole(t *testing.T) {
	tag := regexp.MustCompile(`</?span[^>]*>`)
	samples := []string{"", "\"", "'\\", "`\\\n", "/*", "<!-- -->", "\"\"\"a\\", "ä <b>&amp; 1_000 \x00 \xff", strings.Repeat("x\"", 99), "# a\n--b\n//c\n;d"}
	for paragraph := range strings.SplitSeq(table(), "\n\n") {
		for _, name := range strings.Fields(strings.SplitN(paragraph, "\n", 2)[0]) {
			if find(name) == nil {
				t.Errorf("%s is not found", name)
			}
			for _, s := range samples {
				got, want := html.UnescapeString(tag.ReplaceAllString(string(Mark(name, s)), "")), html.UnescapeString(string(markup.Text(s)))
				if got != want {
					t.Errorf("%s: %q, want %q", name, got, want)
				}
			}
		}
	}
}
