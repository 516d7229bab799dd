package sqlitefile

import (
	"bytes"
	"encoding/binary"
	"os"
	"time"
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
	p := pages{file: f, size: before.Size()}
	if !p.first() {
		return nil, false
	}
	root, found, ok := p.root(table)
	if !ok || !found {
		return nil, false // SQLite says it better that there is no such table
	}
	if value, ok = p.value(root, key); !ok {
		return nil, false
	}
	after, err := os.Lstat(path)
	if err != nil || after.Size() != before.Size() || !after.ModTime().Equal(before.ModTime()) || !atRest(path, after.ModTime()) {
		return nil, false
	}
	return value, true
}

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

// pages is a database file by its pages.
type pages struct {
	file   *os.File
	size   int64
	page   int64
	usable int
	head   []byte // page 1
}

// first reads the header and the page it stands on.
func (p *pages) first() bool {
	head := make([]byte, 4096)
	n, _ := p.file.ReadAt(head, 0)
	if n < 512 || !IsDatabase(head) || binary.BigEndian.Uint32(head[56:]) != 1 {
		return false
	}
	p.page = int64(binary.BigEndian.Uint16(head[16:]))
	if p.page == 1 {
		p.page = 65536
	}
	p.usable = int(p.page) - int(head[20])
	if p.page < 512 || p.page&(p.page-1) != 0 || p.usable < 480 || p.size < p.page {
		return false
	}
	if p.page <= int64(n) {
		p.head = head[:p.page]
		return true
	}
	var ok bool
	p.head, ok = p.read(1)
	return ok
}

func (p *pages) read(n int64) ([]byte, bool) {
	if n < 1 || n > p.size/p.page {
		return nil, false
	}
	b := make([]byte, p.page)
	_, err := p.file.ReadAt(b, (n-1)*p.page)
	return b, err == nil
}

// root finds a table's page in sqlite_schema: type, name, tbl_name, rootpage.
func (p *pages) root(table string) (root int64, found, ok bool) {
	ok = p.rows(p.head, 100, func(r []cellView) bool {
		if len(r) < 4 || string(r[0].bytes) != "table" || string(r[1].bytes) != table {
			return true
		}
		root, found = r[3].number, true
		return false
	})
	return root, found, ok
}

// value finds a key in a table of keys and values.
func (p *pages) value(root int64, key string) (value []byte, ok bool) {
	page, ok := p.read(root)
	if !ok || root == 1 {
		return nil, false
	}
	plain := true
	ok = p.rows(page, 0, func(r []cellView) bool {
		if len(r) != 2 || r[0].bytes == nil {
			plain = false
			return false
		}
		if string(r[0].bytes) != key {
			return true
		}
		plain = r[1].bytes != nil
		value = bytes.Clone(r[1].bytes)
		return false
	})
	return value, ok && plain
}

// cellView is a value where it lies: text and blobs as bytes, never nil, and
// integers.
type cellView struct {
	bytes  []byte
	number int64
}

// leafTable is the kind of page that holds a table's rows.
const leafTable = 0x0d

// rows calls f for each row of a leaf page until it has enough. It reports
// whether the page could be read so far.
func (p *pages) rows(page []byte, at int, f func([]cellView) bool) bool {
	if page[at] != leafTable {
		return false
	}
	count := int(binary.BigEndian.Uint16(page[at+3:]))
	if at+8+2*count > p.usable {
		return false
	}
	var row []cellView
	for i := range count {
		from := int(binary.BigEndian.Uint16(page[at+8+2*i:]))
		if from >= p.usable {
			return false
		}
		payload, ok := p.payload(page[from:p.usable])
		if !ok {
			return false
		}
		if row, ok = record(row[:0], payload); !ok {
			return false
		}
		if !f(row) {
			return true
		}
	}
	return true
}

// payload is the record of a leaf's cell, where it lies on the page whole.
func (p *pages) payload(b []byte) ([]byte, bool) {
	size, n := varint(b)
	if n == 0 {
		return nil, false
	}
	_, m := varint(b[n:]) // the row id
	if b = b[n+m:]; m == 0 || size > uint64(p.usable-35) || size > uint64(len(b)) {
		return nil, false
	}
	return b[:size], true
}

// record takes a record apart.
func record(row []cellView, b []byte) ([]cellView, bool) {
	head, n := varint(b)
	if n == 0 || head > uint64(len(b)) || head < uint64(n) {
		return nil, false
	}
	types, body := b[n:head], b[head:]
	for len(types) > 0 {
		t, n := varint(types)
		if n == 0 {
			return nil, false
		}
		types = types[n:]
		size := uint64(0)
		switch {
		case t >= 12:
			size = (t - 12) / 2
		case t < 8:
			size = [...]uint64{0, 1, 2, 3, 4, 6, 8, 8}[t]
		}
		if size > uint64(len(body)) {
			return nil, false
		}
		c := cellView{}
		switch {
		case t >= 12:
			c.bytes = body[:size:size]
		case t == 9:
			c.number = 1
		case t >= 1 && t <= 6:
			for _, x := range body[:size] {
				c.number = c.number<<8 | int64(x)
			}
		}
		row, body = append(row, c), body[size:]
	}
	return row, true
}

// varint reads SQLite's kind: seven bits a byte, the highest first, eight in
// the ninth.
func varint(b []byte) (v uint64, n int) {
	for n < len(b) {
		c := b[n]
		n++
		if n == 9 {
			return v<<8 | uint64(c), n
		}
		v = v<<7 | uint64(c&0x7f)
		if c < 0x80 {
			return v, n
		}
	}
	return 0, 0
}
