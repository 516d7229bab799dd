package merge

import (
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"rehome/formats/all"
)

// TestBase: what only one of two sources changed since the base is as it is there, also
// if it has less now or is gone. What both changed is merged as without a base.
func TestBase(t *testing.T) {
	for name, c := range clients() {
		say := func(p person, n int, words ...string) {
			for _, w := range words {
				c.say(p, c.id(n), fmt.Sprint(w, n))
			}
		}
		remove := func(p person, n int) {
			maps.DeleteFunc(p, func(file, _ string) bool { return strings.Contains(file, c.id(n)) })
		}
		base := person{}
		for n := range 6 {
			say(base, n, "base", "secret")
		}
		a, b := base.clone(), base.clone()
		remove(a, 1) // removed in one source
		remove(a, 2) // redacted in one source
		say(a, 2, "base")
		remove(a, 3) // removed here, continued there
		say(b, 3, "right")
		say(b, 4, "right")
		remove(a, 5) // redacted here, continued there: both stay
		say(a, 5, "base", "left")
		say(b, 5, "right")
		run := func(sources ...person) person {
			t.Helper()
			out := filepath.Join(t.TempDir(), "out")
			if _, err := Run(t.Context(), all.Registry(), []string{sources[0].save(t), sources[1].save(t)}, out, Options{Base: base.save(t)}); err != nil {
				t.Fatal(name, err)
			}
			return tree(t, out)
		}
		got := run(a, b)
		same(t, name+": the other order", run(b, a), got)
		words := said(got)
		slices.Sort(words)
		if want := []string{"base0 secret0", "base2", "base3 secret3 right3", "base4 secret4 right4", "base5 left5", "base5 secret5 right5"}; !slices.Equal(words, want) {
			t.Errorf("%s: %q", name, words)
		}
	}
}
