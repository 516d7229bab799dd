package sqlitefile

import (
	"os"
	"time"

	"rehome/formats/internal/sqlitepages"
	"rehome/formats/store"
)

// glimpse reads a value as Value does, straight from the pages that hold it: a
// small table is one page, and where that is the first page of sqlite_schema
// says. Whatever is not that plain it leaves to SQLite (ok is false): a file
// somebody writes to, tables of several pages, long values, other encodings.
func glimpse(path, table, key string) (value []byte, ok bool) {
	before, err := os.Lstat(path)
	if err != nil || !before.Mode().IsRegular() || !atRest(path, before.ModTime()) {
		return nil, false
	}
	f, err := os.Open(path)
	if err != nil {
		return nil, false
	}
	defer f.Close()
	head := make([]byte, 4096)
	n, _ := f.ReadAt(head, 0)
	m := &Image{source: &source{path: path}, File: &sqlitepages.File{Reader: f, Failed: func(err error) error { return err }}}
	if n < 512 || !IsDatabase(head) || m.measure(head[:n], before.Size()) != nil {
		return nil, false
	}
	if value, ok = m.glimpse(table, key); !ok {
		return nil, false
	}
	after, err := os.Lstat(path)
	if err != nil || after.Size() != before.Size() || !after.ModTime().Equal(before.ModTime()) || !atRest(path, after.ModTime()) || locked(path) {
		return nil, false
	}
	return value, true
}

// glimpse reads a value where table and sqlite_schema are a page each.
func (m *Image) glimpse(table, key string) (value []byte, ok bool) {
	m.Span, m.Pieces = int64(m.Page), map[int64][]byte{} // one page after another, and few
	if sqlitepages.Header(m.Head[:]).Word(56) != 1 {
		return nil, false
	}
	root := int64(0)
	if !m.leaf(1, func(r *sqlitepages.Row) bool {
		if string(r.Cell(0).Bytes()) != "table" || string(r.Cell(1).Bytes()) != table {
			return true
		}
		root = r.Cell(3).Int()
		return false
	}) || root < 2 || root > int64(m.Pages) { // SQLite says it better that there is no such table
		return nil, false
	}
	ok = true
	whole := m.leaf(uint32(root), func(r *sqlitepages.Row) bool {
		if ok = r.Len() == 2 && bytewise(r.Cell(0)); !ok || string(r.Cell(0).Bytes()) != key {
			return ok
		}
		ok, value = bytewise(r.Cell(1)), append([]byte{}, r.Cell(1).Bytes()...)
		return false
	})
	return value, ok && whole
}

// leaf calls f for each row of a table that is one page, until it has enough.
// It reports whether the page could be read so far.
func (m *Image) leaf(n uint32, f func(*sqlitepages.Row) bool) bool {
	page, err := m.View(n)
	if err != nil {
		return false
	}
	at := 0
	if n == 1 {
		at = sqlitepages.HeaderBytes
	}
	for i := range int(page[at+3])<<8 | int(page[at+4]) {
		c, ok := m.CellAt(n, page, i)
		if !ok || int64(c.Local) != c.Size || m.Row.Take(m.File, c.Payload, c.Size, c.Local, nil) != nil {
			return false
		}
		if !f(&m.Row) {
			break
		}
	}
	return page[at] == sqlitepages.LeafTable
}

func bytewise(c store.Cell) bool { return c.Class == store.Text || c.Class == store.Blob }

// atRest reports that nothing of the database is in a log, and that it has not
// been written to within what its clock can tell.
func atRest(path string, changed time.Time) bool {
	for _, end := range []string{"-wal", "-journal"} {
		if info, err := os.Lstat(path + end); err == nil && (info.Size() > 0 || !info.Mode().IsRegular()) {
			return false
		}
	}
	return time.Since(changed) > 2*time.Second
}
