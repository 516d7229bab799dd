package rawjson

import (
	"bytes"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/go-json-experiment/json/jsontext"
)

func TestQuote(t *testing.T) {
	for in, want := range map[string]string{
		"": `""`, "a": `"a"`, `say "hi" \ there`: `"say \"hi\" \\ there"`, "\b\t\n\f\r": `"\b\t\n\f\r"`,
		"\x00\x01\x1f\x0b": `"\u0000\u0001\u001f\u000b"`, "\x7f": `"\u007f"`, "\u0080\u0085\u009f\u00a0": `"\u0080\u0085\u009f` + "\u00a0" + `"`,
		"\u2027\u2028\u2029\u202a": "\"\u2027" + `\u2028\u2029` + "\u202a\"", "é日𝄞\ufffd</&>": "\"é日𝄞\ufffd</&>\"",
		strings.Repeat("x", 20) + "\x7f" + strings.Repeat("é", 9): `"` + strings.Repeat("x", 20) + `\u007f` + strings.Repeat("é", 9) + `"`,
	} {
		if got := string(Quote([]byte("<"), []byte(in))); got != "<"+want {
			t.Errorf("Quote(%q) = %s, want %s", in, got, want)
		}
		checkQuote(t, []byte(in))
	}
}

// Each character at each place of a word of eight.
func TestQuoteEveryCharacter(t *testing.T) {
	for r := rune(0); r < 0x3000; r++ {
		checkQuote(t, []byte("abcdefghijklmnop"[:r%16]+string(r)+"qrstuvwxyz"))
	}
}

func TestUnquoteRefuses(t *testing.T) {
	for _, in := range []string{
		``, `a`, `"`, `"a`, `"\`, `"\u`, `"\u00`, `"\/"`, `"\u0041"`, `"\u000a"`, `"\u001F"`, `"\u007F"`, `"\u0022"`, `"\u00a0"`, `"\u00e9"`, `"\ud800"`,
		`"\ud834\udd1e"`, `"\u202A"`, `"\u2027"`, "\"\x7f\"", "\"ab\x7f\\n\"", "\"\u0085\"", "\"\u0080\"", "\"\u2028\"", "\"\n\"", "\"\x00\"", "\"\xff\"", "\"\xed\xa0\x80\"",
		"\"\xc2\"", "\"\xe2\x80\"", `"\x41"`, `"\'"`,
	} {
		if out, _, err := Unquote(nil, []byte(in), 0); err == nil {
			t.Errorf("Unquote(%q) gives %q", in, out)
		}
	}
	for _, i := range []int{-1, 2, 9} {
		if _, _, err := Unquote(nil, []byte(`""`), i); err == nil {
			t.Errorf("Unquote at %d of two bytes is accepted", i)
		}
	}
}

func FuzzQuote(f *testing.F) {
	for _, s := range []string{"", "plain", "é\u2028\x7f\u0085", "\"\\\n\x00", "日本語 text of some length, beyond sixteen"} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		quoted := Quote(nil, b) // invalid UTF-8 must not harm either
		if utf8.Valid(b) {
			checkQuote(t, b)
		} else if _, _, err := Unquote(nil, quoted, 0); err == nil {
			t.Errorf("invalid UTF-8 %q comes back", b)
		}
	})
}

func FuzzUnquote(f *testing.F) {
	for _, s := range []string{`""`, `"a\nb"`, `"\u2028\u007f"`, `"\u0041"`, `"\ud800"`, `"a`} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		text, end, err := Unquote(nil, b, 0)
		if err != nil {
			return
		}
		if again := Quote(nil, text); !bytes.Equal(again, b[:end]) {
			t.Errorf("%q is accepted, but is written %q", b[:end], again)
		}
	})
}

func checkQuote(t *testing.T, text []byte) {
	t.Helper()
	quoted := Quote(nil, text)
	if bytes.ContainsAny(quoted, "\r\n\x7f\u0085\u2028\u2029") {
		t.Errorf("%q holds a control character or a separator", quoted)
	}
	if other, err := jsontext.AppendUnquote(nil, quoted); err != nil || !bytes.Equal(other, text) {
		t.Errorf("jsontext reads %q as %q, %v", quoted, other, err)
	}
	if end, err := End(quoted, 0); err != nil || end != len(quoted) {
		t.Errorf("End of %q: %d, %v", quoted, end, err)
	}
	back, end, err := Unquote([]byte("<"), append([]byte("ab"), quoted...), 2)
	if err != nil || end != len(quoted)+2 || string(back) != "<"+string(text) {
		t.Errorf("%q comes back as %q, %d, %v", text, back, end, err)
	}
}
