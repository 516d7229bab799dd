package diff

import (
	"bytes"
	"slices"

	"rehome/formats/store"
	"rehome/internal/udiff"
)

// edit is a record that differs.
type edit struct {
	key   [2]string // "" if the side does not have it
	cells [2][]Field
	where [2]string
}

// rows returns the edit as one change, or as two if the lines are of different things.
func (e *edit) rows() (out []Row) {
	if e.key[0] != "" && e.key[1] != "" && !unlike(e.cells[0], e.cells[1]) {
		return []Row{{first(e.where[1], e.where[0]), "changed", differing(e.cells[0], e.cells[1])}}
	}
	for side, change := range []string{"removed", "added"} {
		if e.key[side] != "" {
			out = append(out, Row{e.where[side], change, sided(e.cells[side], side)})
		}
	}
	return out
}

// unlike reports whether two lines are JSON and name themselves differently.
func unlike(a, b []Field) bool {
	if len(a) != 1 || len(b) != 1 || a[0].Name != "line" {
		return false
	}
	x, y := open([]byte(a[0].Before)), open([]byte(b[0].Before))
	return x != nil && y != nil && slices.ContainsFunc([]string{"type", "id", "uuid", "blob"}, func(name string) bool { return !bytes.Equal(x[name], y[name]) })
}

// edits are those of a set, in order.
type edits struct {
	list  []*edit
	byKey [2]map[string]*edit
}

// at returns the edit of a record, nil if it does not differ.
func (e *edits) at(side int, r *record) *edit {
	if e == nil {
		return nil
	}
	return e.byKey[side][r.key]
}

func (e *edits) add(a, b string) {
	one := &edit{key: [2]string{a, b}}
	for i, k := range one.key {
		if k != "" && len(e.list) < maxRows {
			e.byKey[i][k] = one
		}
	}
	e.list = append(e.list, one)
}

// compare pairs the records of two scans, set by set.
func (s *scan) compare(o *scan) map[string]*edits {
	out := map[string]*edits{}
	for _, name := range s.names(o) {
		a, b := s.sets[name], o.sets[name]
		e := &edits{byKey: [2]map[string]*edit{{}, {}}}
		out[name] = e
		switch {
		case a == nil:
			for _, k := range b.keys {
				e.add("", k)
			}
		case b == nil:
			for _, k := range a.keys {
				e.add(k, "")
			}
		case a.Kind == store.Table:
			for _, k := range a.keys {
				if d, ok := b.digests[k]; !ok {
					e.add(k, "")
				} else if d != a.digests[k] {
					e.add(k, k)
				}
			}
			for _, k := range b.keys {
				if _, ok := a.digests[k]; !ok {
					e.add("", k)
				}
			}
		default:
			for _, c := range udiff.Changes(a.lines(), b.lines()) {
				for i := range max(c.Removed, c.Added) {
					x, y := "", ""
					if i < c.Removed {
						x = a.keys[c.OldStart+i]
					}
					if i < c.Added {
						y = b.keys[c.NewStart+i]
					}
					e.add(x, y)
				}
			}
		}
	}
	return out
}
