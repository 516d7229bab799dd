package rawjson

import (
	"bytes"
	"errors"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/go-json-experiment/json/jsontext"
)

func TestInline(t *testing.T) {
	deep := func(n int) string { return strings.Repeat("[", n) + strings.Repeat("]", n) }
	mixed := strings.Repeat(`[{"a":`, MaxDepth/2) + "1" + strings.Repeat("}]", MaxDepth/2)
	for in, want := range map[string]bool{
		`{}`: true, `[]`: true, `{"a":1}`: true, `[1, 2,	3]`: true, `{ "a" : [ ] , "b" : { } }`: true,
		`{"a":1,"a":2}`: true, `[1.0,-0,1e400,1E+5,9007199254740993,0.10]`: true,
		`["\ud800","\udc00\ud800","\/\u0041\b"]`: true, `["é日本𝄞` + "\x7f\u0080\u009f" + `"]`: true,
		`[true,false,null]`: true, deep(MaxDepth): true, mixed: true,
		`{"long name of a member beyond eight":"long value \n of a member beyond sixteen bytes"}`: true,

		``: false, ` {}`: false, `{} `: false, `1`: false, `"a"`: false, `null`: false, `{`: false, `}`: false,
		`[1,]`: false, `{,}`: false, `{"a"}`: false, `{"a":}`: false, `{"a":1,}`: false, `{a:1}`: false,
		`[1}`: false, `{"a":1]`: false, `[[]`: false, `[]]`: false, `[1 2]`: false, `{"a" 1}`: false, `[,1]`: false,
		`{"a":1 "b":2}`: false, `[01]`: false, `[-]`: false, `[1.]`: false, `[.5]`: false, `[1e]`: false, `[1e+]`: false,
		`[+1]`: false, `[-01]`: false, `[0x1]`: false, `[NaN]`: false, `[tru]`: false, `[nulll]`: false, `[True]`: false,
		`["\x41"]`: false, `["\u12"]`: false, `["\uZZZZ"]`: false, `["\`: false, `["a`: false, "[\"a\tb\"]": false, "[\"\x00\"]": false,
		"[\n1]": false, "[1\r]": false, "{\"a\":\n1}": false, "{\"a\"\r:1}": false, "[\"\u0085\"]": false, "[\"\u2028\"]": false,
		"[\"a\u2029\"]": false, "[\u2028]": false, "[\v1]": false, "\ufeff{}": false,
		"[\"\xff\"]": false, "[\"\xc0\x80\"]": false, "[\"\xed\xa0\x80\"]": false, "[\"\xf4\x90\x80\x80\"]": false,
		"[\"\xe2\x80\"]": false, "[\"\xf0\x80\x80\x80\"]": false, "[\"\xc3\"]": false, "[\"\x80\"]": false, "[\"\xe0\x80\x80\"]": false,
		deep(MaxDepth + 1): false, strings.Replace(mixed, "1", "[]", 1): false,
	} {
		if got := Inline([]byte(in)); got != want {
			t.Errorf("Inline(%.60q) = %v, want %v", in, got, want)
		}
	}
}

func TestEnd(t *testing.T) {
	for _, c := range []struct {
		in       string
		from, to int
		bad      string
	}{
		{`xx{"a":[1]}yy`, 2, 11, ""}, {`"a\"b",`, 0, 6, ""}, {`12.5e3]`, 0, 6, ""}, {`true,`, 0, 4, ""}, {`null`, 0, 4, ""},
		{`-0 `, 0, 2, ""}, {`[1]2`, 3, 4, ""}, {``, 0, 0, Truncated}, {`x`, 0, 0, msgValue}, {`[1,`, 0, 3, Truncated},
		{`{"a":1,2}`, 0, 7, msgName}, {`{"a"1}`, 0, 4, msgColon}, {`[1x]`, 0, 2, msgNext}, {`["` + "\xff", 0, 2, msgUTF8},
		{"[\"a\u2028", 0, 3, msgSeparator}, {`["\q"]`, 0, 2, msgEscape}, {"[\"a\nb\"]", 0, 3, msgControl}, {`[00]`, 0, 1, msgNumber},
		{`{}`, 3, 3, Truncated}, {`{}`, -1, -1, Truncated}, {`{}`, 2, 2, Truncated},
	} {
		end, err := End([]byte(c.in), c.from)
		if c.bad == "" {
			if err != nil || end != c.to {
				t.Errorf("End(%q, %d) = %d, %v, want %d", c.in, c.from, end, err, c.to)
			}
			continue
		}
		var syntax *SyntaxError
		if !errors.As(err, &syntax) || syntax.Offset != c.to || syntax.Error() != c.bad {
			t.Errorf("End(%q, %d) = %#v, want %q at %d", c.in, c.from, err, c.bad, c.to)
		}
	}
}

// Every prefix of good JSON is bad JSON, whatever alignment the bytes have.
func TestInlineTorn(t *testing.T) {
	whole := []byte(`{"name":"a\n\u00e9é日𝄞 and some more text","list":[1.5e+7,true,null,{"x":{}},[]],"z":-0}`)
	for pad := range 9 {
		b := append(bytes.Repeat([]byte{' '}, pad), whole...)
		if end, err := End(b, pad); err != nil || end != len(b) {
			t.Fatalf("pad %d: %d, %v", pad, end, err)
		}
		for n := pad; n < len(b); n++ {
			if _, err := End(b[:n:n], pad); err == nil {
				t.Fatalf("cut at %d is accepted", n)
			}
		}
	}
}

// Each byte value at each place of a word of eight.
func TestInlineEveryByte(t *testing.T) {
	for at := range 17 {
		for c := range 256 {
			b := []byte(`["abcdefghijklmnopq"]`)
			b[2+at] = byte(c)
			compare(t, b)
		}
	}
}

func FuzzInline(f *testing.F) {
	for _, s := range []string{`{}`, `[1,"a",{"b":null}]`, `{"a":"\ud800","a":1e400}`, "[\"\u2028\"]", "{\"a\":\n1}", `["é\u00e9"]`, `[[[`, `"x"`} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, b []byte) { compare(t, b) })
}

// compare holds Inline against jsontext plus the rules we add.
func compare(t *testing.T, b []byte) {
	t.Helper()
	if got, want := Inline(b), reference(b); got != want {
		t.Errorf("Inline(%q) = %v, the reference says %v", b, got, want)
	}
	if end, err := End(b, 0); err == nil && !jsontext.Value(b[:end]).IsValid(jsontext.AllowDuplicateNames(true), jsontext.AllowInvalidUTF8(true)) {
		t.Errorf("End(%q) = %d, the reference refuses it", b, end)
	}
}

func reference(b []byte) bool {
	if len(b) == 0 || b[0] != '{' && b[0] != '[' || b[len(b)-1] != '}' && b[len(b)-1] != ']' {
		return false
	}
	if !utf8.Valid(b) || bytes.ContainsAny(b, "\r\n\u0085\u2028\u2029") {
		return false
	}
	// AllowInvalidUTF8 is for lone surrogates in escapes; the bytes are valid.
	options := []jsontext.Options{jsontext.AllowDuplicateNames(true), jsontext.AllowInvalidUTF8(true)}
	if !jsontext.Value(b).IsValid(options...) {
		return false
	}
	d := jsontext.NewDecoder(bytes.NewReader(b), options...)
	for {
		if _, err := d.ReadToken(); err != nil {
			return true
		}
		if d.StackDepth() > MaxDepth {
			return false
		}
	}
}
