package cli

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"rehome/cmd/internal/clitest"
)

// TestStdin converts what comes through a pipe.
func TestStdin(t *testing.T) {
	clitest.PipeStdin(t, "npm warn\n"+clitest.StreamJSON)
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
	for _, text := range []string{"", "words\n", clitest.StreamJSON[:20]} {
		t.Run("", func(t *testing.T) {
			clitest.PipeStdin(t, text)
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
