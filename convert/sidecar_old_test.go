package convert

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"rehome/convert/internal/sidecar"
	"rehome/formats"
)

// TestOldSidecar: a sidecar that an earlier version wrote is put back, under
// its old name or today's, with its old header or today's.
func TestOldSidecar(t *testing.T) {
	for _, suffix := range []string{formats.SidecarSuffix, formats.OldSidecarSuffix} {
		for _, header := range []string{sidecar.Header, sidecar.OldHeader} {
			dir := t.TempDir()
			src, db, again := filepath.Join(dir, "a"), filepath.Join(dir, "b"), filepath.Join(dir, "c")
			write(t, filepath.Join(src, "rows.txt"), withheldText)
			must(t, fakes(nil, nil), src, db, Options{})
			become(t, db, suffix, header)
			must(t, fakes(nil, nil), db, again, Options{To: "right"})
			if b, _ := os.ReadFile(filepath.Join(again, "rows.txt")); string(b) != withheldText {
				t.Errorf("%s, %q: archived again %q", suffix, header, b)
			}
			must(t, fakes(nil, nil), db, again+"-named", Options{To: "right", Sidecar: db + suffix})
			if b, _ := os.ReadFile(filepath.Join(again+"-named", "rows.txt")); string(b) != withheldText {
				t.Errorf("%s, %q, named: archived again %q", suffix, header, b)
			}
		}
	}
}

// become gives the sidecar of a store another name and header.
func become(t *testing.T, db, suffix, header string) {
	t.Helper()
	b, err := os.ReadFile(db + formats.SidecarSuffix)
	if err == nil {
		err = os.Rename(db+formats.SidecarSuffix, db+suffix)
	}
	if err != nil || !strings.HasPrefix(string(b), sidecar.Header) {
		t.Fatalf("%v, %q", err, b)
	}
	write(t, db+suffix, header+strings.TrimPrefix(string(b), sidecar.Header))
}

// TestOldSidecarBesideTheTarget: it would be taken for the new target's, so it
// is refused, or kept with the old target.
func TestOldSidecarBesideTheTarget(t *testing.T) {
	dir := t.TempDir()
	src, db := filepath.Join(dir, "a"), filepath.Join(dir, "b")
	write(t, filepath.Join(src, "rows.txt"), withheldText)
	write(t, db+formats.OldSidecarSuffix, sidecar.OldHeader)
	for _, where := range []string{"", "none", filepath.Join(dir, "named")} {
		leavesNothing(t, dir, func() {
			_, err := Convert(t.Context(), fakes(nil, nil), src, db, Options{Sidecar: where})
			if !errors.Is(err, formats.ErrExists) || !strings.Contains(formats.Hint(err), "--replace") {
				t.Errorf("%q: got %v", where, err)
			}
		})
	}
	write(t, db, "old")
	write(t, db+".bak-1"+formats.OldSidecarSuffix, sidecar.OldHeader) // so that .bak-1 is not free
	rep := must(t, fakes(nil, nil), src, db, Options{Replace: true})
	if b, _ := os.ReadFile(db + ".bak-2" + formats.SidecarSuffix); string(b) != sidecar.OldHeader || rep.Backup != db+".bak-2" {
		t.Errorf("the old sidecar is not with the old target: %q", tree(t, dir))
	}
	if _, err := os.Lstat(db + formats.OldSidecarSuffix); !errors.Is(err, fs.ErrNotExist) || rep.Sidecar != db+formats.SidecarSuffix {
		t.Errorf("the new sidecar is %q, and the old one still there: %v", rep.Sidecar, err)
	}
}

// TestTwoSidecars: which of them belongs to the store, nobody knows.
func TestTwoSidecars(t *testing.T) {
	dir := t.TempDir()
	src, db := filepath.Join(dir, "a"), filepath.Join(dir, "b")
	write(t, filepath.Join(src, "rows.txt"), withheldText)
	for _, beside := range []string{src, db} {
		for _, suffix := range []string{formats.SidecarSuffix, formats.OldSidecarSuffix} {
			write(t, beside+suffix, sidecar.Header)
		}
		for _, replace := range []bool{false, true} {
			leavesNothing(t, dir, func() {
				_, err := Convert(t.Context(), fakes(nil, nil), src, db, Options{Replace: replace})
				base := filepath.Base(beside)
				if err == nil || !strings.Contains(err.Error(), beside+".sidecar.ndjson: duplicate sidecar: "+base+".residue.ndjson") || !strings.Contains(formats.Hint(err), "belongs to "+base) {
					t.Errorf("%s: %v (%s)", beside, err, formats.Hint(err))
				}
			})
		}
		if beside == src {
			must(t, fakes(nil, nil), src, filepath.Join(dir, "without"), Options{Sidecar: "none"})
		}
		for _, suffix := range []string{formats.SidecarSuffix, formats.OldSidecarSuffix} {
			if err := os.Remove(beside + suffix); err != nil {
				t.Fatal(err)
			}
		}
	}
}
