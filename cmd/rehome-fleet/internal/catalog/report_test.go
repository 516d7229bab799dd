package catalog

import (
	"bytes"
	"encoding/json"
	"errors"
	"os"
	"strings"
	"testing"

	"rehome/cmd/internal/screen"
	"rehome/convert"
	"rehome/schemas"
)

// TestReport validates the result of the command, and prints it.
func TestReport(t *testing.T) {
	text, err := os.ReadFile("../../schemas/catalog-result-1.schema.json")
	if err != nil {
		t.Fatal(err)
	}
	s, err := schemas.Read(text)
	if err != nil {
		t.Fatal(err)
	}
	rep := &Report{Source: "src", Target: "postgres://db/team?schema=rehome", Stores: []StoreReport{
		{Path: "a", Format: "codex", Status: Loaded, Sessions: 2, Losses: 1}, {Path: "b", Status: Unchanged, Sessions: 1, Failed: 1},
		{Path: "c\x1b", Status: Failed, Error: &convert.ErrorReport{Message: "broken", Hint: "repair it"}},
	}}
	doc, _ := json.Marshal(rep)
	if err := s.Validate(doc); err != nil {
		t.Error(err)
	}
	if s.Validate(bytes.Replace(doc, []byte(Unchanged), []byte("new"), 1)) == nil {
		t.Error("another status is valid")
	}
	var out strings.Builder
	rep.Text(screen.NewPage(&out, screen.Palette(false)))
	if got := rep.missing(); got != "1 store and 1 session of others could not be read" {
		t.Error(got)
	}
	if got := out.String(); !strings.Contains(got, "3 sessions: 1 store loaded, 1 unchanged") || !strings.Contains(got, "hint: repair it") || strings.Contains(got, "\x1b") {
		t.Error(got)
	}
}

// TestParse has addresses that are refused, without a word of them in the error.
func TestParse(t *testing.T) {
	for _, bad := range []string{"mysql://h/secret", "postgres://x:secret@h:port/d", "postgres://h/d?schema=", "postgres://h/d?schema=%00secret", "postgres://h/d?schema=" + strings.Repeat("s", 64), "postgres://h/d?sslmode=secret", "postgres://%zzsecret", "postgres://x:12#secret@h/d", "postgres://ann:se@secret@h/d"} {
		if _, err := parse(bad); err == nil || strings.Contains(err.Error(), "secret") {
			t.Errorf("%s: %v", bad, err)
		}
	}
	d, err := parse("postgres://ann:secret@h/d?schema=a%20b")
	if err != nil || d.Schema() != "a b" || d.Name() != "postgres://h/d?schema=a+b" {
		t.Errorf("%+v, %v", d, err)
	}
	// Passwords with what URLs escape: as the server gets them, and in errors.
	for given, want := range map[string]string{"se%40cret": "se@cret", "se%40c%25%2Fret": "se@c%/ret", "se%20cret": "se cret"} {
		d, err := parse("postgres://ann:" + given + "@h/d")
		if err != nil || d.Config().Password != want {
			t.Fatalf("%s: %v", given, err)
		}
		for _, form := range []string{given, want} {
			if got := d.fail(t.Context(), errors.New("no "+form+" here")).Error(); strings.Contains(got, "cret") || strings.Contains(got, "ret here") {
				t.Errorf("%s: %s", given, got)
			}
		}
	}
}
