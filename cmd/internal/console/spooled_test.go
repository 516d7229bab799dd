package console

import (
	"context"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"rehome/cmd/internal/clitest"
	"rehome/formats/all"
)

// TestFollow tells captures, which are read while they are written, from what
// has to be there whole.
func TestFollow(t *testing.T) {
	a := &App{Ctx: t.Context(), Reg: all.Registry()}
	for _, text := range []string{clitest.StreamJSON, "npm warn\n\n" + clitest.StreamJSON, strings.Repeat("x", 1000) + "\n" + clitest.StreamJSON} {
		clitest.PipeStdin(t, text)
		f, r, s, err := a.OpenStream(os.Stdin)
		if err != nil || f == nil || f.Name != "stream-json" {
			t.Fatal(f, err)
		}
		if all, err := io.ReadAll(r); err != nil || string(all) != text {
			t.Errorf("%v: %d of %d bytes", err, len(all), len(text))
		}
		s.Remove()
	}
	for _, text := range []string{"", "words\n", strings.Repeat("SQLite format 3\x00", 9999), `{"role":"user","message":{"content":"x"}}` + "\n"} {
		clitest.PipeStdin(t, text)
		f, _, s, err := a.OpenStream(os.Stdin)
		if err != nil || f != nil {
			t.Fatal(f, err)
		}
		if all, err := os.ReadFile(s.Path); err != nil || string(all) != text {
			t.Errorf("%v: %d of %d bytes", err, len(all), len(text))
		}
		s.Remove()
	}
}

// TestFollowWaits does not wait for the end of a capture to know what it is.
func TestFollowWaits(t *testing.T) {
	clitest.PipeStdin(t, "")
	a := &App{Ctx: t.Context(), Reg: all.Registry()}
	r, w := io.Pipe()
	go func() { _, _ = io.WriteString(w, clitest.StreamJSON[:200]) }()
	f, _, s, err := a.OpenStream(r)
	if err != nil || f == nil {
		t.Fatal(f, err)
	}
	s.Remove()
}

// TestStdinInterrupted does not wait for a pipe that says nothing.
func TestStdinInterrupted(t *testing.T) {
	clitest.PipeStdin(t, "")
	r, w := io.Pipe()
	defer w.Close()
	ctx, cancel := context.WithCancel(t.Context())
	s, err := newSpooled()
	if err != nil {
		t.Fatal(err)
	}
	defer s.Remove()
	cancel()
	if err := s.fill(ctx, r); !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
}

// TestFillCloses: the copy of stdin does not stay open.
func TestFillCloses(t *testing.T) {
	s := &Spooled{Path: filepath.Join(t.TempDir(), "stdin.jsonl")}
	if err := s.fill(t.Context(), strings.NewReader("x")); err != nil {
		t.Fatal(err)
	}
	open, _ := filepath.Glob("/proc/self/fd/*") // empty on other systems
	for _, name := range open {
		if file, err := os.Readlink(name); err == nil && file == s.Path {
			t.Errorf("%s is %s", name, file)
		}
	}
}
