package page

import (
	"fmt"
	"strings"
	"testing"
	"testing/iotest"
)

// TestRead: text that markup splits is whole, and so are the links, each in its turn. What the
// program says is apart.
func TestRead(t *testing.T) {
	in := `<h1 dir="auto">Untitled</h1><main id="conversation"><section class="turn" id="turn-7"><h2><a href="#turn-7">Turn 7</a> <span class="meta"><time datetime="2026">12:00</time></span></h2>` +
		`<p dir="auto">to<em>k</em><span class="k">e</span>n<br>` + "\n" + `next</p><a href="https://a.b/?c&amp;d" title="T" rel="x">li<code>nk</code></a><section class="turn inner"><h3>Turn 1</h3></section>` +
		`<p class="more">more</p><img alt="pic" loading="lazy" src="data:image/png;base64,AAAA">` + "<pre>a &lt; b</pre><dl><dd dir=\"auto\">fact</dd></dl></section><p>gap</p><section class=\"turn\"><pre>" + strings.Repeat("z", maxRead+readOverlap) +
		"</pre></section></main><ul><li dir=\"auto\">lost</li></ul><>"
	var got []string
	if err := Read(iotest.HalfReader(strings.NewReader(in)), func(p Text) { got = append(got, fmt.Sprintf("%s %t: %s", p.Turn, p.Quoted, p.Text)) }); err != nil {
		t.Fatal(err)
	}
	has := func(begin string, words ...string) {
		t.Helper()
		all := ""
		for _, s := range got {
			if strings.HasPrefix(s, begin) {
				all += s
			}
		}
		for _, w := range words {
			if !strings.Contains(all, w) {
				t.Errorf("no %q in %s: %.300q", w, begin, all)
			}
		}
	}
	has("7 true", "token\n\nnext", "link", "a < b", "https://a.b/?c&d\nT\n")
	has("7 false", "Turn 7 12:00", "Turn 1", "more", "fact")
	has(" true", "zz")
	has(" false", "Untitled", "gap", "lost")
	if all := strings.Join(got, ""); strings.Contains(all, "AAAA") || strings.Contains(all, "#turn") || len(all) < maxRead+readOverlap {
		t.Errorf("%d bytes: %.300q", len(all), got)
	}
}
