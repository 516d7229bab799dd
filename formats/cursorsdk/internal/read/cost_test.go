package read

import (
	"fmt"
	"testing"

	"rehome/formats/cursorsdk/internal/layout"
	"rehome/formats/internal/sdkdoc"
	"rehome/formats/internal/sdksession"
	"rehome/formats/internal/sdkstore"
	"rehome/formats/internal/sqlitestore"
)

// TestCostOfOwners: to find out whose databases are takes as much for each,
// however many state roots a project has.
func TestCostOfOwners(t *testing.T) {
	measure := func(n int) float64 {
		var files []sqlitestore.File
		index := sdksession.NewIndex()
		for i := range n {
			id := fmt.Sprint("a", i)
			index.Add(sdkdoc.Agent, fmt.Appendf(nil, `{"agentId":%q}`, id), sdksession.Place{})
			files = append(files, sqlitestore.File{Path: fmt.Sprintf("%s/r%d/%s", layout.RootsName, i, sdkstore.StorePath(id))})
		}
		return testing.AllocsPerRun(1, func() {
			d := &decoder{ctx: t.Context(), Store: &sdksession.Store{Index: index}, stores: map[string]sqlitestore.File{}}
			if err := d.owners(files); err != nil || len(d.CheckpointAgents) != n {
				t.Error(len(d.CheckpointAgents), err)
			}
		})
	}
	if small, large := measure(300), measure(2400); large > 10*small {
		t.Errorf("%v allocations, and %v for eight times as much", small, large)
	}
}
