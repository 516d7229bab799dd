package cursoride

import (
	"slices"
	"testing"

	"rehome/formats"
	"rehome/formats/store"
)

// TestShard sees that the rows of a composer are in shards of its own, and that only
// rows named by a hash of their value are in common ones.
func TestShard(t *testing.T) {
	const id = "aaaaaaaa-0000-4000-8000-000000000001"
	text := func(s string) store.Cell { return store.TextCell([]byte(s)) }
	for _, c := range []struct {
		set  string
		key  store.Cell
		want formats.Shard
	}{
		{"cursorDiskKV", text("composerData:" + id), formats.Shard{Name: "c-" + id}},
		{"cursorDiskKV", text("bubbleId:" + id + ":b1"), formats.Shard{Name: "c-" + id}},
		{"cursorDiskKV", text("agentKv:checkpoint:" + id), formats.Shard{Name: "c-" + id}},
		{"cursorDiskKV", text("agentKv:bubbleCheckpoint:" + id + ":b1"), formats.Shard{Name: "c-" + id}},
		{"cursorDiskKV", text("agentKv:blob:2cf24d"), formats.Shard{Name: "blob-2c", Common: true}},
		{"cursorDiskKV", store.BlobCell([]byte("composer.content.2cf24d")), formats.Shard{Name: "content-2c", Common: true}},
		{"cursorDiskKV", text("agentKv:blob:2"), formats.Shard{Name: "b-dc"}},
		{"cursorDiskKV", text("inlineDiffs"), formats.Shard{Name: "b-8c"}},
		{"cursorDiskKV", text(""), formats.Shard{Name: "b-c2"}},
		{"cursorDiskKV", store.NullCell(), formats.Shard{Name: "no-key"}},
		{"cursorDiskKV", store.IntCell(1), formats.Shard{Name: "no-key"}},
		{"composerHeaders", text(id), formats.Shard{Name: "c-" + id}},
		{"ItemTable", text("composer.composerHeaders"), formats.Shard{Name: "k-composer-composerheaders-1291cc26"}},
		{"ItemTable", text("composer.composerheaders"), formats.Shard{Name: "k-composer-composerheaders-f8101020"}},
		{"ItemTable", text("agentKv:blob:2cf24d"), formats.Shard{Name: "k-agentkv-blob-2cf24d-fd69fd12"}},
		{"ItemTable", text("../\xff\u212a/con and very much more than forty letters"), formats.Shard{Name: "k-k-con-and-very-much-more-than-fort-1bff1350"}},
		{"other", text("x"), formats.Shard{Name: "b-11"}},
	} {
		cells := []store.Cell{c.key, store.NullCell()}
		set := &store.Set{Name: c.set, Columns: []string{"key", "value"}}
		if c.set == "composerHeaders" {
			slices.Reverse(cells)
			set.Columns = []string{"value", "composerId"}
		}
		b := store.NewBatch(0, 2)
		b.Row(1)
		for _, cell := range cells {
			b.Add(cell)
		}
		if got := shard(set, b.Record(0)); got != c.want {
			t.Errorf("%s, %s: %+v, want %+v", c.set, c.key.Bytes(), got, c.want)
		}
	}
}
