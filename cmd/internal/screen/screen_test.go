package screen

import (
	"strings"
	"testing"
	"time"
	"unicode"
)

func TestLines(t *testing.T) {
	for in, want := range map[string]string{
		"two\r\nlines\tand\ttabs":            "two\nlines\tand\ttabs",
		"a\x1b[2J\rb\u0085":                  `a\x1b[2J\x0db\x85`,
		"abc\u202egnp.exe\u2066":             `abc\u202egnp.exe\u2066`,
		"bad\xffbyte":                        `bad\xffbyte`,
		"می\u200cخواهم":                      "می\u200cخواهم",
		"👩\u200d👩\u200d👧":                    "👩\u200d👩\u200d👧",
		"pay\u200dpal \u200c":                `pay\u200dpal \u200c`,
		"\u200d👩\u200d":                      `\u200d👩\u200d`,
		"👩\u200d\u200d👩":                     `👩\u200d\u200d👩`,
		"tag \U000e0041":                     `tag \U000e0041`,
		"line\u2028sep":                      `line\u2028sep`,
		strings.Repeat("plain ünïcode 日", 3): strings.Repeat("plain ünïcode 日", 3),
	} {
		if got := string(Lines(in)); got != want {
			t.Errorf("%q: %s, want %s", in, got, want)
		}
	}
}

func TestPalette(t *testing.T) {
	var b strings.Builder
	p := NewPage(&b, true)
	if got := p.OK() + p.Bad() + p.Warn() + p.Client("claude-code", "c") + p.Client("unknown", "u") + p.Link("/a", "t"); got !=
		"\x1b[32m✓\x1b[0m\x1b[31m✗\x1b[0m\x1b[33m!\x1b[0m\x1b[38;5;101mc\x1b[0m\x1b[38;5;137mu\x1b[0mt" {
		t.Errorf("%q", got)
	}
	p.Links = true
	if got := p.Link("/a b/\x1b]\u202e;%", "t"); got != "\x1b]8;;file:///a%20b/%1B%5D%E2%80%AE;%25\x1b\\t\x1b]8;;\x1b\\" {
		t.Errorf("%q", got)
	}
	if got := Palette(false).OK() + Palette(false).Client("cursor-cli", "c"); got != "✓c" {
		t.Errorf("%q", got)
	}
}

func TestCells(t *testing.T) {
	for in, want := range map[string]int{
		"": 0, "abc": 3, "naïve": 5, "日本": 4, "e\u0301": 1, "🚀": 2, "❤\ufe0f": 1, "한글": 4, "ＡＢ": 4, "–…": 2, "⚡": 2, "🇩🇪": 4, "𝒳": 1,
	} {
		if got := Cells(Safe(in)); got != want {
			t.Errorf("%q: %d cells, want %d", in, got, want)
		}
	}
	for i := 1; i < len(wideRanges); i++ {
		if wideRanges[i][0] <= wideRanges[i-1][1] {
			t.Errorf("the table is out of order at %x", wideRanges[i][0])
		}
	}
}

func TestCut(t *testing.T) {
	for _, c := range []struct {
		in    string
		width int
		want  string
	}{{"abcdef", 6, "abcdef"}, {"abcdef", 5, "abcd…"}, {"日本語", 5, "日本…"}, {"日本語", 4, "日…"}, {"日本語", 6, "日本語"}, {"a\u0301b\u0301c", 2, "a\u0301…"}} {
		if got := string(Cut(Safe(c.in), c.width)); got != c.want {
			t.Errorf("%q in %d: %q", c.in, c.width, got)
		}
	}
	for _, c := range []struct {
		in    string
		width int
		want  string
	}{{"abcdef", 6, "abcdef"}, {"abcdef", 5, "…cdef"}, {"日本語", 5, "…本語"}} {
		if got := string(CutLeft(Safe(c.in), c.width)); got != c.want {
			t.Errorf("%q in %d from the left: %q", c.in, c.width, got)
		}
	}
}

func TestWrap(t *testing.T) {
	for _, c := range []struct {
		in    string
		width int
		want  string
	}{
		{"short", 20, "short"},
		{"one two three four", 9, "one two|three|four"},
		{"- one two three four", 10, "- one two|  three|  four"},
		{"  12. one two three", 12, "  12. one|      two|      three"},
		{"12. one two three", 11, "12. one two|    three"},
		{"日本語 日本語 日本語", 14, "日本語 日本語|日本語"},
		{"abcdefghijklmnop qr", 8, "abcdefgh|ijklmnop|qr"},
		{"see /home/ana/src/shop/.cursor now", 18, "see|/home/ana/src/|shop/.cursor now"},
		{"日日日日日日", 9, "日日日日|日日"},
		{"> quoted words here", 12, "> quoted|  words here"},
		{"", 10, ""},
		{"          deep in here", 16, "          deep|in here"},
	} {
		got := string(Join(Wrap(Safe(c.in), c.width), "|"))
		if got != c.want {
			t.Errorf("%q in %d: %q, want %q", c.in, c.width, got, c.want)
		}
	}
}

func TestHang(t *testing.T) {
	for _, c := range []struct {
		in    string
		width int
		want  string
	}{
		{"short", 20, "short"},
		{"one two six four", 9, "one two|  six|  four"},
		{"abcdefghijklmnop", 8, "abcdefgh|  ijklmn|  op"},
		{"  one two three", 10, "  one two|  three"},
	} {
		if got := string(Join(WrapHanging(Safe(c.in), c.width), "|")); got != c.want {
			t.Errorf("%q in %d: %q, want %q", c.in, c.width, got, c.want)
		}
	}
}

// FuzzWrap: no line is wider than asked for, and no word is lost.
func FuzzWrap(f *testing.F) {
	f.Add("- one two  three 日本語 "+strings.Repeat("x", 300), 10)
	f.Add("  9) \u0301\u0301 a", 0)
	f.Fuzz(func(t *testing.T, s string, width int) {
		safe := ExpandTabs(Replace(Lines(s), strings.NewReplacer("\n", " ")))
		width = 8 + max(0, width)%300
		lines := Wrap(safe, width)
		for _, l := range lines {
			if Cells(l) > width {
				t.Fatalf("%q in %d: %d cells: %q", s, width, Cells(l), l)
			}
		}
		bare := func(s Safe) string { return strings.ReplaceAll(string(s), " ", "") }
		if got := bare(Join(lines, "")); got != bare(safe) {
			t.Fatalf("%q became %q", s, got)
		}
	})
}

func FuzzLines(f *testing.F) {
	f.Add("a\x1b[31m\u202e\xff\u200d👩\u200d👩")
	f.Fuzz(func(t *testing.T, s string) {
		for _, r := range Lines(s) {
			if r != '\n' && r != '\t' && !joiner(r) && (unicode.IsControl(r) || unicode.Is(unicode.Cf, r)) {
				t.Fatalf("%q lets %U through", s, r)
			}
		}
	})
}

func TestSpan(t *testing.T) {
	for in, want := range map[time.Duration]string{
		0: "0 ms", 248 * time.Millisecond: "248 ms", 2345 * time.Millisecond: "2.3 s", 59940 * time.Millisecond: "59.9 s", 59960 * time.Millisecond: "1 min 0 s",
		185 * time.Second: "3 min 5 s", 2*time.Hour + 10*time.Minute: "2 h 10 min", -time.Second: "0 ms",
	} {
		if got := string(Duration(in)); got != want {
			t.Errorf("%v: %s, want %s", in, got, want)
		}
	}
}

func TestUntab(t *testing.T) {
	for in, want := range map[string]string{"\ta": "    a", "ab\tc": "ab  c", "日\tc": "日  c", "abcd\te": "abcd    e"} {
		if got := string(ExpandTabs(Safe(in))); got != want {
			t.Errorf("%q: %q", in, got)
		}
	}
}

// TestWrapLong: the time that wrapping takes grows with the line, not with its
// square. Ten megabytes without a blank would otherwise take hours.
func TestWrapLong(t *testing.T) {
	if got := Wrap(Repeat("x", 10<<20), 80); len(got) != 10<<20/80 {
		t.Errorf("%d lines", len(got))
	}
}
