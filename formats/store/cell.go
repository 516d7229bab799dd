package store

import (
	"bytes"
	"fmt"
	"math"
)

// Class is the storage class of a cell, as SQLite would name it.
type Class uint8

// The storage classes. Withheld is not one of SQLite's: it stands where a
// secret stood that was left at home.
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
// Text is bytes, not characters: SQLite stores invalid UTF-8 and NUL without
// complaint. Text of a UTF-16 database is held as UTF-8, a lone surrogate as
// its three-byte (WTF-8) form.
type Cell struct {
	Class Class
	bits  uint64
	raw   []byte
}

// NullCell is SQL NULL.
func NullCell() Cell { return Cell{} }

// IntCell is a 64-bit integer.
func IntCell(v int64) Cell { return Cell{Class: Int, bits: uint64(v)} }

// RealCell is a double. Its bits are kept: -0.0 and the infinities survive.
func RealCell(v float64) Cell { return Cell{Class: Real, bits: math.Float64bits(v)} }

// TextCell is text, valid UTF-8 or not.
func TextCell(b []byte) Cell { return Cell{Class: Text, raw: b} }

// BlobCell is bytes. An empty blob is not NULL.
func BlobCell(b []byte) Cell { return Cell{Class: Blob, raw: b} }

// WithheldCell marks a cell whose value was a secret.
func WithheldCell() Cell { return Cell{Class: Withheld} }

// BitsCell is a cell without bytes, from what Bits gave.
func BitsCell(c Class, bits uint64) Cell { return Cell{Class: c, bits: bits} }

// Int is the value of an Int cell.
func (c Cell) Int() int64 { return int64(c.bits) }

// Real is the value of a Real cell.
func (c Cell) Real() float64 { return math.Float64frombits(c.bits) }

// Bytes are the content of a Text or Blob cell; nil for the others.
func (c Cell) Bytes() []byte { return c.raw }

// Clone is a cell that may be kept.
func (c Cell) Clone() Cell {
	c.raw = bytes.Clone(c.raw)
	return c
}

// Bits are the 64 bits of an Int or Real cell, the length of a Text or Blob.
func (c Cell) Bits() uint64 {
	if c.Class == Text || c.Class == Blob {
		return uint64(len(c.raw))
	}
	return c.bits
}
