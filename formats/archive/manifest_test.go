package archive

import (
	"errors"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"rehome/formats"
	"rehome/formats/rule"
)

// TestDocumentDigest: what describes the archive has a digest of its own.
func TestDocumentDigest(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "archive")
	s := newSample(3, 20)
	s.write(t, dir, "", 1, 50)
	path := filepath.Join(dir, "two.db", databaseName)
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	without := regexp.MustCompile(`(?m)^  "digest": "xxh3:[0-9a-f]{32}",\n`).ReplaceAllString(string(b), "")
	if len(without) == len(b) {
		t.Fatalf("there is no digest in\n%s", b)
	}
	for text, edited := range map[string]bool{
		string(b): false,
		without:   true,
		strings.Replace(string(b), "CREATE TABLE T", "CREATE TABLE  T", 1):      true,
		strings.Replace(string(b), `"user_version": 1`, `"user_version": 2`, 1): true,
		strings.Replace(string(b), "xxh3:", "xxh4:", 1):                         true,
	} {
		if err := os.WriteFile(path, []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
		_, sum, err := read(t.Context(), dir, 1)
		if edited != errors.Is(err, errEdited) || err == nil && !slices.Equal(sum, s.summary()) {
			t.Errorf("edited %v: %v", edited, err)
		}
		if got := asked(t, dir, rule.References); slices.Contains(got, "RH388 two.db/database.json") != edited {
			t.Errorf("edited %v: found %q", edited, got)
		}
	}
}

// TestNewerManifest: a version that is not known here may have members that are
// not either; the version is what the refusal names.
func TestNewerManifest(t *testing.T) {
	for _, text := range []string{`{"rehome":"archive","version":3}`, `{"rehome":"archive","version":3,"unknown":{"a":1}}`, `{"unknown":1,"version":3,"rehome":"archive"}`} {
		_, _, err := parseManifest([]byte(text))
		if err == nil || !strings.Contains(err.Error(), "archive version ") || !strings.Contains(formats.Hint(err), "newer") {
			t.Errorf("%s: %v (%s)", text, err, formats.Hint(err))
		}
	}
	if _, _, err := parseManifest([]byte(`{"rehome":"archive","version":1,"unknown":1}`)); err == nil || !strings.Contains(err.Error(), "unknown") {
		t.Errorf("an unknown member of version 1: %v", err)
	}
}
