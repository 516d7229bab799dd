package convert

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"rehome/formats"
)

// homes are a left and a right format of sessions; the client of the right one
// looks for them by folder.
func homes() *formats.Registry {
	left, right := fake("left", false, nil), fake("right", true, nil)
	kinds := []formats.Kind{{Name: "sessions"}}
	left.Records.Kinds, right.Records.Kinds = kinds, kinds
	right.Home = &formats.Home{Store: func(home, cwd string) string {
		return filepath.Join(home, ".client", strings.ReplaceAll(cwd, "/", "-"))
	}}
	return formats.NewRegistry(left, right)
}

// TestOwnPlace: without a target, the store goes where the client looks, and
// the report says where that is.
func TestOwnPlace(t *testing.T) {
	dir := t.TempDir()
	src := write(t, filepath.Join(dir, "a"), leftText(3))
	o := Options{To: "right", Cwd: "/ws", Home: filepath.Join(dir, "home")}
	place := filepath.Join(dir, "home", ".client", "-ws")
	leavesNothing(t, dir, func() {
		dry := o
		dry.DryRun = true
		if rep := must(t, homes(), src, "", dry); rep.Target != place || rep.Placed {
			t.Errorf("a dry run names %s, placed %v", rep.Target, rep.Placed)
		}
	})
	if rep := must(t, homes(), src, "", o); rep.Target != place || !rep.Placed {
		t.Errorf("placed %v at %s, want %s", rep.Placed, rep.Target, place)
	}
	if _, err := os.Stat(filepath.Join(place, "rows.txt")); err != nil {
		t.Error(err)
	}
	leavesNothing(t, dir, func() {
		_, err := Convert(t.Context(), homes(), src, "", o)
		if !errors.Is(err, formats.ErrExists) || !strings.Contains(formats.Hint(err), "-ws.bak-1") {
			t.Errorf("a second store for the same folder: %v, hint %q", err, formats.Hint(err))
		}
	})
	elsewhere := filepath.Join(dir, "elsewhere")
	if rep := must(t, homes(), src, elsewhere, o); rep.Target != elsewhere {
		t.Errorf("with a target of its own it went to %s", rep.Target)
	}
}

// TestNoPlace: what there is no one place for is refused with words on what to
// do, and nothing appears.
func TestNoPlace(t *testing.T) {
	dir := t.TempDir()
	src := write(t, filepath.Join(dir, "a"), leftText(3))
	write(t, filepath.Join(dir, "many", "a"), leftText(3))
	write(t, filepath.Join(dir, "many", "b"), leftText(3))
	place := Options{Cwd: "/ws", Home: filepath.Join(dir, "home")}
	to := func(name string) Options {
		o := place
		o.To = name
		return o
	}
	leavesNothing(t, dir, func() {
		for _, c := range []struct {
			src  string
			o    Options
			want string
		}{
			{src, place, "target format unknown"},
			{src, to("left"), "left: no default location"},
			{filepath.Join(dir, "many"), to("right"), "a folder of stores"},
			{filepath.Join(dir, "none"), to("right"), "no such file"},
			{src, Options{To: "right"}, "empty target name"},
		} {
			_, err := Convert(t.Context(), homes(), c.src, "", c.o)
			if err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("%s: %v, want %q", c.src, err, c.want)
			}
			if c.o.Cwd != "" && formats.Hint(err) == "" && !errors.Is(err, fs.ErrNotExist) {
				t.Errorf("%v: no hint", err)
			}
		}
	})
}
