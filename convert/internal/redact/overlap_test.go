package redact

import (
	"encoding/hex"
	"encoding/json"
	"regexp"
	"strings"
	"testing"
)

// TestOverlap: what begins in another value is replaced to its end.
func TestOverlap(t *testing.T) {
	secret := token()
	text := "x key=" + secret + " foo-bar-baz y"
	r := redactor(t, Policy{Words: []string{"foo-bar", "bar-baz", "o-b"}, Patterns: []*regexp.Regexp{regexp.MustCompile(`key=\w{4}`)}}, text)
	for name, in := range map[string]string{"text": text, "JSON": `{"a":"` + text + `"}`} {
		out, _, err := r.Value(t.Context(), nil, []byte(in), Unknown, nil)
		want := "x redacted-pattern-1 redacted-word-1 y"
		if name == "JSON" {
			want = `{"a":"` + want + `"}`
		}
		if err != nil || string(out) != want {
			t.Errorf("%s: %v: %s", name, err, out)
		}
	}
}

// TestStrings: a pattern matches in each string of JSON by itself, and not from one into
// the next.
func TestStrings(t *testing.T) {
	inner := `{"a":"x","b":"Client: Meier, \"M\u00fcller\" & Co"}`
	quoted, _ := json.Marshal(inner)
	for in, want := range map[string]string{
		"Client: Meier\nnext":                                              "redacted-pattern-1\nnext",
		`{"x":"Client: Meier","y":[1,"Client: X"]}`:                        `{"x":"redacted-pattern-1","y":[1,"redacted-pattern-2"]}`,
		`{"in":` + string(quoted) + `,"z":1}`:                              `{"in":"{\"a\":\"x\",\"b\":\"redacted-pattern-1\"}","z":1}`,
		`{"x":"Client: Meier"}` + "\n" + inner + "\n{torn \"Client: Meier": `{"x":"redacted-pattern-1"}` + "\n" + `{"a":"x","b":"redacted-pattern-2"}` + "\n{torn \"redacted-pattern-1",
	} {
		r := redactor(t, Policy{Patterns: []*regexp.Regexp{regexp.MustCompile(`Client: .*`)}}, in)
		if out, _, err := r.Value(t.Context(), nil, []byte(in), Unknown, nil); err != nil || string(out) != want {
			t.Errorf("%s: %v: %s", in, err, out)
		}
	}
}

// TestFalsePlaceholders: only placeholders stay, and not what is around them or looks like one.
func TestFalsePlaceholders(t *testing.T) {
	text := "redacted-hugo-1 and Client: Meier redacted-word-1 Schulze\nmy redacted-word-1 word"
	r := redactor(t, Policy{Words: []string{"hugo", "word"}, Patterns: []*regexp.Regexp{regexp.MustCompile(`Client: .*`)}}, text)
	out, _, err := r.Value(t.Context(), nil, []byte(text), Unknown, nil)
	if want := "redacted-redacted-word-1-1 and redacted-pattern-1\nmy redacted-word-1 redacted-word-2"; err != nil || string(out) != want {
		t.Errorf("%v: %s", err, out)
	}
	again := redactor(t, Policy{Words: []string{"hugo", "word"}, Patterns: []*regexp.Regexp{regexp.MustCompile(`Client: .*`)}}, string(out))
	if twice, _, _ := again.Value(t.Context(), nil, out, Unknown, nil); string(twice) != string(out) {
		t.Errorf("not the same again: %s", twice)
	}
}

// TestHomes finds names of home folders in every spelling, and none of those in documents.
func TestHomes(t *testing.T) {
	for _, in := range []string{"/home/müller/x", `{"a":"/home/m\u00fcller/x"}`, "file:///home/m%C3%BCller/x", `c:\users\müller\x`} {
		r := redactor(t, Policy{Paths: true}, in)
		if out, _, _ := r.Value(t.Context(), nil, []byte("say müller"), Unknown, nil); string(out) != "say redacted-user-1" {
			t.Errorf("%s: %s", in, out)
		}
	}
	in := "/home/claude/x /Users/name/x /home/text GET /users/octocat"
	if out, changed, _ := redactor(t, Policy{Paths: true}, in).Value(t.Context(), nil, []byte(in+" claude-opus octocat"), Unknown, nil); changed {
		t.Errorf("%s", out)
	}
}

// TestManyParts refuses what would take too long, and leaves nothing.
func TestManyParts(t *testing.T) {
	one := hex.EncodeToString([]byte(token()))
	for n, fine := range map[int]bool{maxParts / 2: true, 2 * maxParts: false} {
		text := strings.Repeat(one+"/", n)
		r := redactor(t, Policy{}, token())
		out, _, err := r.Value(t.Context(), nil, []byte(text), Unknown, nil)
		if fine != (err == nil) || fine && survives(out, token()) != "" {
			t.Errorf("%d: %v", n, err)
		}
	}
}

// TestPatternAgain: what a pattern found stays if it is the rest of a place and the first
// letters of a placeholder.
func TestPatternAgain(t *testing.T) {
	text := "== r == == name"
	r := redactor(t, Policy{Patterns: []*regexp.Regexp{regexp.MustCompile(`== \w+`)}}, text)
	out, _, err := r.Value(t.Context(), nil, []byte(text), Unknown, nil)
	if want := "redacted-pattern-1 == redacted-pattern-2"; err != nil || string(out) != want || r.Holds(out, Unknown) {
		t.Errorf("%v: %s, holds %v", err, out, r.Holds(out, Unknown))
	}
}

// TestProse: a text whose second letter is the number of those that follow is no message,
// but a message that looks like text is one.
func TestProse(t *testing.T) {
	message := func(tag byte, body string) string { return string([]byte{tag, byte(len(body))}) + body }
	prose := "ba" + strings.Repeat(" word", 18) + " hugo w"
	if len(prose) != 2+'a' {
		t.Fatal(len(prose))
	}
	out := func(text string) string { return strings.ReplaceAll(text, "hugo", "redacted-word-1") }
	for name, c := range map[string]struct{ in, want string }{
		"text":          {message(0x12, prose), message(0x12, out(prose))},
		"text alone":    {prose, out(prose)},
		"one field":     {message('\n', "the name is hugo, and that is all of it"), message('\n', out("the name is hugo, and that is all of it"))},
		"two fields":    {message('*', "the name is hugo, and that is all of it") + message('2', "hugo and a text that is long enough for it"), message('*', out("the name is hugo, and that is all of it")) + message('2', out("hugo and a text that is long enough for it"))},
		"a field of it": {message('b', message('\n', "the name is hugo, and that is all of it")), message('b', message('\n', out("the name is hugo, and that is all of it")))},
	} {
		r := redactor(t, Policy{Words: []string{"hugo"}}, c.in)
		got, _, err := r.Value(t.Context(), nil, []byte(c.in), Protobuf, nil)
		if err != nil || string(got) != c.want {
			t.Errorf("%s: %v\n%q, want\n%q", name, err, got, c.want)
		}
	}
}
