package session

import "testing"

func TestWantsSorted(t *testing.T) {
	for _, c := range []struct {
		sel  Selection
		id   string
		want bool
	}{
		{Selection{}, "x", true}, {Selection{Sorted: true}, "x", true},
		{Selection{IDs: []string{"b", "a"}}, "a", true}, {Selection{IDs: []string{"b", "a"}}, "c", false},
		{Selection{IDs: []string{"a", "b"}, Sorted: true}, "a", true}, {Selection{IDs: []string{"a", "b"}, Sorted: true}, "aa", false}, {Selection{IDs: []string{"a", "b"}, Sorted: true}, "b", true},
	} {
		if got := c.sel.Includes(c.id); got != c.want {
			t.Errorf("%+v wants %s: %v", c.sel, c.id, got)
		}
	}
}
