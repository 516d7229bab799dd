package console

import (
	"errors"
	"os"
	"path/filepath"
	"testing"
)

// TestShortOutput: what needs no pager is printed at the end, and the command's error
// is returned with that of the terminal.
func TestShortOutput(t *testing.T) {
	broken := errors.New("broken")
	for _, want := range []error{nil, broken} {
		path := filepath.Join(t.TempDir(), "out")
		out, err := os.Create(path)
		if err != nil {
			t.Fatal(err)
		}
		p := &Pager{out: out, cancel: func(error) {}}
		p.buf.WriteString("text")
		err = p.close(want)
		if e := out.Close(); e != nil {
			t.Fatal(e)
		}
		if text, _ := os.ReadFile(path); !errors.Is(err, want) || string(text) != "text" {
			t.Errorf("%q and error %v, want %v", text, err, want)
		}
	}
}
