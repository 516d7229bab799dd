package sqlitedelta

import (
	"bytes"
	"encoding/binary"
	"errors"
	"slices"

	"rehome/formats/internal/digest"
	"rehome/formats/store"
)

// magic is how an encoded mark begins; its number changes with what follows.
const magic = "rehome sqlite mark 2\n"

var errMark = errors.New("not a valid mark")

// AppendBinary encodes a mark.
func (m *Mark) AppendBinary(b []byte) ([]byte, error) {
	from := len(b)
	e := &encoder{append(b, magic...)}
	e.int(m.id.Size, m.id.Changed, int64(m.id.Inode), m.id.Status, int64(m.page), int64(m.log.Pages), int64(m.log.Sum[0]), int64(m.log.Sum[1]),
		int64(m.schema.Hi), int64(m.schema.Lo), int64(len(m.log.Frames)), int64(len(m.prints)), int64(len(m.tables)), int64(len(m.groups)))
	e.b = append(append(e.b, m.id.Head[:]...), m.log.Head[:]...)
	for _, n := range m.log.Frames {
		e.b = binary.LittleEndian.AppendUint32(e.b, n)
	}
	for i, p := range m.prints {
		e.b = binary.LittleEndian.AppendUint64(e.b, p)
		e.b = binary.LittleEndian.AppendUint32(e.b, m.use[i])
	}
	for _, name := range m.groups {
		e.int(int64(len(name)))
		e.b = append(e.b, name...)
	}
	for _, t := range m.tables {
		e.int(int64(len(t.name)), int64(t.root), int64(len(t.leaves)), int64(len(t.rows)))
		if e.b = append(e.b, t.name...); t.rowids {
			e.b = append(e.b, 1)
		} else {
			e.b = append(e.b, 0)
		}
		page, id := int64(0), int64(0)
		for _, l := range t.leaves {
			e.int(int64(l.page)-page, int64(l.rows))
			page = int64(l.page)
		}
		for _, r := range t.rows { // differences that overflow do so again on the way back
			e.int(r.id-id, int64(r.group))
			e.b = binary.LittleEndian.AppendUint64(e.b, r.sum)
			id = r.id
		}
	}
	sum := digest.Bytes(e.b[from:])
	return binary.LittleEndian.AppendUint64(binary.LittleEndian.AppendUint64(e.b, sum.Hi), sum.Lo), nil
}

type encoder struct{ b []byte }

func (e *encoder) int(list ...int64) {
	for _, n := range list {
		e.b = binary.AppendVarint(e.b, n)
	}
}

// UnmarshalBinary decodes a mark. Whatever AppendBinary did not write is an error.
func (m *Mark) UnmarshalBinary(b []byte) error {
	at := len(b) - 16
	if at < len(magic) || !bytes.HasPrefix(b, []byte(magic)) ||
		digest.Bytes(b[:at]) != (store.Digest{Hi: binary.LittleEndian.Uint64(b[at:]), Lo: binary.LittleEndian.Uint64(b[at+8:])}) {
		return errMark
	}
	d := &decoder{b: b[len(magic):at]}
	*m = Mark{}
	m.id.Size, m.id.Changed, m.id.Inode, m.id.Status, m.page = d.int(), d.int(), uint64(d.int()), d.int(), int(d.int())
	m.log.Pages, m.log.Sum = uint32(d.int()), [2]uint32{uint32(d.int()), uint32(d.int())}
	m.schema.Hi, m.schema.Lo = uint64(d.int()), uint64(d.int())
	frames, pages, tables, groups := d.count(4), d.count(12), d.count(5), d.count(1)
	copy(m.id.Head[:], d.take(len(m.id.Head)))
	copy(m.log.Head[:], d.take(len(m.log.Head)))
	for b := d.take(4 * frames); len(b) > 0; b = b[4:] {
		m.log.Frames = append(m.log.Frames, binary.LittleEndian.Uint32(b))
	}
	m.prints, m.use = make([]uint64, 0, pages), make([]uint32, 0, pages)
	for b := d.take(12 * pages); len(b) > 0; b = b[12:] {
		m.prints, m.use = append(m.prints, binary.LittleEndian.Uint64(b)), append(m.use, binary.LittleEndian.Uint32(b[8:]))
	}
	for range groups {
		m.groups = append(m.groups, string(d.take(d.count(1))))
	}
	for range tables {
		m.tables = append(m.tables, d.table())
	}
	if d.bad || len(d.b) > 0 || !m.valid() {
		*m = Mark{}
		return errMark
	}
	return nil
}

// valid reports whether all numbers in a mark are of something.
func (m *Mark) valid() bool {
	for _, u := range m.use {
		switch {
		case u&tree != 0:
			if int(u&^tree) >= len(m.tables) {
				return false
			}
		case int(u) > len(m.use) || u != 0 && m.use[u-1]&tree == 0:
			return false
		}
	}
	for _, t := range m.tables {
		rows := 0
		for _, l := range t.leaves {
			rows += int(l.rows)
		}
		if rows != len(t.rows) || slices.ContainsFunc(t.rows, func(r row) bool { return int(r.group) >= len(m.groups) }) {
			return false
		}
	}
	return true
}

type decoder struct {
	b   []byte
	bad bool
}

func (d *decoder) table() table {
	name, root, leaves, rows := d.count(1), uint32(d.int()), d.count(2), d.count(10)
	t := table{name: string(d.take(name)), root: root, leaves: make([]leaf, 0, leaves), rows: make([]row, 0, rows)}
	t.rowids = string(d.take(1)) == "\x01"
	page, id := int64(0), int64(0)
	for range leaves {
		page += d.int()
		t.leaves = append(t.leaves, leaf{uint32(page), uint32(d.int())})
	}
	for range rows {
		id += d.int()
		group := uint32(d.int())
		if b := d.take(8); b != nil {
			t.rows = append(t.rows, row{id, binary.LittleEndian.Uint64(b), group})
		}
	}
	return t
}

func (d *decoder) int() int64 {
	n, k := binary.Varint(d.b)
	if k <= 0 {
		d.bad, d.b = true, nil
		return 0
	}
	d.b = d.b[k:]
	return n
}

// count is how many things of so many bytes, at least, follow.
func (d *decoder) count(each int) int {
	n := d.int()
	if n < 0 || n > int64(len(d.b)/each) {
		d.bad, d.b = true, nil
		return 0
	}
	return int(n)
}

func (d *decoder) take(n int) []byte {
	if n > len(d.b) {
		d.bad, d.b = true, nil
		return nil
	}
	b := d.b[:n]
	d.b = d.b[n:]
	return b
}
