package cli

import (
	"bytes"
	"fmt"
	"strings"
	"testing"

	"rehome/cmd/internal/screen"
	"rehome/convert"
)

// TestManySets: of a store with many tables only the first are listed, and the others
// counted; one too many is listed.
func TestManySets(t *testing.T) {
	for n, want := range map[int]int{1: 1, maxSets: maxSets, maxSets + 1: maxSets + 1, maxSets + 2: maxSets, 3 * maxSets: maxSets} {
		s := &convert.StoreReport{}
		for i := range n {
			s.Sets = append(s.Sets, convert.SetReport{Table: fmt.Sprintf("table%d.", i)})
		}
		var out bytes.Buffer
		p := screen.NewPage(&out, false)
		convertResult{Report: &convert.Report{}}.single(p, s)
		if got := strings.Count(out.String(), "table"); got != want {
			t.Errorf("%d of %d tables are listed, want %d:\n%s", got, n, want, out.String())
		}
		if more := fmt.Sprintf("%d more", n-want); strings.Contains(out.String(), more) != (n > want) {
			t.Errorf("%d of %d tables: %q is missing or not true:\n%s", want, n, more, out.String())
		}
	}
}
