package store

import (
	"bytes"
	"fmt"
	"math"
)

// Class is the storage class of a cell, as in SQLite.
type Class uint8

// The storage classes. Withheld is not one of SQLite's: it replaces a secret that
// was left out.
const (
	Null Class = iota
	Int
	Real
	Text
	Blob
	Withheld
)

var classNames = [...]string{"null", "integer", "real", "text", "blob", "withheld"}

func (c Class) String() string {
	if int(c) < len(classNames) {
		return classNames[c]
	}
	return fmt.Sprintf("class(%d)", uint8(c))
}

// Cell is one value with its storage class. The bytes of a Text or Blob cell
// belong to the batch it came from and must not be changed or kept.
//
// Text is bytes, not characters: SQLite accepts invalid UTF-8 and NUL. Text of a
// UTF-16 database is converted to UTF-8, with lone surrogates in their three-byte
// form (WTF-8).
type Cell struct {
	Class Class
	bits  uint64
	raw   []byte
}

// NullCell returns a NULL cell.
func NullCell() Cell { return Cell{} }

// IntCell returns an integer cell.
func IntCell(v int64) Cell { return Cell{Class: Int, bits: uint64(v)} }

// RealCell returns a floating-point cell. It keeps -0.0 and infinities.
func RealCell(v float64) Cell { return Cell{Class: Real, bits: math.Float64bits(v)} }

// TextCell returns a text cell. The text need not be valid UTF-8.
func TextCell(b []byte) Cell { return Cell{Class: Text, raw: b} }

// BlobCell returns a blob cell. An empty blob is not NULL.
func BlobCell(b []byte) Cell { return Cell{Class: Blob, raw: b} }

// WithBytes returns a cell of other bytes: a blob if c is one, else a text.
func (c Cell) WithBytes(b []byte) Cell {
	if c.Class == Blob {
		return BlobCell(b)
	}
	return TextCell(b)
}

// WithheldCell returns the cell that replaces a secret.
func WithheldCell() Cell { return Cell{Class: Withheld} }

// BitsCell returns a Null, Int, Real or Withheld cell from the result of Bits.
func BitsCell(c Class, bits uint64) Cell { return Cell{Class: c, bits: bits} }

// Int returns the value of an Int cell.
func (c Cell) Int() int64 { return int64(c.bits) }

// Real returns the value of a Real cell.
func (c Cell) Real() float64 { return math.Float64frombits(c.bits) }

// Bytes returns the content of a Text or Blob cell, nil for the others.
func (c Cell) Bytes() []byte { return c.raw }

// Equal reports whether two cells have the same class and the same bits and bytes.
func (c Cell) Equal(o Cell) bool {
	return c.Class == o.Class && c.Bits() == o.Bits() && bytes.Equal(c.raw, o.raw)
}

// Clone returns a copy of the cell that owns its bytes.
func (c Cell) Clone() Cell {
	c.raw = bytes.Clone(c.raw)
	return c
}

// Bits returns the 64 bits of an Int or Real cell, and the length of a Text or Blob.
func (c Cell) Bits() uint64 {
	if c.Class == Text || c.Class == Blob {
		return uint64(len(c.raw))
	}
	return c.bits
}
