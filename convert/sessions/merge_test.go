package sessions

import (
	"fmt"
	"testing"

	"rehome/formats/session"
)

// TestMergingInSteps: sessions of clashing ids are told apart in steps that grow
// with their number, not with its square, whatever their folders are.
func TestMergingInSteps(t *testing.T) {
	shapes := map[string]func(i, n int) session.Head{
		"one id, many folders": func(i, _ int) session.Head { return session.Head{ID: "x", Workspace: fmt.Sprint("/w/", i)} },
		"one id, no folder":    func(int, int) session.Head { return session.Head{ID: "x"} },
		"one id, half of folders": func(i, n int) session.Head {
			if i < n/2 {
				return session.Head{ID: "x", Workspace: fmt.Sprint("/w/", i)}
			}
			return session.Head{ID: "x"}
		},
		"one id, many clients": func(i, _ int) session.Head { return session.Head{ID: "x", Agent: fmt.Sprint("a", i)} },
		"many ids":             func(i, _ int) session.Head { return session.Head{ID: fmt.Sprint(i)} },
		"two of each id": func(i, _ int) session.Head {
			return session.Head{ID: fmt.Sprint(i / 2), Workspace: []string{"/w", ""}[i%2]}
		},
	}
	for name, shape := range shapes {
		steps := func(n int) int {
			m := &merger{of: map[sameID]*duplicates{}}
			for i := range n {
				m.add(shape(i, n), Source{Path: fmt.Sprintf("/s/%d/store.db", i)})
			}
			return m.steps
		}
		if a, b := steps(2000), steps(16000); b > 10*a {
			t.Errorf("%s: %d steps for 2,000, %d for 16,000", name, a, b)
		}
	}
}
