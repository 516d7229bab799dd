package gemini_test

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"rehome/formats"
	"rehome/formats/all"
	"rehome/formats/gemini"
	"rehome/formats/session"
)

const older = "../../testdata/gemini-json/session-2026-11-29T00-31-3f831813.json"

// TestConverted: a file of an older version is left out if the client has made lines of it, and has the folder of its project.
func TestConverted(t *testing.T) {
	home := t.TempDir()
	chats := filepath.Join(home, "tmp", "app", "chats")
	text, err := os.ReadFile(older)
	err = errors.Join(err, os.MkdirAll(chats, 0o777), os.WriteFile(filepath.Join(home, "tmp", "app", ".project_root"), []byte("/home/dev/app\n"), 0o666))
	for _, name := range []string{"session-1-3f831813.json", "session-2-00000000.json"} {
		err = errors.Join(err, os.WriteFile(filepath.Join(chats, name), text, 0o666))
	}
	err = errors.Join(err, os.WriteFile(filepath.Join(chats, "session-1-3f831813.jsonl"), nil, 0o666))
	if err != nil {
		t.Fatal(err)
	}
	l, err := formats.Locate(home)
	if err != nil {
		t.Fatal(err)
	}
	if got, want := gemini.Format().Strays(l), []string{"tmp/app/chats/session-2-00000000.json"}; !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
	one := l.Join("tmp/app/chats/session-2-00000000.json")
	found, err := all.Registry().Detect(t.Context(), one)
	if err != nil || len(found) == 0 || found[0].Format.Name != "gemini-json" {
		t.Fatal(found, err)
	}
	for s, err := range found[0].Format.Sessions.Decode(t.Context(), one, formats.View{}, session.Selection{}) {
		if err != nil || s.ID != "3f831813-dc2f-47df-8fcd-ce3e7c5ebe29" || s.Workspace != "/home/dev/app" || s.Title != "play: tools" || s.Head.Turns != 2 {
			t.Errorf("%+v, %v", s.Head, err)
		}
	}
}
