package bucket

import (
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// TestOpen refuses addresses, and repeats no credentials.
func TestOpen(t *testing.T) {
	env := map[string]string{}
	o := Options{Getenv: func(name string) string { return env[name] }}
	for _, address := range []string{"", "gs://bucket", "s3://", "s3://ann:secret@bucket/x", "s3://bucket/x?secret", "s3://bucket/x#secret", "s3://secret:9000/x", "s3://%secret"} {
		if _, err := Open(address, o); err == nil || strings.Contains(err.Error(), "secret") {
			t.Errorf("%q: %v", address, err)
		}
	}
	for _, endpoint := range []string{"http://ann:secret@host", "host", "ftp://host", "://"} {
		env["AWS_ENDPOINT_URL"] = endpoint
		if _, err := Open("s3://bucket", o); err == nil || strings.Contains(err.Error(), "secret") {
			t.Errorf("%q: %v", endpoint, err)
		}
	}
	env["AWS_ENDPOINT_URL"] = "http://127.0.0.1:9"
	for address, want := range map[string]string{"s3://bucket": "s3://bucket", "S3://bucket/a//": "s3://bucket/a", "folder": "folder"} {
		if b, err := Open(address, o); err != nil || !strings.HasSuffix(b.Name(), want) {
			t.Errorf("%q: %v, %v", address, b, err)
		}
	}
}

func TestUnsafe(t *testing.T) {
	for key, want := range map[string]bool{
		"a/b.c": true, "a b/\n": true, "": false, "/a": false, "a/": false, "a//b": false, "a/../b": false, "./a": false, "a\x00": false, "\xff": false,
		strings.Repeat("a", 241): false, strings.Repeat("a/", 1600) + "a": false, "..": false, "...": true,
	} {
		if why := Unsafe(key); (why == "") != want {
			t.Errorf("%q: %q", key, why)
		}
	}
}

// TestFetch: a file is the one that was listed, or there is an error.
func TestFetch(t *testing.T) {
	dir, out := t.TempDir(), t.TempDir()
	secret := filepath.Join(t.TempDir(), "secret")
	at := filepath.Join(dir, "m", "a.jsonl")
	if err := errors.Join(os.Mkdir(filepath.Dir(at), 0o777), os.WriteFile(at, []byte("abc"), 0o666), os.WriteFile(secret, []byte("abc"), 0o666)); err != nil {
		t.Fatal(err)
	}
	b, err := Open(dir, Options{})
	if err != nil {
		t.Fatal(err)
	}
	var o Object
	for got, err := range b.List(t.Context()) {
		if o = got; err != nil {
			t.Fatal(err)
		}
	}
	n := 0
	fetch := func(want error) {
		t.Helper()
		n++
		to := filepath.Join(out, string(rune('a'+n)))
		err := b.Fetch(t.Context(), o, to)
		if text, _ := os.ReadFile(to); !errors.Is(err, want) || err == nil && string(text) != "abc" {
			t.Errorf("%q, %v, want %v", text, err, want)
		}
	}
	fetch(nil)
	if err := os.Chtimes(at, time.Time{}, time.Unix(1, 0)); err != nil {
		t.Fatal(err)
	}
	fetch(ErrChanged)
	os.Remove(at)
	fetch(ErrGone)
	// The same size and time, but through a link that leads out.
	o.Tag = "1000000000"
	if err := errors.Join(os.Chtimes(secret, time.Time{}, time.Unix(1, 0)), os.Symlink(secret, at)); err != nil {
		t.Fatal(err)
	}
	fetch(ErrChanged)
	os.Remove(filepath.Join(dir, "m", "a.jsonl"))
	os.Remove(filepath.Join(dir, "m"))
	if err := os.Symlink(filepath.Dir(secret), filepath.Join(dir, "m")); err != nil {
		t.Fatal(err)
	}
	o.Key = "m/secret"
	to := filepath.Join(out, "secret")
	if err := b.Fetch(t.Context(), o, to); err == nil {
		t.Error("a link out of the folder was followed")
	}
}

// TestCommit: what is published is there at once, and only once.
func TestCommit(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "out")
	b, err := Open(dir, Options{})
	if err != nil {
		t.Fatal(err)
	}
	for i, want := range []error{nil, ErrExists} {
		s, err := b.Stage()
		if err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(s.Dir, "last"), []byte{byte('0' + i)}, 0o666); err != nil {
			t.Fatal(err)
		}
		if _, err := b.Open(t.Context(), "units/u/last"); i == 0 && !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("before: %v", err)
		}
		if err := s.Commit(t.Context(), "units/u", "last"); !errors.Is(err, want) {
			t.Errorf("%v, want %v", err, want)
		}
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	}
	in, err := b.Open(t.Context(), "units/u/last")
	if err != nil {
		t.Fatal(err)
	}
	defer in.Close()
	if text, _ := io.ReadAll(in); string(text) != "0" {
		t.Errorf("%q", text)
	}
	if list, _ := os.ReadDir(dir); len(list) != 1 {
		t.Errorf("left: %v", list)
	}
}
