package mv

import (
	"errors"
	"os"
	"path/filepath"
	"testing"

	"rehome/convert/internal/filetx"
	"rehome/formats"
	"rehome/internal/fsx"
)

// TestPlaceTakenBack: if the last piece of a session cannot be changed in place, the ones before
// it are as they were.
func TestPlaceTakenBack(t *testing.T) {
	dir, staged := t.TempDir(), t.TempDir()
	f := &family{Session: Session{To: filepath.Join(dir, "c")}}
	for i, name := range []string{"a/x", "b", "c"} {
		top := name[:1]
		for root, content := range map[string]string{dir: "old", staged: "new"} {
			at := filepath.Join(root, name)
			if err := errors.Join(os.MkdirAll(filepath.Dir(at), 0o700), os.WriteFile(at, []byte(content), 0o600)); err != nil {
				t.Fatal(err)
			}
		}
		p := &piece{Piece: formats.Piece{From: filepath.Join(dir, top), To: filepath.Join(dir, top), Folder: i == 0, InPlace: true}, staged: filepath.Join(staged, top)}
		state, err := stateOf(p.From)
		if err != nil {
			t.Fatal(err)
		}
		p.state = state
		f.pieces = append(f.pieces, p)
	}
	before, err := fsx.DigestTree(dir)
	if err != nil {
		t.Fatal(err)
	}
	last := f.pieces[2]
	was := last.state
	last.state = "as it was before its client changed it"
	if err := (&filetx.Tx{}).Do(f.steps()); err == nil {
		t.Error("the last piece was changed in the meantime, and replaced")
	}
	if after, err := fsx.DigestTree(dir); err != nil || after != before {
		t.Errorf("not taken back: %v", err)
	}
	f = &family{Session: f.Session, pieces: f.pieces[2:]}
	last.state = was
	if err := (&filetx.Tx{}).Do(f.steps()); err != nil {
		t.Fatal(err)
	}
	if got, err := os.ReadFile(last.To); string(got) != "new" {
		t.Errorf("%q, %v", got, err)
	}
}
