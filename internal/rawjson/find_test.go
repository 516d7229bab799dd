package rawjson

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/go-json-experiment/json/jsontext"
)

func TestFind(t *testing.T) {
	for _, c := range []struct{ in, values, cut string }{
		{`{"k":1}`, `1`, `{}`},
		{`{"k":1,"a":2}`, `1`, `{"a":2}`},
		{`{"a":2,"k":1}`, `1`, `{"a":2}`},
		{`{"a":2,"k":1,"b":3}`, `1`, `{"a":2,"b":3}`},
		{`{"k":1,"k":2}`, `1|2`, `{}`},
		{`{"k":1,"q":2,"a":3}`, `1|2`, `{"a":3}`},
		{`{"a":0,"k":1,"q":2}`, `1|2`, `{"a":0}`},
		{`{"k":1,"a":0,"q":2}`, `1|2`, `{"a":0}`},
		{`{"k":1,"q":2,"k":3,"a":0,"k":4,"k":5}`, `1|2|3|4|5`, `{"a":0}`},
		{"{\n  \"a\": 1,\n  \"k\": \"x\\\"}\"\n}\n", `"x\"}"`, "{\n  \"a\": 1\n}\n"},
		{"{ \"k\" : [1, {\"a\":2}] ,\r\n \"a\" : 1 }", `[1, {"a":2}]`, "{ \r\n \"a\" : 1 }"},
		{`[{"k":null},{"a":{"k":{}}}]`, `null|{}`, `[{},{"a":{}}]`},
		{`{"k":{"q":2,"a":1},"b":0}`, `2|{"q":2,"a":1}`, `{"b":0}`},
		{`{"\u006b":true,"\u006B":false,"K":0,"k ":1,"":2}`, `true|false`, `{"K":0,"k ":1,"":2}`},
		{`{"a":"{\"k\":1}","b":["k","q"]}`, ``, `{"a":"{\"k\":1}","b":["k","q"]}`},
		{"{\"a\":\"\xff\u2028\",\"k\":1}", `1`, "{\"a\":\"\xff\u2028\"}"},
		{` "k" `, ``, ` "k" `}, {`12`, ``, `12`}, {`null`, ``, `null`}, {`[]`, ``, `[]`},
	} {
		var values []string
		cut, err := cutAll(c.in, func(v string) { values = append(values, v) })
		if err != nil || strings.Join(values, "|") != c.values || cut != c.cut {
			t.Errorf("Find(%q): %q, cut %q, %v; want %q, cut %q", c.in, values, cut, err, c.values, c.cut)
		}
	}
}

// called wants members by name.
func called(names ...string) func([]byte, int) string {
	return func(name []byte, _ int) string {
		if slices.Contains(names, string(name)) {
			return string(name)
		}
		return ""
	}
}

// cutAll removes every member k and q the way Next prescribes.
func cutAll(in string, value func(string)) (string, error) {
	type span struct{ from, to int }
	var cuts []span
	err := Find([]byte(in), called("k", "q"), func(m Member) bool {
		value(in[m.From:m.To])
		for len(cuts) > 0 && cuts[len(cuts)-1].from > m.CutFrom {
			cuts = cuts[:len(cuts)-1] // lies inside this one
		}
		s := span{m.CutFrom, m.CutTo}
		if n := len(cuts); n > 0 && cuts[n-1].to > s.from {
			s = span{cuts[n-1].to, m.Next}
		}
		cuts = append(cuts, s)
		return true
	})
	for _, s := range slices.Backward(cuts) {
		in = in[:s.from] + in[s.to:]
	}
	return in, err
}

func TestFindRefuses(t *testing.T) {
	for _, in := range []string{
		``, ` `, `{`, `{"k"`, `{"k":`, `{"k":1`, `{"k":1,`, `{"k":1,}`, `[1,]`, `{"k":1]`, `{"k" 1}`, `{k:1}`, `{} {}`, `1,`, `}`, `{"k":01}`, `{"k":tru}`,
		`{"k":"a` + "\n" + `"}`, `{"k":"\q"}`, strings.Repeat("[", MaxDepth+1) + strings.Repeat("]", MaxDepth+1),
	} {
		if err := Find([]byte(in), called("k"), func(Member) bool { return true }); err == nil {
			t.Errorf("Find(%.40q) is content", in)
		}
	}
}

func TestFindStops(t *testing.T) {
	n := 0
	err := Find([]byte(`[{"k":1},{"k":2}, not json`), called("k"), func(Member) bool { n++; return false })
	if err != nil || n != 1 {
		t.Errorf("%d calls, %v", n, err)
	}
}

// Names are told apart as jsontext tells them apart, and cutting leaves JSON.
func FuzzFind(f *testing.F) {
	for _, s := range []string{`{"k":1,"q":{"k":[]},"a":0}`, `[{"\u006b":"x"}]`, `{"k":1,"k":2}`, `{"\ud835\udc58":1,"\/":2}`} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, in string) {
		options := []jsontext.Options{jsontext.AllowDuplicateNames(true), jsontext.AllowInvalidUTF8(true)}
		valid := jsontext.Value(in).IsValid(options...)
		found := 0
		cut, err := cutAll(in, func(v string) {
			found++
			if !jsontext.Value(v).IsValid(options...) && valid {
				t.Errorf("in %q the value %q is no value", in, v)
			}
		})
		if (err == nil) != valid && !strings.Contains(fmt.Sprint(err), TooDeep) {
			t.Fatalf("Find(%q): %v, jsontext says %v", in, err, valid)
		}
		if err != nil {
			return
		}
		if want := countNames(in, options); found != want {
			t.Errorf("Find(%q) found %d, jsontext %d", in, found, want)
		}
		if !jsontext.Value(cut).IsValid(options...) || countNames(cut, options) != 0 {
			t.Errorf("cut out of %q is %q", in, cut)
		}
	})
}

func countNames(in string, options []jsontext.Options) (n int) {
	d := jsontext.NewDecoder(strings.NewReader(in), options...)
	for {
		kind, length := d.StackIndex(d.StackDepth())
		token, err := d.ReadToken()
		if err != nil {
			return n
		}
		if kind == jsontext.KindBeginObject && length%2 == 0 && token.Kind() == jsontext.KindString && (token.String() == "k" || token.String() == "q") {
			n++
		}
	}
}
