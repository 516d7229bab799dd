package undo

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"testing"
)

// TestCopies: copies are recorded once, also after half a line of a killed run; what is not
// such a line is left out.
func TestCopies(t *testing.T) {
	f := Folder{Dir: t.TempDir()}
	one, two := Copy{"claude-code", "a1", "a"}, Copy{"claude-code", "b1", "b"}
	add := func(list ...Copy) {
		t.Helper()
		log, err := f.Begin(Record{})
		if err != nil {
			t.Fatal(err)
		}
		if err := errors.Join(log.Copied(list), log.Close()); err != nil {
			t.Fatal(err)
		}
	}
	if got := (Folder{}).Copies(); got != nil || f.Copies() != nil {
		t.Errorf("nothing was recorded: %v, %v", got, f.Copies())
	}
	add(one, one)
	path := filepath.Join(f.Dir, copiesName)
	before, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if add(one); !slices.Equal(f.Copies(), []Copy{one}) {
		t.Errorf("got %v", f.Copies())
	}
	if after, _ := os.ReadFile(path); string(after) != string(before) {
		t.Errorf("recorded again: %s", after)
	}
	for _, left := range []string{`{"format":"claude-co`, "\x00\n[1]\n{}\nnull\n{\"session\":1}", ""} {
		if err := os.WriteFile(path, append(slices.Clone(before), left...), 0o600); err != nil {
			t.Fatal(err)
		}
		if add(two); !slices.Equal(f.Copies(), []Copy{one, two}) {
			t.Errorf("after %q: %v", left, f.Copies())
		}
	}
	if list, err := f.List(); err != nil || len(list) != 0 {
		t.Errorf("records: %v, %v", list, err)
	}
}
