package outline

import (
	"fmt"
	"testing"

	"rehome/formats/internal/lines"
)

// TestSteps: the live branch is found in steps as the lines are, whatever their parents.
func TestSteps(t *testing.T) {
	const line = `{"type":"user","uuid":"u%d","parentUuid":"%s","isSidechain":%v,"message":{"content":"x"}}` + "\n"
	parent := func(i int) string { return fmt.Sprintf("u%d", i) }
	for name, shape := range map[string]func(i, n int) (parent string, side bool){
		"a chain":           func(i, n int) (string, bool) { return parent(i - 1), false },
		"all reversed":      func(i, n int) (string, bool) { return parent(i + 1), false },
		"a star":            func(i, n int) (string, bool) { return parent(0), false },
		"nothing is there":  func(i, n int) (string, bool) { return "gone", false },
		"mostly sidechains": func(i, n int) (string, bool) { return "gone", i%8 != 0 },
		"there and back": func(i, n int) (string, bool) { // from the end to the start, over all that is aside
			switch {
			case i < n/4:
				return parent(n - 1 - i - 1), false
			case i < n-n/4:
				return "gone", true
			}
			return "gone", false
		},
		"sidechains of their own": func(i, n int) (string, bool) { return parent(i), true },
	} {
		steps := func(n int) int {
			var b []byte
			for i := range n {
				up, side := shape(i, n)
				b = fmt.Appendf(b, line, i, up, side)
			}
			tree, err := ReadTree(t.Context(), lines.Text(b, MaxLine), false)
			if err != nil {
				t.Fatal(err)
			}
			return tree.steps
		}
		const n = 400
		if few, many := steps(n), steps(8*n); few == 0 || few > 3*n || many > 3*8*n {
			t.Errorf("%s: %d steps for %d lines, %d for %d", name, few, n, many, 8*n)
		}
	}
}
