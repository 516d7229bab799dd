package search

import (
	"strings"
	"testing"

	"rehome/formats"
	"rehome/formats/session"
)

func TestNewQuery(t *testing.T) {
	for _, c := range []struct {
		words, exprs []string
		want         string
	}{
		{nil, nil, "nothing to search for"}, {[]string{" "}, nil, "empty search term"}, {nil, []string{"(a"}, "(a: invalid regular expression: missing closing ): `(a`"},
		{nil, []string{"a*"}, "a*: matches empty text, and so everything"}, {[]string{"a\xff"}, nil, "not valid UTF-8"},
		{strings.Fields(strings.Repeat("a ", maxTerms+1)), nil, "more than 64"},
	} {
		_, err := NewQuery(c.words, c.exprs, SmartCase)
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%q %q: %v, want %s", c.words, c.exprs, err, c.want)
		}
	}
	if _, err := NewQuery(nil, []string{"(a"}, SmartCase); formats.Hint(err) == "" {
		t.Error("no hint")
	}
	if _, err := NewRequestQuery(""); err == nil {
		t.Error("a request without an id")
	}
}

// TestCase: terms with a capital letter are searched for as they are written.
func TestCase(t *testing.T) {
	for _, c := range []struct {
		word, expr, text string
		how              Case
		want             bool
	}{
		{"word", "", "a WORD", SmartCase, true}, {"Word", "", "a WORD", SmartCase, false}, {"Word", "", "a WORD", IgnoreCase, true},
		{"", `\Sord`, "WORD", SmartCase, true}, {"", `\pLORD`, "word", SmartCase, false}, {"", `\p{Lu}ord`, "WORD", SmartCase, true},
		{"two words", "", "two\n\t words", SmartCase, true}, {"two words", "", "two, words", SmartCase, false}, {"a.c", "", "abc", SmartCase, false},
		{"", "^b", "a\nb", SmartCase, true},
	} {
		var words, exprs []string
		if c.word != "" {
			words = []string{c.word}
		} else {
			exprs = []string{c.expr}
		}
		q, err := NewQuery(words, exprs, c.how)
		if err != nil {
			t.Fatal(err)
		}
		if got := q.matches([]unit{{Prompt, c.text}}); got != c.want {
			t.Errorf("%+v: %v", c, got)
		}
	}
}

// TestExcerpt: the line with most terms is shown, cut around the match.
func TestExcerpt(t *testing.T) {
	q, err := NewQuery([]string{"red", "blue"}, nil, SmartCase)
	if err != nil {
		t.Fatal(err)
	}
	long := strings.Repeat("é ", 300)
	for _, c := range []struct {
		units []unit
		text  string
		kind  Kind
		spans [][2]int
	}{
		{[]unit{{Prompt, "a red one\nfirst"}, {Answer, "x\n  blue and redred  \ny"}}, "blue and redred", Answer, [][2]int{{0, 4}, {9, 15}}},
		{[]unit{{Prompt, "red"}, {Answer, "blue"}}, "red", Prompt, [][2]int{{0, 3}}},
		{[]unit{{Result, long + "red" + long}}, "", Result, nil},
	} {
		e, kind := q.excerpt(c.units)
		if c.text == "" {
			if !e.Cut[0] || !e.Cut[1] || len(e.Text) > maxExcerpt || !strings.Contains(e.Text, "red") {
				t.Errorf("%+v", e)
			}
			continue
		}
		if e.Text != c.text || kind != c.kind || len(e.Matches) != len(c.spans) || e.Matches[0] != c.spans[0] {
			t.Errorf("%+v from a %s", e, kind)
		}
	}
}

// TestUnits: what clients add is searched only if that is asked for.
func TestUnits(t *testing.T) {
	parts := []session.Part{
		&session.Text{Text: "text"}, &session.Thinking{Text: "thought"}, &session.Summary{Text: "sum"}, &session.Injected{Tag: "rules", Text: "rule", Data: session.Raw(`{"k":"data"}`)},
		&session.Injected{Tag: "command-name", Text: "/cmd"}, &session.ToolCall{Name: "Read", Input: session.Raw(`{"path":"in"}`), Args: session.Raw(`{"path":"a\\b","n":["12","x"]}`)},
		&session.ToolCall{Input: session.Raw(`{"path":"in"}`)}, &session.Opaque{Raw: session.Raw(`"opaque"`)}, &session.Media{Name: "pic"},
		&session.ToolResult{Content: []session.Part{&session.Text{Text: "seen"}, &session.Opaque{Raw: session.Raw(`{"a" : "raw"}`)}}, Value: session.Raw(`{"out":"value","id":"QUJDREVGR0hJSktMTU5PUFFSU1RVVldYWVoxMjM0NTY="}`)},
	}
	for _, c := range []struct {
		role      session.Role
		simulated bool
		context   bool
		want      string
	}{
		{session.User, false, false, "prompt text, thinking thought, summary sum, prompt /cmd, call Read, call a\\b, call x, call in, result seen, result raw, result value"},
		{session.User, true, false, "thinking thought, summary sum, prompt /cmd, call Read, call a\\b, call x, call in, result seen, result raw, result value"},
		{session.System, false, true, "context text, thinking thought, summary sum, context rule, context data, prompt /cmd, call Read, call a\\b, call x, call in, result seen, result raw, result value"},
	} {
		o := &Options{Context: c.context}
		var got []string
		for _, u := range o.units(nil, &session.Message{Role: c.role, Simulated: c.simulated, Parts: parts}) {
			got = append(got, string(u.kind)+" "+u.text)
		}
		if s := strings.Join(got, ", "); s != c.want {
			t.Errorf("%v: %s", c.role, s)
		}
	}
}
