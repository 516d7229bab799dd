package sdksession

import "testing"

func TestCovers(t *testing.T) {
	for _, c := range []struct {
		full, part string
		want       bool
	}{
		{`{"command":"ls","timeout":30}`, `{"command":"ls"}`, true},
		{`{"command":"ls"}`, `{"command":"ls","workingDirectory":"","timeout":0,"x":[]}`, true},
		{`{"command":"ls"}`, `{"command":"pwd"}`, false},
		{`{"command":"ls"}`, `{"command":"ls","marked":"x"}`, false},
		{`{"size":"6"}`, `{"size":6}`, true},
		{`{"a":[{"b":1,"c":2}]}`, `{"a":[{"b":1}]}`, true},
		{`{"a":[1,2]}`, `{"a":[1]}`, false},
		{`{"a":"x"}`, `{"a":{"b":1}}`, false},
		{`{"a":"\u0078"}`, `{"a":"x"}`, true},
		{``, `{"a":1}`, false},
		{``, `{}`, true},
	} {
		if got := covers([]byte(c.full), []byte(c.part)); got != c.want {
			t.Errorf("covers(%s, %s) = %v", c.full, c.part, got)
		}
	}
}
