package formatstest

import "testing"

// leavesArrive: whatever is in the store is in what is decoded, or a declaration says why not.
func leavesArrive(t *testing.T, c Case, s source) {
	if c.Leaves == nil {
		return
	}
	c.Leaves.Holds(t, c.Format, s.path)
	if c.Leaves.Rewrite != nil {
		c.Leaves.HoldsChanged(t, c.Format, s.path)
	}
}

// leavesUnchanged is the same for a store as it is, without changes.
func leavesUnchanged(t *testing.T, c Case, s source) {
	text, raw := c.Leaves.Text, c.Leaves.Raw
	if c.Leaves.Holds(t, c.Format, s.path); s.Uncounted {
		c.Leaves.Text, c.Leaves.Raw = text, raw
	}
}

// declarations: each of them covers something in one of the fixtures.
func (c Case) declarations(t *testing.T) {
	if c.Leaves.Stores < len(c.Fixtures)+len(c.MoreStores) {
		return // only some of the fixtures were tested
	}
	for _, text := range c.Leaves.Unused() {
		t.Error(text)
	}
}
