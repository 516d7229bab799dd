package formatstest

import (
	"encoding/json"
	"testing"
)

// numbered: the turns of a conversation are numbered 1, 2, 3 in order; those of a branch go on
// from any number.
func numbered(t *testing.T, lines []string) {
	last := map[string]int{"": 0} // by branch
	for _, line := range lines {
		var m struct {
			Branch string
			Turn   *struct{ Number int }
		}
		if err := json.Unmarshal([]byte(line), &m); err != nil || m.Turn == nil {
			continue
		}
		if before, begun := last[m.Branch]; begun && m.Turn.Number != before+1 || m.Turn.Number < 1 {
			t.Errorf("turn %d follows turn %d of branch %q", m.Turn.Number, before, m.Branch)
		}
		last[m.Branch] = m.Turn.Number
	}
}
