package lexical

import (
	"strings"
	"testing"
)

func TestText(t *testing.T) {
	for name, c := range map[string]struct {
		doc, text string
		ok        bool
	}{
		"lexical":     {`{"root":{"children":[{"children":[{"text":"say ","type":"text"},{"type":"mention","mentionName":"a.go","text":"@a.go"}],"type":"paragraph"},{"children":[{"text":"twice","type":"text"}],"type":"paragraph"}],"type":"root"}}`, "say @a.go\ntwice", true},
		"line break":  {`{"root":{"children":[{"children":[{"text":"a","type":"text"},{"type":"linebreak"},{"text":"b","type":"text"}],"type":"paragraph"}]}}`, "a\nb", true},
		"empty line":  {`{"root":{"children":[{"type":"paragraph","children":[{"type":"text","text":"a"}]},{"type":"paragraph","children":[]},{"type":"paragraph","children":[{"type":"text","text":"b"}]}]}}`, "a\n\nb", true},
		"prosemirror": {`{"type":"doc","content":[{"type":"paragraph","content":[{"type":"text","text":"look at "},{"type":"mention","attrs":{"label":"main.go"}}]},{"type":"bulletList","content":[{"type":"listItem","content":[{"type":"paragraph","content":[{"type":"text","text":"one"}]}]}]}]}`, "look at main.go\none", true},
		"plain":       {"just words", "just words", true},
		"broken":      {`{"root":`, `{"root":`, true},
		"other":       {`{"a":1}`, "", false},
		"nothing":     {"", "", true},
	} {
		t.Run(name, func(t *testing.T) {
			if text, ok := Text(c.doc); text != c.text || ok != c.ok {
				t.Errorf("%q, %v, want %q, %v", text, ok, c.text, c.ok)
			}
		})
	}
}

// A document that is nested without end costs no more than it holds.
func TestDeep(t *testing.T) {
	deep := strings.Repeat(`{"children":[`, 200) + `{"text":"far down"}` + strings.Repeat(`]}`, 200)
	if text, ok := Text(`{"root":` + deep + `}`); text != "" || !ok {
		t.Errorf("%q, %v", text, ok)
	}
	far := strings.Repeat(`{"children":[`, 10_000)
	if text, _ := Text(far); text != far {
		t.Error("what is no JSON is its own text")
	}
}
