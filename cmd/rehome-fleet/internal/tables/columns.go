package tables

import (
	"encoding/binary"
	"hash/maphash"
	"reflect"
	"strings"
	"unicode/utf8"
)

// columns are the columns of a table: the fields of its rows.
type columns struct {
	list []column
}

// column is one column.
type column struct {
	name    string
	index   []int
	kind    reflect.Type
	private bool   // it can hold what somebody wrote, or a path
	bare    string // what else of it is in tables without text: id, name, model, or own for all
	doc     string
	tag     string // what the library makes of it
}

// given reports whether a column identifies the session of a row.
func (c *column) given() bool {
	return c.name == "machine" || c.name == "unit_id" || c.name == "session_id"
}

// columnsOf returns the columns of the rows of a table.
func columnsOf[R any]() *columns {
	c := &columns{}
	for _, f := range reflect.VisibleFields(reflect.TypeFor[R]()) {
		if f.Anonymous {
			continue
		}
		tag := f.Tag.Get("parquet")
		name, _, _ := strings.Cut(tag, ",")
		_, private := f.Tag.Lookup("private")
		c.list = append(c.list, column{name, f.Index, f.Type, private, f.Tag.Get("bare"), f.Tag.Get("doc"), tag})
	}
	return c
}

// boundless returns the paths of the columns without bounds in the footer: the library
// keeps both bounds of a row group in full, which for texts is as much as the texts.
func (c *columns) boundless() (out [][]string) {
	for i := range c.list {
		one := &c.list[i]
		switch {
		case one.given() || one.name == "agent":
		case one.kind.Kind() == reflect.String:
			out = append(out, []string{one.name})
		case one.kind.Kind() == reflect.Slice:
			out = append(out, []string{one.name, "list", "element"})
		}
	}
	return out
}

// clean repairs the strings of a row, and clears what is private if noText. It returns
// the size of the row, and the number of strings that it repaired.
func (c *columns) clean(row any, noText bool) (size int, repaired int64) {
	v := reflect.ValueOf(row).Elem()
	size = 8 * len(c.list)
	for i := range c.list {
		one := &c.list[i]
		f := v.FieldByIndex(one.index)
		if noText && one.private {
			f.SetZero()
			continue
		}
		switch one.kind.Kind() {
		case reflect.String:
			s := f.String()
			if !utf8.ValidString(s) {
				s = repair(s)
				f.SetString(s)
				repaired++
			}
			if noText {
				s = one.withoutText(s)
				f.SetString(s)
			}
			size += len(s)
		case reflect.Slice:
			list := f.Interface().([]string)
			for k, s := range list {
				if !utf8.ValidString(s) {
					list[k] = repair(s)
					repaired++
				}
				size += len(s)
			}
		}
	}
	return size, repaired
}

// repair replaces each lone surrogate and each other invalid byte by U+FFFD.
func repair(s string) string {
	var b strings.Builder
	b.Grow(len(s))
	for i := 0; i < len(s); {
		r, n := utf8.DecodeRuneInString(s[i:])
		if r == utf8.RuneError && n == 1 && len(s)-i > 2 && s[i] == 0xed && s[i+1]&0xe0 == 0xa0 && s[i+2]&0xc0 == 0x80 {
			n = 3
		}
		b.WriteRune(r)
		i += n
	}
	return b.String()
}

// withoutText returns what of a value is in tables without text.
func (c *column) withoutText(s string) string {
	switch c.bare {
	case "own": // or an id of a session, see builder.sessionID
		return s
	case "name":
		return nameOf(s)
	case "model":
		return modelOf(s)
	case "id":
		if isID(s) {
			return s
		}
	}
	return ""
}

// digest is a digest of rows in their order, for comparisons within this process.
type digest struct{ hash *maphash.Hash }

func newDigest(seed maphash.Seed) digest {
	d := digest{new(maphash.Hash)}
	d.hash.SetSeed(seed)
	return d
}

// add adds a row.
func (d digest) add(c *columns, row any) {
	v := reflect.ValueOf(row).Elem()
	for i := range c.list {
		switch f := v.FieldByIndex(c.list[i].index); f.Kind() {
		case reflect.String:
			d.text(f.String())
		case reflect.Slice:
			list := f.Interface().([]string)
			d.number(uint64(len(list)))
			for _, s := range list {
				d.text(s)
			}
		case reflect.Pointer:
			if f.IsNil() {
				d.hash.WriteByte(0)
				continue
			}
			d.hash.WriteByte(1)
			d.scalar(f.Elem())
		default:
			d.scalar(f)
		}
	}
}

func (d digest) scalar(f reflect.Value) {
	switch {
	case f.Kind() != reflect.Bool:
		d.number(uint64(f.Int()))
	case f.Bool():
		d.number(1)
	default:
		d.number(0)
	}
}

func (d digest) text(s string) {
	d.number(uint64(len(s)))
	d.hash.WriteString(s)
}

func (d digest) number(n uint64) {
	var b [8]byte
	binary.LittleEndian.PutUint64(b[:], n)
	d.hash.Write(b[:])
}

func (d digest) equal(other digest) bool { return d.hash.Sum64() == other.hash.Sum64() }
