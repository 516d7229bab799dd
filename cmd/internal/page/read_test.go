package page

import (
	"strings"
	"testing"
	"testing/iotest"
)

// TestRead: text that markup splits is whole, and so are the links.
func TestRead(t *testing.T) {
	in := `<p dir="auto">to<em>k</em><span class="k">e</span>n</p><a href="https://a.b/?c&amp;d" rel="x">li<code>nk</code></a>` +
		`<img alt="pic" loading="lazy" src="data:image/png;base64,AAAA">` + "<pre>a &lt; b</pre>" + strings.Repeat("z", maxRead) + "<p>end"
	var got []string
	if err := Read(iotest.HalfReader(strings.NewReader(in)), func(text []byte) { got = append(got, string(text)) }); err != nil {
		t.Fatal(err)
	}
	all := strings.Join(got, "|")
	for _, want := range []string{"\ntoken\n", "\nlink", "a href=\"https://a.b/?c&d\"", "img alt=\"pic\"", "\na < b\n", "z\nend"} {
		if !strings.Contains(all, want) {
			t.Errorf("no %q in %.300q", want, all)
		}
	}
	if strings.Contains(all, "AAAA") || len(got) != 4 || len(got[2]) < readOverlap {
		t.Errorf("%d parts: %.300q", len(got), all)
	}
}
