package cursorsdk

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"rehome/formats"
	"rehome/formats/cursorsdk/internal/layout"
	"rehome/formats/cursorsdk/internal/read"
	"rehome/formats/session"
)

// TestUnlookable: a state root that cannot be looked at is an error, also where
// transcripts beside it tell something. Its name is too long for the system to
// go there by, which not even root can do.
func TestUnlookable(t *testing.T) {
	dir := sampleProject(t)
	at, err := os.OpenRoot(filepath.Join(dir, layout.RootsName))
	if err != nil {
		t.Fatal(err)
	}
	for range 20 {
		name := strings.Repeat("d", 250)
		if err := at.Mkdir(name, 0o700); err != nil {
			t.Fatal(err)
		}
		next, err := at.OpenRoot(name)
		if err != nil {
			t.Fatal(err)
		}
		at.Close()
		at = next
	}
	at.Close()
	l, err := formats.Locate(dir)
	if err != nil {
		t.Fatal(err)
	}
	var last error
	for s, err := range read.Decode(t.Context(), l, formats.View{}, session.Selection{}) {
		if last = err; s != nil {
			t.Error("a session as if nothing was wrong: " + s.ID)
		}
	}
	if !errors.Is(last, syscall.ENAMETOOLONG) {
		t.Error(last)
	}
}
