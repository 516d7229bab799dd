package convert

import (
	"context"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"rehome/formats"
)

// Copies that a client makes of its stores are read where they are named.
func TestCopiesAreNamed(t *testing.T) {
	talk := fake("talk", false, nil)
	talk.Probe = func(_ context.Context, l *formats.Location) (formats.Match, error) {
		if !l.IsDir() {
			return formats.Match{Score: 50, Evidence: []string{"a file"}}, nil
		}
		return formats.Match{}, nil
	}
	talk.Home = &formats.Home{IsCopy: func(name string) bool { return strings.HasSuffix(name, ".copy") }}
	reg := formats.NewRegistry(talk)
	dir := t.TempDir()
	for _, name := range []string{"a", "a.copy"} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte("x"), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	for path, want := range map[string]string{dir: "a, a.copy skipped: a copy made by its client; pass it as SRC to read it", filepath.Join(dir, "a.copy"): "."} {
		var got []string
		for f, err := range Stores(t.Context(), reg, path, "", func(s string) { got = append(got, s) }) {
			if err != nil {
				t.Fatal(err)
			}
			got = append(got, f.Rel)
		}
		if strings.Join(got, ", ") != want {
			t.Errorf("%s: found %q, want %s", path, got, want)
		}
	}
}

// A guess is believed of the place that somebody named, not on a walk: a folder
// is full of names that mean nothing.
func TestGuess(t *testing.T) {
	guess := fake("guess", false, nil)
	guess.Probe = func(_ context.Context, l *formats.Location) (formats.Match, error) {
		if score := map[string]int{"x.db": formats.Guess, "store.db": formats.Guess + 1}[l.Name()]; score > 0 {
			return formats.Match{Score: score, Evidence: []string{"by its name"}}, nil
		}
		return formats.Match{}, nil
	}
	reg := formats.NewRegistry(guess)
	dir := t.TempDir()
	for _, name := range []string{"store.db", "x.db"} {
		if err := os.WriteFile(filepath.Join(dir, name), nil, 0o666); err != nil {
			t.Fatal(err)
		}
	}
	for path, want := range map[string]string{dir: "store.db", filepath.Join(dir, "x.db"): ".", filepath.Join(dir, "store.db"): "."} {
		var got []string
		for f, err := range Stores(t.Context(), reg, path, "", nil) {
			if err != nil {
				t.Fatal(err)
			}
			got = append(got, f.Rel)
		}
		if strings.Join(got, " ") != want {
			t.Errorf("%s: found %q, want %s", path, got, want)
		}
	}
}

// TestUnrecognizedAreNamed: the first few files that look like a session and are of
// nobody known are named.
func TestUnrecognizedAreNamed(t *testing.T) {
	dir := t.TempDir()
	for _, name := range []string{"a/1", "a/2", "b/1", "b/2", "b/3"} {
		write(t, filepath.Join(dir, name+".jsonl"), `{"sessionId":"x"}`+"\n")
	}
	write(t, filepath.Join(dir, "c.jsonl"), `{"x":1}`+"\n")
	var said []string
	for range Stores(t.Context(), fakes(nil, nil), dir, "", func(s string) { said = append(said, s) }) {
	}
	const why = " looks like a session, but no format recognizes it"
	want := []string{"a/1.jsonl" + why, "a/2.jsonl" + why, "b/1.jsonl" + why, "and 2 more: run `rehome ls --all` to list them"}
	if !slices.Equal(said, want) {
		t.Errorf("%q, want %q", said, want)
	}
}
