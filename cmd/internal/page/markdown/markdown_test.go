package markdown

import (
	"strings"
	"testing"
)

func TestRender(t *testing.T) {
	for _, c := range []struct{ in, want string }{
		{"a *b* **c** ~~d~~ `e<f`", `<p dir="auto">a <em>b</em> <strong>c</strong> <s>d</s> <code>e&lt;f</code></p>` + "\n"},
		{"# A\n### B\n# C", "<h3 dir=\"auto\">A</h3>\n<h4 dir=\"auto\">B</h4>\n<h3 dir=\"auto\">C</h3>\n"},
		{"<b onclick=x>hi</b> &lt;i&gt; \\*", `<p dir="auto">&lt;b onclick=x&gt;hi&lt;/b&gt; &lt;i&gt; *</p>` + "\n"},
		{"<script>\nx\n</script>", "<p dir=\"auto\">&lt;script&gt;\nx\n&lt;/script&gt;</p>\n"},
		{"[a](https://x.org/?a=1&b=2 'T\"')", `<p dir="auto"><a href="https://x.org/?a=1&amp;b=2" title="T&#34;" rel="noopener noreferrer nofollow">a</a></p>` + "\n"},
		{"[a](javascript:alert(1)) [b](JaVaScRiPt&colon;x) [c](data:text/html,x)", `<p dir="auto">a (javascript:alert(1)) b (JaVaScRiPt:x) c (data:text/html,x)</p>` + "\n"},
		{"[a](//x.org) [b](/etc) [c](file:///etc) [d](https://u:p@x.org)", `<p dir="auto">a (//x.org) b (/etc) c (file:///etc) d (https://u:p@x.org)</p>` + "\n"},
		{"![p](https://x.org/a.png) <me@x.org>", `<p dir="auto"><a href="https://x.org/a.png" rel="noopener noreferrer nofollow">image: p</a> <a href="mailto:me@x.org" rel="noopener noreferrer nofollow">me@x.org</a></p>` + "\n"},
		{"[x]: javascript:y\n", `<p dir="auto">[x]: javascript:y</p>` + "\n"},
		{"3. a\n4. b", "<ol start=\"3\">\n<li dir=\"auto\">a</li>\n<li dir=\"auto\">b</li>\n</ol>\n"},
		{"- [x] a", "<ul>\n<li dir=\"auto\">☑ a</li>\n</ul>\n"},
		{"a\u202eb\x1b[31m", `<p dir="auto">a\u202eb\x1b[31m</p>` + "\n"},
		{"```go x\nif a < 1 {\n```", "<p class=\"lang\" dir=\"auto\">go x</p>\n<pre class=\"code\"><code><span class=\"k\">if</span> a &lt; <span class=\"n\">1</span> {\n</code></pre>\n"},
		{"|a|b|\n|-|-:|\n|1|<2|", `<div class="wide" role="region" aria-label="Table" tabindex="0"><table>` + "\n<thead><tr><th dir=\"auto\">a</th><th class=\"right\" dir=\"auto\">b</th></tr></thead>\n<tr><td dir=\"auto\">1</td><td class=\"right\" dir=\"auto\">&lt;2</td></tr>\n</table></div>\n"},
		{strings.Repeat("-", 40) + " Results", "<p dir=\"auto\">" + strings.Repeat("-", 40) + " Results</p>\n"},
	} {
		if got := string(Render(c.in, 3)); got != c.want {
			t.Errorf("%q:\n%s\nwant\n%s", c.in, got, c.want)
		}
	}
}

// TestIntricate: text that takes long to parse, or becomes many cells, is not parsed; text
// that is nested deep becomes elements that are not.
func TestIntricate(t *testing.T) {
	for _, s := range []string{
		strings.Repeat("[a](", 4<<10), strings.Repeat("> ", 40) + "x", strings.Repeat("1. ", 40) + "x", strings.Repeat("a", maxText+1),
		strings.Repeat("*a_ ", maxMarks), strings.Repeat("~", maxMarks+1),
		strings.Repeat("|a", 200) + "\n" + strings.Repeat("|-", 200) + "\n" + strings.Repeat("|\n", 10_000),
	} {
		if got := string(Render(s, 3)); !strings.HasPrefix(got, "<pre") || len(got) > 6*len(s) {
			t.Errorf("%.20q: %.100s", s, got)
		}
	}
	deep := ""
	for i := range 100 {
		deep += strings.Repeat("  ", i) + "- a\n"
	}
	if n := strings.Count(string(Render(deep, 3)), "<ul>"); n == 0 || n > maxDepth {
		t.Errorf("%d lists", n)
	}
}
