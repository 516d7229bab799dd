package leaves

import (
	"iter"
	"maps"
	"path/filepath"
	"slices"
	"strconv"
	"testing"
)

// Tables returns a walk over the rows of some tables of a database, whose records say by a column
// of which session they are. A row is an object of its cells, with the name of its table.
func Tables(session map[string]string) Walk {
	return func(t testing.TB, path string, kinds []string) iter.Seq[Record] {
		return func(yield func(Record) bool) {
			for _, r := range database(t, path) {
				column, ok := session[r.table]
				if !ok {
					continue
				}
				doc := r.document()
				one := Record{At: r.table + "#" + strconv.FormatInt(r.id, 10), Group: r.text(column), Kind: kindOf(doc, kinds)}
				doc.Names, doc.Items = doc.Names[1:], doc.Items[1:]
				if one.Leaves = doc.Leaves(nil, ""); !yield(one) {
					return
				}
			}
		}
	}
}

// document is the row as an object.
func (r row) document() *Node {
	doc := &Node{Kind: '{', Names: []string{"table"}, Items: []*Node{{Kind: '"', Value: r.table}}}
	for _, column := range slices.Sorted(maps.Keys(r.cells)) {
		item, err := Parse([]byte(r.text(column)))
		if err != nil || item.Kind != '{' && item.Kind != '[' {
			item = &Node{Kind: '"', Value: r.text(column)}
		}
		doc.Names, doc.Items = append(doc.Names, column), append(doc.Items, item)
	}
	return doc
}

// RewriteTables is the Rewrite of a column with documents, in what Tables walks over.
func RewriteTables(session map[string]string, column string) Rewrite {
	return func(t testing.TB, from, dir string, kinds []string, change func(Doc)) string {
		t.Helper()
		to := filepath.Join(dir, filepath.Base(from))
		copyTo(t, from, to)
		update(t, to, func(r row) map[string]string {
			doc := r.document()
			data := doc.Member(column)
			if session[r.table] == "" || data == nil {
				return nil
			}
			change(Doc{kindOf(doc, kinds), column, data})
			return map[string]string{column: string(data.Append(nil))}
		})
		return to
	}
}
