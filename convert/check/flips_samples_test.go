package check_test

import (
	"os"
	"path/filepath"
	"testing"

	"rehome/convert"
	"rehome/formats/all"
	"rehome/testdata/ide"
)

func flipSamples() []flipSample {
	never := func(*flipped) bool { return false }
	text := func(f *flipped) bool { return f.from.oneText(f.then) }
	return []flipSample{
		{"chat", chatFolder(), "*", makeSmallChat, "", text},
		{"sdk", ".", "index.db", makeSmallSDK, "", text},
		{"chat archive", "text", "*", func(t *testing.T, dir string) {
			from := t.TempDir()
			makeSmallChat(t, from)
			toText(t, filepath.Join(from, chatFolder()), filepath.Join(dir, "text"), "archive")
		}, "", never},
		{"ide archive", "text", "*", func(t *testing.T, dir string) {
			from := t.TempDir()
			if err := ide.Build(from, string(must(os.ReadFile("../../testdata/ide/cases/heads.sql")))); err != nil {
				t.Fatal(err)
			}
			toText(t, from, filepath.Join(dir, "text"), "archive")
		}, "", never},
		{"ndjson", "text", "*", func(t *testing.T, dir string) {
			from := t.TempDir()
			makeSmallSDK(t, from)
			toText(t, from, filepath.Join(dir, "text"), "cursor-ndjson")
		}, "cursor-sdk", text},
	}
}

func makeSmallChat(t *testing.T, dir string) {
	to := madeFor(filepath.Join(dir, chatFolder(), "store.db"))
	if err := os.WriteFile(to, must(os.ReadFile("../../testdata/chat/before.db")), 0o600); err != nil {
		t.Fatal(err)
	}
	small(t, to)
}

func makeSmallSDK(t *testing.T, dir string) {
	if err := os.CopyFS(dir, os.DirFS("../../testdata/sdk/legacy-1.0.14")); err != nil {
		t.Fatal(err)
	}
	small(t, filepath.Join(dir, "index.db"))
	stores, _ := filepath.Glob(filepath.Join(dir, "agents", "*", "store.db"))
	for _, s := range stores {
		small(t, s)
	}
}

func toText(t *testing.T, from, to, format string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(to), 0o777); err != nil {
		t.Fatal(err)
	}
	if _, err := convert.Convert(t.Context(), all.Registry(), from, to, convert.Options{To: format}); err != nil {
		t.Fatal(err)
	}
}
