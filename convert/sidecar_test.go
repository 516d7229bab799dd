package convert

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"rehome/convert/internal/sidecar"
	"rehome/formats"
)

const withheldText = "right\norigin left\ntable t\n1\t!withheld\n2\tx\n3\t!withheld\n"

func TestSidecarGoesThereAndBack(t *testing.T) {
	dir := t.TempDir()
	src, db, again := filepath.Join(dir, "a"), filepath.Join(dir, "b"), filepath.Join(dir, "c")
	write(t, filepath.Join(src, "rows.txt"), withheldText)
	rep := must(t, fakes(nil, nil), src, db, Options{})
	if rep.Sidecar != db+formats.SidecarSuffix || rep.Stores[0].Omitted != 2 || rep.Stores[0].Rows != 1 {
		t.Errorf("%+v", rep)
	}
	if b, _ := os.ReadFile(db); string(b) != "left\norigin left\ntable t\n2\tx\n" {
		t.Errorf("restored %q", b)
	}
	if rep = must(t, fakes(nil, nil), db, again, Options{To: "right"}); rep.Sidecar != "" {
		t.Errorf("sidecar of text: %+v", rep)
	}
	if b, _ := os.ReadFile(filepath.Join(again, "rows.txt")); string(b) != withheldText {
		t.Errorf("archived again %q", b)
	}
	must(t, fakes(nil, nil), db, filepath.Join(dir, "d"), Options{To: "right", Sidecar: "none"})
	if b, _ := os.ReadFile(filepath.Join(dir, "d", "rows.txt")); strings.Contains(string(b), "withheld") {
		t.Errorf("none was read all the same: %q", b)
	}
}

// TestSidecarIsHandedOn: a copy of a database lacks what the database lacks,
// and never holds a marker.
func TestSidecarIsHandedOn(t *testing.T) {
	dir := t.TempDir()
	src, db, again := filepath.Join(dir, "a"), filepath.Join(dir, "b"), filepath.Join(dir, "c")
	write(t, filepath.Join(src, "rows.txt"), withheldText)
	must(t, fakes(nil, nil), src, db, Options{})
	rep := must(t, fakes(nil, nil), db, again, Options{To: "left"})
	one, _ := os.ReadFile(db + formats.SidecarSuffix)
	two, _ := os.ReadFile(again + formats.SidecarSuffix)
	if len(one) == 0 || !bytes.Equal(one, two) || rep.Stores[0].Omitted != 0 {
		t.Errorf("sidecar %q became %q", one, two)
	}
	if b, _ := os.ReadFile(again); strings.Contains(string(b), "withheld") {
		t.Errorf("a marker in a database: %q", b)
	}
}

func TestSidecarOfStoresThatAreGone(t *testing.T) {
	dir := t.TempDir()
	db := write(t, filepath.Join(dir, "b"), leftText(1))
	write(t, db+formats.SidecarSuffix, sidecar.Header+`{"store":"gone","at":{"file":"","set":"t"},"row":[null]}`+"\n")
	var said []string
	must(t, fakes(nil, nil), db, filepath.Join(dir, "c"), Options{To: "right", OnNotice: func(s string) { said = append(said, s) }})
	if len(said) != 1 || !strings.Contains(said[0], "ignored its items for 1 missing store") {
		t.Errorf("said %q", said)
	}
}

func TestSidecarOfManyStoresAndInANamedFile(t *testing.T) {
	for _, named := range []bool{false, true} {
		dir := t.TempDir()
		src, db, again := filepath.Join(dir, "a"), filepath.Join(dir, "b"), filepath.Join(dir, "c")
		for _, s := range []string{"x", "y/z", "w"} {
			write(t, filepath.Join(src, s, "rows.txt"), withheldText)
		}
		write(t, filepath.Join(src, "plain", "rows.txt"), "right\norigin left\ntable t\n2\tx\n")
		o := Options{}
		if named {
			o.Sidecar = filepath.Join(dir, "kept")
		}
		rep := must(t, fakes(nil, nil), src, db, o)
		if want := pick(named, o.Sidecar, db+formats.SidecarSuffix); rep.Sidecar != want {
			t.Errorf("sidecar %q, want %q", rep.Sidecar, want)
		}
		o.To = "right"
		must(t, fakes(nil, nil), db, again, o)
		if a, b := strings.Join(tree(t, src), "\n"), strings.Join(tree(t, again), "\n"); a != b {
			t.Errorf("named %v: went\n%s\ncame back\n%s", named, a, b)
		}
		if named {
			leavesNothing(t, dir, func() {
				_, err := Convert(t.Context(), fakes(nil, nil), src, filepath.Join(dir, "d"), Options{Sidecar: o.Sidecar})
				if !errors.Is(err, formats.ErrExists) {
					t.Errorf("a named sidecar was overwritten: %v", err)
				}
			})
		}
	}
}

func TestStaleSidecarIsRefusedOrKept(t *testing.T) {
	dir := t.TempDir()
	src, db := filepath.Join(dir, "a"), filepath.Join(dir, "b")
	write(t, filepath.Join(src, "rows.txt"), withheldText)
	write(t, db+formats.SidecarSuffix, sidecar.Header)
	for _, sidecar := range []string{"", "none", filepath.Join(dir, "named")} {
		leavesNothing(t, dir, func() {
			_, err := Convert(t.Context(), fakes(nil, nil), src, db, Options{Sidecar: sidecar})
			if !errors.Is(err, formats.ErrExists) || !strings.Contains(formats.Hint(err), "--replace") {
				t.Errorf("got %v", err)
			}
		})
	}
	write(t, db, "old")
	must(t, fakes(nil, nil), src, db, Options{Replace: true})
	if b, _ := os.ReadFile(db + ".bak-1" + formats.SidecarSuffix); string(b) != sidecar.Header {
		t.Errorf("the old sidecar is not with the old target: %q", tree(t, dir))
	}
	if b, _ := os.ReadFile(db + formats.SidecarSuffix); strings.Count(string(b), "\n") != 3 {
		t.Errorf("new sidecar: %q", b)
	}
}

func TestSidecarFileInTheWay(t *testing.T) {
	dir := t.TempDir()
	src := filepath.Join(dir, "a")
	write(t, filepath.Join(src, "rows.txt"), withheldText)
	for _, at := range []string{filepath.Join(src, "r"), filepath.Join(dir, "b"), filepath.Join(dir, "b", "r"), filepath.Join(dir, "gone", "r"), src} {
		leavesNothing(t, dir, func() {
			if _, err := Convert(t.Context(), fakes(nil, nil), src, filepath.Join(dir, "b"), Options{Sidecar: at, Replace: true}); err == nil {
				t.Errorf("sidecar at %s", at)
			}
		})
	}
}
