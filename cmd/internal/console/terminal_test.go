package console

import (
	"bytes"
	"testing"

	"rehome/cmd/internal/screen"
)

func TestPalette(t *testing.T) {
	for _, c := range []struct {
		mode string
		env  map[string]string
		want screen.Palette
	}{
		{"auto", nil, false}, // a buffer is no terminal
		{"always", map[string]string{"NO_COLOR": "1"}, true},
		{"never", map[string]string{"FORCE_COLOR": "1"}, false},
		{"auto", map[string]string{"FORCE_COLOR": "1", "NO_COLOR": "1"}, true},
		{"auto", map[string]string{"FORCE_COLOR": "0"}, false},
		{"auto", map[string]string{"NO_COLOR": "1"}, false},
		{"auto", map[string]string{"TERM": "dumb"}, false},
	} {
		if got := choosePalette(c.mode, func(n string) string { return c.env[n] }, &bytes.Buffer{}); got != c.want {
			t.Errorf("%s %v: %v", c.mode, c.env, got)
		}
	}
}
