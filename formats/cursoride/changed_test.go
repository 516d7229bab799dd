package cursoride

import (
	"bytes"
	"os"
	"testing"

	"rehome/formats"
	"rehome/formats/session"
	"rehome/internal/rawjson"
)

// TestChanged: a result says of its file what Files says at the end.
func TestChanged(t *testing.T) {
	script, err := os.ReadFile(cases + "tools.sql")
	if err != nil {
		t.Fatal(err)
	}
	l, err := formats.Locate(build(t, string(script)))
	if err != nil {
		t.Fatal(err)
	}
	type change struct{ before, after *session.Body }
	said, found := map[string]change{}, 0
	same := func(a, b *session.Body) bool {
		return a == nil && b == nil || a != nil && b != nil && bytes.Equal(a.Bytes, b.Bytes)
	}
	for s, err := range Format().Sessions.Decode(t.Context(), l, formats.View{}, session.Selection{}) {
		if err != nil {
			t.Fatal(err)
		}
		for m, err := range s.Messages {
			if err != nil {
				t.Fatal(err)
			}
			for _, p := range m.Parts {
				if r, ok := p.(*session.ToolResult); ok && r.FileChange != nil {
					before, after := r.FileChange()
					said[r.Call] = change{before, after}
				}
			}
		}
		for f, err := range s.Files {
			if err != nil {
				t.Fatal(err)
			}
			for _, e := range f.Extras {
				if e.Name != "call" {
					continue
				}
				c, ok := said[rawjson.Text(e.Raw)]
				if !ok || !same(c.before, f.Before) || !same(c.after, f.After) {
					t.Errorf("%s: %+v, the file %+v %+v", e.Raw, c, f.Before, f.After)
				}
				if f.After != nil {
					found++
				}
			}
		}
	}
	if found == 0 || len(said) < found {
		t.Errorf("%d results, %d files", len(said), found)
	}
}
