package rawjson

import (
	"bytes"
	"encoding/json"
	"slices"
	"testing"
	"unicode/utf8"
)

func TestMembersAndElements(t *testing.T) {
	doc := []byte(` { "a" : [1, {"b":"}"} , "x\"]"], "caf\u00e9":"\ud83d\ude00 \ud800 \/\n", "a":null,"n":-1.5e3 } `)
	var names []string
	for n, v := range Members(doc) {
		names = append(names, string(n)+"="+string(v))
	}
	want := []string{`a=[1, {"b":"}"} , "x\"]"]`, `café="\ud83d\ude00 \ud800 \/\n"`, `a=null`, `n=-1.5e3`}
	if !slices.Equal(names, want) {
		t.Errorf("members %q, want %q", names, want)
	}
	var list []string
	for v := range Elements([]byte(` [ 1 ,{"a":[2]},"s", [] ,true] `)) {
		list = append(list, string(v))
	}
	if want := []string{"1", `{"a":[2]}`, `"s"`, "[]", "true"}; !slices.Equal(list, want) {
		t.Errorf("elements %q, want %q", list, want)
	}
	if got := Text(Last(doc, "café")); got != "😀 \xed\xa0\x80 /\n" {
		t.Errorf("text %q", got)
	}
	if got := Last(doc, "a"); string(got) != "null" {
		t.Errorf("the last of two members of one name is %s", got)
	}
}

// TestMembersKeepNames: a name with escapes outlives its step.
func TestMembersKeepNames(t *testing.T) {
	var names [][]byte
	for n := range Members([]byte(`{"\u0061":1,"\u0062":2}`)) {
		names = append(names, n)
	}
	if got := string(bytes.Join(names, nil)); got != "ab" {
		t.Errorf("names %q", got)
	}
}

func TestLine(t *testing.T) {
	for in, want := range map[string]string{
		`{"a":1}`:                       `{"a":1}`,
		`"x"`:                           `"x"`,
		"{\r\n \"a\":\n[1, 2]\n}":       `{"a":[1,2]}`,
		"[\"\u2028\u0085\"]":            `["\u2028\u0085"]`,
		"[\"a\xffb\xed\xa0\x80\",\n1 ]": "[\"a\ufffdb\ufffd\ufffd\ufffd\",1]",
	} {
		got, _, err := Line([]byte(in))
		if err != nil || string(got) != want {
			t.Errorf("%q: %q, %v; want %q", in, got, err, want)
		}
	}
	for _, bad := range []string{"", "{", "{\n\"a\" 1}", "[1,]", "1 2", "[\n\"a\nb\"]"} {
		if got, _, err := Line([]byte(bad)); err == nil {
			t.Errorf("%q passes as %q", bad, got)
		}
	}
}

// FuzzMembers: whatever Line lets through is walked as encoding/json walks it,
// and nothing makes a walk panic.
func FuzzMembers(f *testing.F) {
	for _, s := range []string{`{"a":[1,{"b":"\ud800"}],"c":"x\\"}`, `[[[]]]`, `{"a"`, `{"a":1`, `[tru`, `"\u12"`, "{\"a\":\n1}", `{"":{}}`} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		walk(b, 0)
		line, _, err := Line(b)
		if err != nil {
			return
		}
		if !json.Valid(line) {
			t.Fatalf("%q is no JSON", line)
		}
		var object map[string]json.RawMessage
		if json.Unmarshal(line, &object) == nil && object != nil {
			for name, want := range object {
				if utf8.ValidString(name) && name != "\ufffd" && !slices.Contains([]rune(name), utf8.RuneError) {
					if got := Last(line, name); string(got) != string(want) {
						t.Fatalf("%q of %q is %q, want %q", name, line, got, want)
					}
				}
			}
		}
		var list []json.RawMessage
		if json.Unmarshal(line, &list) == nil && list != nil {
			i := 0
			for v := range Elements(line) {
				if i >= len(list) || string(v) != string(list[i]) {
					t.Fatalf("element %d of %q is %q", i, line, v)
				}
				i++
			}
			if i != len(list) {
				t.Fatalf("%d elements of %q, want %d", i, line, len(list))
			}
		}
	})
}

func walk(b []byte, depth int) {
	if depth > 8 {
		return
	}
	Text(b)
	for _, v := range Members(b) {
		walk(v, depth+1)
	}
	for v := range Elements(b) {
		walk(v, depth+1)
	}
}

func TestAt(t *testing.T) {
	doc := []byte(` {"a": {"b": 1, "b": {"c": "\u0064"}}, "e": "f", "g": [{"b": 1}]} `)
	for _, c := range []struct {
		names       []string
		value, text string
		isText      bool
	}{
		{[]string{"a", "b", "c"}, `"\u0064"`, "d", true},
		{[]string{"a", "b"}, `{"c": "\u0064"}`, "", false},
		{[]string{"e"}, `"f"`, "f", true},
		{[]string{"e", "f"}, "", "", false},
		{[]string{"g", "b"}, "", "", false},
		{[]string{"none", "b"}, "", "", false},
	} {
		value := At(doc, c.names...)
		if string(value) != c.value || TextAt(doc, c.names...) != c.text || IsText(value) != c.isText {
			t.Errorf("%q: %q, text %q, want %q, %q", c.names, value, TextAt(doc, c.names...), c.value, c.text)
		}
	}
}

func TestIsNumber(t *testing.T) {
	for value, want := range map[string]bool{"0": true, "9.5e1": true, "-1": true, `"1"`: false, "[1]": false, "null": false, "": false} {
		if IsNumber([]byte(value)) != want {
			t.Errorf("%q: a number is %v", value, !want)
		}
	}
}
