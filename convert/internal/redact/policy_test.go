package redact

import (
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
)

func file(t *testing.T, name, text string, mode os.FileMode) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	if err := os.WriteFile(path, []byte(text), mode); err != nil {
		t.Fatal(err)
	}
	if err := os.Chmod(path, mode); err != nil {
		t.Fatal(err)
	}
	return path
}

// TestPolicy reads words and patterns, and rejects lines that are none without quoting them.
func TestPolicy(t *testing.T) {
	var p Policy
	if err := p.ReadFile(file(t, File, "\ufeffAcme Corp\r\n# customers\r\n\r\nAcme Corp\r\n/ACME-[0-9]+/\n", 0o644)); err != nil {
		t.Fatal(err)
	}
	if len(p.Words) != 2 || p.Words[0] != "Acme Corp" || len(p.Patterns) != 1 {
		t.Fatalf("%+v", p)
	}
	r := redactor(t, p, "ticket ACME-17 of ACME-17 and ACME-18+")
	out, _, err := r.Value(t.Context(), nil, []byte("Acme Corp: ACME-17, ACME-18, ACME-19, acme corp"), Unknown, nil)
	if want := "redacted-word-1: redacted-pattern-1, redacted-pattern-2, ACME-19, acme corp"; err != nil || string(out) != want {
		t.Errorf("%v: %s", err, out)
	}
	for text, want := range map[string]string{
		"one\nab\n":          ":2: word of less than 3 letters",
		"/se(cret/\n":        ":1: invalid pattern",
		"/x*/":               ":1: pattern matches empty text",
		"/\\w\\w\\w/":        ":1: pattern matches placeholders",
		"/se(cret/i":         ":1: flags after a pattern",
		"fine\n\n\xff\xfe\n": ":3: not UTF-8",
	} {
		err := new(Policy).ReadFile(file(t, File, text, 0o644))
		if err == nil || !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), "cret") {
			t.Errorf("%q: %v", text, err)
		}
	}
	if err := p.ReadFile(filepath.Join(t.TempDir(), "none")); err == nil {
		t.Error("a missing file is read")
	}
	if err := p.ReadFile(file(t, File, strings.Repeat("word\n", maxFile/5+1), 0o644)); err == nil {
		t.Error("a large file is read")
	}
	if err := p.ReadFile(file(t, File, strings.Repeat("word\n", maxEntries+1), 0o644)); err == nil {
		t.Error("too many entries are read")
	}
}

// TestKey: the same key gives a value the same placeholder in every store, another key
// another one, and each kind its own.
func TestKey(t *testing.T) {
	good := file(t, "key", strings.Repeat("k", minKey), 0o600)
	placeholder := func(key, kind string) string {
		var p Policy
		if err := p.ReadKey(key); err != nil {
			t.Fatal(err)
		}
		r := redactor(t, p)
		r.Add([]Finding{{"other", "something else"}, {kind, "the value"}})
		out, _, err := r.Value(t.Context(), nil, []byte("the value"), Unknown, nil)
		if err != nil || !r.placeholders.Match(out) {
			t.Fatalf("%v: %s", err, out)
		}
		return string(out)
	}
	one := placeholder(good, "jwt")
	if len(one) != len("redacted-jwt-")+16 || one != placeholder(good, "jwt") || one == placeholder(file(t, "key", strings.Repeat("l", minKey), 0o600), "jwt") {
		t.Error(one)
	}
	if other := placeholder(good, "github-pat"); other[len(other)-16:] == one[len(one)-16:] {
		t.Error("two kinds have the same number")
	}
	bad := []string{file(t, "key", strings.Repeat("k", minKey-1), 0o600), filepath.Join(t.TempDir(), "none")}
	if runtime.GOOS != "windows" {
		bad = append(bad, file(t, "key", strings.Repeat("k", minKey), 0o640))
	}
	for _, path := range bad {
		if err := new(Policy).ReadKey(path); err == nil {
			t.Errorf("%s is read", path)
		}
	}
}

// TestFiles: in a work tree, the files of the folders above apply, too.
func TestFiles(t *testing.T) {
	dir := t.TempDir()
	for _, path := range []string{"tree/.git", "tree/a/b", "bare/a/b"} {
		if err := os.MkdirAll(filepath.Join(dir, path), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	for _, path := range []string{"", "tree", "tree/a/b", "bare", "bare/a/b"} {
		if err := os.WriteFile(filepath.Join(dir, path, File), nil, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	for from, want := range map[string]string{"tree/a/b": "tree/a/b tree", "tree/a": "tree", "bare/a/b": "bare/a/b", "bare/a": ""} {
		var got []string
		for _, path := range Files(filepath.Join(dir, from)) {
			rel, _ := filepath.Rel(dir, filepath.Dir(path))
			got = append(got, filepath.ToSlash(rel))
		}
		if strings.Join(got, " ") != want {
			t.Errorf("%s: %v, want %s", from, got, want)
		}
	}
}
