package mv

import (
	"testing"

	"rehome/formats"
)

// TestSame: lines may differ in the members that name the folder, and in nothing else.
func TestSame(t *testing.T) {
	m := &mover{f: &formats.Format{Mover: &formats.Mover{Members: []string{"root"}}}, mv: &formats.Moved{Old: []string{"/a/b"}, New: "/c"}}
	for _, c := range []struct {
		a, b string
		want bool
	}{
		{`{"cwd":"/a/b/d","n":9007199254740993}`, `{"cwd":"/c/d","n":9007199254740993}`, true},
		{`{"cwd":"/a/b","n":9007199254740993}`, `{"cwd":"/c","n":9007199254740992}`, false},
		{`{"cwd":"/a/b"}`, `{"cwd":"/c/d"}`, false},
		{`{"cwd":"/a/bc"}`, `{"cwd":"/cc"}`, false},
		{`{"text":"/a/b"}`, `{"text":"/c"}`, false},
		{`{"extras":[{"name":"cwd","raw":"/a/b"}]}`, `{"extras":[{"name":"cwd","raw":"/c"}]}`, true},
		{`{"extras":[{"name":"said","raw":"/a/b"}]}`, `{"extras":[{"name":"said","raw":"/c"}]}`, false},
		{`{"cwd":"/a/b"}`, `{"cwd":"/c","more":1}`, false},
		{`{"l":["/a/b"]}`, `{"l":["/c"]}`, false},
		{`torn /a/b`, `torn /c`, false},
		{`{"root":"/a/b"}`, `{"root":"/c"}`, true},
		{"root: /a/b/d\n", "root: \"/c/d\"\n", true},
		{"cwd: /a/b\n", "cwd: /d\n", false},
		{"name: /a/b\n", "name: /c\n", false},
	} {
		if got := m.same([]byte(c.a), []byte(c.b), "cwd"); got != c.want {
			t.Errorf("%s, %s: %v", c.a, c.b, got)
		}
	}
}
