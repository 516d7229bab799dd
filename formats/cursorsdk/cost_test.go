package cursorsdk

import (
	"fmt"
	"hash/maphash"
	"slices"
	"testing"

	"rehome/formats"
	"rehome/formats/internal/sdkdoc"
	"rehome/formats/internal/sdksession"
	"rehome/formats/internal/sqlitestore"
	"rehome/formats/store"
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
			files = append(files, sqlitestore.File{Path: fmt.Sprintf("%s/r%d/%s", rootsName, i, storePath(id))})
		}
		return testing.AllocsPerRun(1, func() {
			d := &decoder{ctx: t.Context(), index: index, stores: map[string]sqlitestore.File{}}
			if err := d.owners(files); err != nil || len(d.shelves) != n {
				t.Error(len(d.shelves), err)
			}
		})
	}
	if small, large := measure(300), measure(2400); large > 10*small {
		t.Errorf("%v allocations, and %v for eight times as much", small, large)
	}
}

// TestNamesThatBeginAlike: ids that strangers chose are told apart as others are.
func TestNamesThatBeginAlike(t *testing.T) {
	s := &blobShelf{seed: maphash.MakeSeed()}
	d := &decoder{view: formats.View{}}
	for i := range 5000 {
		s.blob(d, store.Addr{}, store.TextCell(fmt.Appendf(nil, "%064x", i)), store.BlobCell([]byte("x")))
	}
	slices.SortFunc(s.list, func(a, b mark) int { return int(a.offset - b.offset) })
	most, same := 0, map[uint64]int{}
	for _, m := range s.list {
		same[m.name]++
		most = max(most, same[m.name])
	}
	if len(s.list) != 5000 || most > 2 {
		t.Errorf("%d names, %d of them alike", len(s.list), most)
	}
}
