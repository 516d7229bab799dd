package lists

import (
	"errors"
	"os"
	"path/filepath"
	"testing"

	"rehome/formats"
	"rehome/formats/internal/sqlitefile"
	"rehome/testdata/ide"
)

// TestChangedWorkspace closes a store of which only the database of a workspace has
// changed.
func TestChangedWorkspace(t *testing.T) {
	script, err := os.ReadFile("../../../../testdata/ide/cases/prompts.sql")
	if err != nil {
		t.Fatal(err)
	}
	for _, stay := range []bool{false, true} {
		dir := filepath.Join(t.TempDir(), "User")
		if err := ide.Build(dir, string(script)); err != nil {
			t.Fatal(err)
		}
		l, err := formats.Locate(dir)
		if err != nil {
			t.Fatal(err)
		}
		p, err := Open(t.Context(), l, formats.FullView(1), new(sqlitefile.Known))
		if err != nil {
			t.Fatal(err)
		}
		var in *Workspace
		for _, s := range p.Workspaces {
			if s.File != "" {
				in = s
			}
		}
		if in == nil || p.Global == nil {
			t.Fatal("no database of a workspace, or no global one")
		}
		if _, err := p.Database(t.Context(), in); err != nil {
			t.Fatal(err)
		}
		if stay {
			p.stay()
		}
		file, err := os.OpenFile(filepath.Join(in.Dir, DbName), os.O_APPEND|os.O_WRONLY, 0)
		if err == nil {
			_, err = file.Write([]byte{0})
			err = errors.Join(err, file.Close())
		}
		if err != nil {
			t.Fatal(err)
		}
		if err := p.Close(); !errors.Is(err, formats.ErrBusy) {
			t.Errorf("kept open %v: %v", stay, err)
		}
	}
}
