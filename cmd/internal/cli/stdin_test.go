package cli

import (
	"bytes"
	"context"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"rehome/formats/all"
)

// piped makes a pipe stdin, with a scratch folder that must be empty in the end.
func piped(t *testing.T, text string) {
	t.Helper()
	scratch := t.TempDir()
	for _, name := range []string{"TMPDIR", "TMP", "TEMP"} {
		t.Setenv(name, scratch)
	}
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	stdin := os.Stdin
	os.Stdin = r
	go func() {
		_, _ = io.WriteString(w, text)
		_ = w.Close()
	}()
	t.Cleanup(func() {
		os.Stdin = stdin
		_ = r.Close()
		list, err := os.ReadDir(scratch)
		if err != nil || len(list) > 0 {
			t.Errorf("left behind: %v, %v", list, err)
		}
	})
}

const capture = `{"type":"system","subtype":"init","cwd":"/home/ann/app","session_id":"5e55","model":"M"}
{"type":"user","message":{"role":"user","content":[{"type":"text","text":"hello"}]},"session_id":"5e55"}
{"type":"assistant","message":{"role":"assistant","content":[{"type":"text","text":"hi"}]},"session_id":"5e55"}
{"type":"result","subtype":"success","duration_ms":5,"is_error":false,"result":"hi","session_id":"5e55"}
`

// TestStdin converts what comes through a pipe.
func TestStdin(t *testing.T) {
	piped(t, "npm warn\n"+capture)
	out := filepath.Join(t.TempDir(), "out")
	var stdout, stderr strings.Builder
	if code := run(t.Context(), []string{"convert", "-", out, "--to", "canonical"}, &stdout, &stderr, os.Getenv); code != 0 {
		t.Fatalf("exit %d: %s", code, stderr.String())
	}
	if first, _, _ := strings.Cut(stdout.String(), "\n"); first != "- -> "+out {
		t.Errorf("%q", first)
	}
	var text []byte
	err := filepath.WalkDir(out, func(path string, e os.DirEntry, err error) error {
		if err != nil || e.IsDir() {
			return err
		}
		text, err = os.ReadFile(path)
		return err
	})
	if err != nil || !bytes.Contains(text, []byte(`"origin":["stdin.jsonl:3"]`)) || !bytes.Contains(text, []byte(`"text":"hello"`)) {
		t.Errorf("%v: %s", err, text)
	}
}

// TestStdinOfNothing names stdin in its error, not the file that held it.
func TestStdinOfNothing(t *testing.T) {
	for _, text := range []string{"", "words\n", capture[:20]} {
		t.Run("", func(t *testing.T) {
			piped(t, text)
			out := filepath.Join(t.TempDir(), "out")
			var stdout, stderr strings.Builder
			if code := run(t.Context(), []string{"convert", "-", out, "--to", "canonical"}, &stdout, &stderr, os.Getenv); code != 1 {
				t.Errorf("exit %d", code)
			}
			if !strings.HasPrefix(stderr.String(), "rehome: -: no known format") || strings.Contains(stderr.String(), "stdin.jsonl") {
				t.Error(stderr.String())
			}
			if _, err := os.Stat(out); !errors.Is(err, os.ErrNotExist) {
				t.Error("something was placed", err)
			}
		})
	}
}

// TestFollow tells captures, which are read while they are written, from what
// has to be there whole.
func TestFollow(t *testing.T) {
	a := &app{ctx: t.Context(), reg: all.Registry()}
	for _, text := range []string{capture, "npm warn\n\n" + capture, strings.Repeat("x", 1000) + "\n" + capture} {
		piped(t, text)
		f, r, s, err := a.openStream(os.Stdin)
		if err != nil || f == nil || f.Name != "stream-json" {
			t.Fatal(f, err)
		}
		if all, err := io.ReadAll(r); err != nil || string(all) != text {
			t.Errorf("%v: %d of %d bytes", err, len(all), len(text))
		}
		s.remove()
	}
	for _, text := range []string{"", "words\n", strings.Repeat("SQLite format 3\x00", 9999), `{"role":"user","message":{"content":"x"}}` + "\n"} {
		piped(t, text)
		f, _, s, err := a.openStream(os.Stdin)
		if err != nil || f != nil {
			t.Fatal(f, err)
		}
		if all, err := os.ReadFile(s.path); err != nil || string(all) != text {
			t.Errorf("%v: %d of %d bytes", err, len(all), len(text))
		}
		s.remove()
	}
}

// TestFollowWaits does not wait for the end of a capture to know what it is.
func TestFollowWaits(t *testing.T) {
	piped(t, "")
	a := &app{ctx: t.Context(), reg: all.Registry()}
	r, w := io.Pipe()
	go func() { _, _ = io.WriteString(w, capture[:200]) }()
	f, _, s, err := a.openStream(r)
	if err != nil || f == nil {
		t.Fatal(f, err)
	}
	s.remove()
}

// TestStdinInterrupted does not wait for a pipe that says nothing.
func TestStdinInterrupted(t *testing.T) {
	piped(t, "")
	r, w := io.Pipe()
	defer w.Close()
	ctx, cancel := context.WithCancel(t.Context())
	s, err := newSpooled()
	if err != nil {
		t.Fatal(err)
	}
	defer s.remove()
	cancel()
	if err := s.fill(ctx, r); !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
}

// TestFillCloses: the copy of stdin does not stay open.
func TestFillCloses(t *testing.T) {
	s := &spooled{path: filepath.Join(t.TempDir(), "stdin.jsonl")}
	if err := s.fill(t.Context(), strings.NewReader("x")); err != nil {
		t.Fatal(err)
	}
	open, _ := filepath.Glob("/proc/self/fd/*") // empty on other systems
	for _, name := range open {
		if file, err := os.Readlink(name); err == nil && file == s.path {
			t.Errorf("%s is %s", name, file)
		}
	}
}
