package diff

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"rehome/formats"
	"rehome/formats/store"
)

// scan reads the records of a store, again and again.
type scan struct {
	r     store.Reader
	base  string // see files
	sets  map[string]*set
	order []string
	n     int
}

// set are the digests of one table or file.
type set struct {
	store.Set
	name    string
	keys    []string // in order
	digests map[string]digest
}

func (s *set) lines() []string {
	out := make([]string, len(s.keys))
	for i, k := range s.keys {
		d := s.digests[k]
		out[i] = string(d[:])
	}
	return out
}

// names returns the names of all sets, those of the first scan first.
func (s *scan) names(o *scan) []string {
	out := slices.Clone(s.order)
	for _, name := range o.order {
		if s.sets[name] == nil {
			out = append(out, name)
		}
	}
	return out
}

// record is a row, or a line of a file.
type record struct {
	*set
	key   string // unique in the set
	rowID int64
	cells []store.Cell
}

// at returns the address of a record.
func (r *record) at() string {
	a := store.Addr{File: r.File, Set: r.Name, Key: r.cells[0]}
	switch {
	case r.Kind != store.Table:
		a.Line, _ = strconv.Atoi(r.key)
		a.Key = store.NullCell()
	case r.RowIDs:
		a.RowID, a.HasID = r.rowID, true
	}
	return a.String()
}

// maxPiece is the max size of a line of a file that is compared as one.
const maxPiece = 16 << 20

// each calls f for each record: rows of tables and lines of files.
func (s *scan) each(ctx context.Context, f func(*set, *record) error) error {
	seen, rest, last := map[string]int{}, []byte(nil), (*set)(nil)
	number := 0
	line := func(one *set, text []byte) error {
		number++
		return f(one, &record{set: one, key: strconv.Itoa(number), cells: []store.Cell{store.TextCell(text)}})
	}
	flush := func() error {
		if last == nil || last.Kind != store.Plain || len(rest) == 0 {
			return nil
		}
		err := line(last, rest)
		rest = rest[:0]
		return err
	}
	err := store.EachRow(s.r.Batches(ctx), func(b *store.Batch, i int) error {
		one := s.set(s.r.Schema(), b.Set)
		if one != last {
			if err := flush(); err != nil {
				return err
			}
			last, number = one, 0
			clear(seen)
		}
		switch {
		case one.Kind == store.Lines:
			return line(one, b.Cell(i, 0).Bytes())
		case one.Kind == store.Plain:
			for text := range bytes.Lines(b.Cell(i, 0).Bytes()) {
				if rest = append(rest, text...); rest[len(rest)-1] != '\n' && len(rest) < maxPiece {
					continue
				}
				if err := flush(); err != nil {
					return err
				}
			}
			return nil
		}
		rec := &record{set: one, rowID: b.RowID(i)}
		for c := range b.Width() {
			rec.cells = append(rec.cells, b.Cell(i, c))
		}
		if len(rec.cells) == 0 {
			rec.cells = []store.Cell{store.NullCell()}
		}
		if rec.key = strconv.FormatInt(rec.rowID, 10); !one.RowIDs {
			d := cellsDigest(rec.cells[:1])
			seen[string(d[:])]++
			rec.key = fmt.Sprintf("%x#%d", d, seen[string(d[:])])
		}
		return f(one, rec)
	})
	if err != nil {
		return err
	}
	return flush()
}

func (s *scan) set(schema *store.Schema, n int) *set {
	of := schema.Sets[n]
	name := strings.TrimPrefix(of.File, s.base) + "\x00" + of.Name
	if of.Kind == store.Table && len(schema.Databases) == 1 {
		name = of.Name // a folder with a database, or the database itself
	}
	if s.sets[name] == nil {
		s.sets[name] = &set{Set: of, name: name, digests: map[string]digest{}}
		s.order = append(s.order, name)
	}
	return s.sets[name]
}

// note keeps the digest of a record.
func (s *scan) note(one *set, r *record) error {
	if s.n++; s.n > maxRecords {
		return &formats.Error{At: one.File, Err: fmt.Errorf("more than %d records", maxRecords), Hint: "omit --exact to compare sessions"}
	}
	one.keys = append(one.keys, r.key)
	one.digests[r.key] = cellsDigest(r.cells)
	return nil
}

func cellsDigest(cells []store.Cell) (d digest) {
	h := sha256.New()
	var head [9]byte
	for _, c := range cells {
		head[0] = byte(c.Class)
		binary.LittleEndian.PutUint64(head[1:], c.Bits())
		h.Write(head[:])
		h.Write(c.Bytes())
	}
	copy(d[:], h.Sum(nil))
	return d
}

// fields returns the cells of a record as text, and their classes as After. Long values
// take from what is left.
func (r *record) fields(left *int) (out []Field) {
	for i, c := range r.cells {
		name := "line"
		if r.Kind == store.Table && i < len(r.Columns) {
			name = r.Columns[i]
		}
		out = append(out, Field{name, cellText(c, left), c.Class.String()})
	}
	return out
}

func cellText(c store.Cell, left *int) string {
	b := c.Bytes()
	switch c.Class {
	case store.Null:
		return "NULL"
	case store.Withheld:
		return "(withheld)"
	case store.Int:
		return strconv.FormatInt(c.Int(), 10)
	case store.Real:
		return strconv.FormatFloat(c.Real(), 'g', -1, 64)
	case store.Text, store.Blob: // which can hold text, too
		if n := len(b); isText(c.Class, b) && n <= max(maxCell, min(maxText, *left)) {
			if n > maxCell {
				*left -= n
			}
			return string(b)
		}
	}
	return summary(c.Class.String(), b)
}

// isText reports whether a value can be shown as it is.
func isText(class store.Class, b []byte) bool {
	return utf8.Valid(b) && (class == store.Text || !bytes.ContainsFunc(b, func(r rune) bool { return unicode.IsControl(r) && r != '\n' && r != '\t' }))
}

// summary stands for a value that is not shown.
func summary(class string, b []byte) string {
	sum := sha256.Sum256(b)
	return fmt.Sprintf("%s of %d bytes, sha256 %x…", class, len(b), sum[:8])
}

// short returns a value as it is shown.
func short(s string) string {
	if len(s) > maxCell {
		return summary("text", []byte(s))
	}
	return strings.TrimSuffix(s, "\n")
}

// sided returns the cells of a record that only one side has.
func sided(cells []Field, side int) Fields {
	for i, f := range cells {
		if cells[i] = (Field{f.Name, short(f.Before), ""}); side == 1 {
			cells[i] = Field{f.Name, "", short(f.Before)}
		}
	}
	return Fields{List: cells}
}

// differing compares the cells of two records: JSON by its members.
func differing(a, b []Field) (out Fields) {
	for i := range max(len(a), len(b)) {
		var x, y Field
		if i < len(a) {
			x = a[i]
		}
		if i < len(b) {
			y = b[i]
		}
		name := first(y.Name, x.Name)
		if x.Before == y.Before {
			if x.After != y.After { // the class: 1 and 1.0, or NULL and the text "NULL"
				out.List = append(out.List, Field{name, x.Before + " (" + x.After + ")", y.Before + " (" + y.After + ")"})
			}
			continue
		}
		var in Fields
		if a, b := unhex(x.Before), unhex(y.Before); open(a) != nil && open(b) != nil {
			in = members(a, b)
		}
		if len(in.List) == 0 {
			in.List = []Field{{"", x.Before, y.Before}}
		}
		out.More += in.More
		for _, f := range in.List {
			if f.Before, f.After = short(f.Before), short(f.After); f.Before == f.After {
				f = Field{"end", lineEnd(x.Before), lineEnd(y.Before)}
			}
			out.List = append(out.List, Field{strings.TrimSuffix(name+"."+f.Name, "."), f.Before, f.After})
		}
	}
	return out
}

// unhex returns the JSON that a value is, or that it spells in hexadecimal as the Cursor CLI
// does.
func unhex(s string) []byte {
	if b, err := hex.DecodeString(s); err == nil {
		return b
	}
	return []byte(s)
}

// lineEnd names the end of a line that says the same as another one.
func lineEnd(s string) string {
	if strings.HasSuffix(s, "\n") {
		return "newline"
	}
	return "none"
}

func sortedKeys(a, b map[string]string) []string {
	all := maps.Clone(a)
	maps.Copy(all, b)
	return slices.Sorted(maps.Keys(all))
}
