package secret

import (
	"strings"
	"testing"

	"rehome/formats"
	"rehome/formats/loss"
	"rehome/formats/store"
)

// Rows of tables without row ids go back before the one that followed them,
// whatever the order of their index is.
func TestResidueWithoutRowIDs(t *testing.T) {
	row := func(key, value string) []store.Cell { return []store.Cell{text(key), text(value)} }
	item := func(key string, next []store.Cell) store.SidecarItem {
		it := store.SidecarItem{At: store.Addr{File: "state.vscdb", Set: "ItemTable"}, Row: []store.Cell{text(key), store.WithheldCell()}}
		if next != nil {
			it.Digest = rowDigest(next)
		}
		return it
	}
	b, a := row("b", "1"), row("a", "2")
	for name, c := range map[string]struct {
		residue []store.SidecarItem
		now     [][]store.Cell
		want    string
		stale   int
	}{
		"in order":        {[]store.SidecarItem{item("s1", b), item("s3", a), item("s2", a), item("s4", nil)}, [][]store.Cell{b, a}, "s1 b s3 s2 a s4", 0},
		"the same twice":  {[]store.SidecarItem{item("s1", b), item("s1", b), item("s1", nil)}, [][]store.Cell{b, a}, "s1 b a", 2},
		"there again":     {[]store.SidecarItem{item("s1", a), item("s2", nil)}, [][]store.Cell{b, row("s1", "new"), a, row("s2", "new")}, "b s1 a s2", 2},
		"edited behind":   {[]store.SidecarItem{item("s1", b)}, [][]store.Cell{row("b", "edited"), a}, "b a", 1},
		"nothing is left": {[]store.SidecarItem{item("s1", b), item("s2", nil)}, nil, "s2", 1},
	} {
		for step := 1; step < 4; step++ {
			now := tableOf("ItemTable", "key value", c.now...)
			now.RowIDs, now.ids = false, make([]int64, len(c.now))
			got := scan([]table{now}, formats.WithholdSecrets, c.residue, step)
			var keys []string
			for _, row := range got.tables[0].rows {
				keys = append(keys, string(row[0].Bytes()))
			}
			if s := strings.Join(keys, " "); s != c.want || strings.Count(got.books(), string(loss.StaleEdited)) != c.stale {
				t.Errorf("%s: %s, %q, want %s and %d stale", name, s, got.books(), c.want, c.stale)
			}
		}
	}
}

// Files of a text split a table by owner: what follows in the next file is no
// neighbor.
func TestBreak(t *testing.T) {
	var told []store.SidecarItem
	f := NewFilter(&store.Schema{Sets: []store.Set{{Name: "t", Columns: []string{"key", "v"}}}}, formats.View{Secrets: formats.OmitWithheld, OnOmit: func(it store.SidecarItem) { told = append(told, it) }})
	give := func(key string, v store.Cell) {
		b := store.NewBatch(0, 2)
		addRow(b, 0, []store.Cell{text(key), v})
		f.Apply(b).Release()
	}
	give("a", store.WithheldCell())
	f.Break(0)
	give("b", store.WithheldCell())
	give("c", text("x"))
	if len(told) != 2 || told[0].Digest != (store.Digest{}) || told[1].Digest != rowDigest([]store.Cell{text("c"), text("x")}) {
		t.Errorf("told %+v", told)
	}
}
