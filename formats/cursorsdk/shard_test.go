package cursorsdk

import (
	"testing"

	"rehome/formats"
	"rehome/formats/store"
)

// TestShard sees that no two agents have rows in one shard of the index, wherever the
// column with the owner is.
func TestShard(t *testing.T) {
	for _, c := range []struct {
		set     string
		columns []string
		want    formats.Shard
	}{
		{"agents", []string{"agent_id", "run_id"}, formats.Shard{Name: "x"}},
		{"runs", []string{"run_id", "agent_id"}, formats.Shard{Name: "y"}},
		{"run_events", []string{"agent_id", "run_id"}, formats.Shard{Name: "y"}},
		{"blobs", []string{"id", "data"}, formats.Shard{Name: "r-0001"}},
	} {
		b := store.NewBatch(0, 2)
		b.Row(1 << 16)
		b.AddText("x")
		b.AddText("y")
		if got := shard(&store.Set{Name: c.set, Columns: c.columns, RowIDs: true}, b.Record(0)); got != c.want {
			t.Errorf("%s: %+v, want %+v", c.set, got, c.want)
		}
	}
}
