package wire

import (
	"math"
	"strconv"
)

// appendScalar appends a number, a bool or an enum.
func (f *Field) appendScalar(dst []byte, k Kind, v uint64) []byte {
	switch k {
	case Int32:
		return strconv.AppendInt(dst, int64(v), 10)
	case Uint32:
		return strconv.AppendUint(dst, v, 10)
	case Sint32:
		return strconv.AppendInt(dst, int64(v>>1)^-int64(v&1), 10)
	case Bool:
		return strconv.AppendBool(dst, v != 0)
	case Enum:
		if n := int64(v); n == int64(int32(n)) {
			if name := f.enum.names[int32(n)]; name != "" {
				dst = append(dst, '"')
				dst = append(dst, name...)
				return append(dst, '"')
			}
		}
		return strconv.AppendInt(dst, int64(v), 10)
	case Int64:
		dst = append(dst, '"')
		dst = strconv.AppendInt(dst, int64(v), 10)
		return append(dst, '"')
	case Uint64:
		dst = append(dst, '"')
		dst = strconv.AppendUint(dst, v, 10)
		return append(dst, '"')
	case Float:
		return appendFloat(dst, float64(math.Float32frombits(uint32(v))), 32)
	}
	return appendFloat(dst, math.Float64frombits(v), 64)
}

// appendFloat appends a number in the fewest digits that parse to the same value. The three
// that JSON has no number for are strings.
func appendFloat(dst []byte, v float64, bits int) []byte {
	switch {
	case math.IsNaN(v):
		return append(dst, `"NaN"`...)
	case math.IsInf(v, 1):
		return append(dst, `"Infinity"`...)
	case math.IsInf(v, -1):
		return append(dst, `"-Infinity"`...)
	}
	form := byte('f')
	if a := math.Abs(v); a != 0 && (a < 1e-6 || a >= 1e21) {
		form = 'e'
	}
	return strconv.AppendFloat(dst, v, form, -1, bits)
}
