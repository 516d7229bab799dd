package rowtext

import (
	"bytes"
	"encoding/base64"
	"encoding/hex"
	"math"
	"strconv"
	"unicode/utf8"

	"rehome/formats/store"
	"rehome/internal/rawjson"
)

const withheld = `{"withheld":true}`

// Append appends record i of the batch as a line without its line end.
func Append(dst []byte, b *store.Batch, i int, rowids bool) []byte {
	return AppendWith(dst, b, i, rowids, -1, store.Cell{})
}

// AppendWith appends record i with another cell in one column.
func AppendWith(dst []byte, b *store.Batch, i int, rowids bool, column int, cell store.Cell) []byte {
	dst = append(dst, '[')
	if rowids {
		dst = strconv.AppendInt(dst, b.RowID(i), 10)
	}
	for col := range b.Width() {
		if col > 0 || rowids {
			dst = append(dst, ',')
		}
		if col == column {
			dst = AppendCell(dst, cell)
		} else {
			dst = AppendCell(dst, b.Cell(i, col))
		}
	}
	return append(dst, ']')
}

// AppendCell appends one cell.
func AppendCell(dst []byte, c store.Cell) []byte {
	switch c.Class {
	case store.Int:
		return strconv.AppendInt(dst, c.Int(), 10)
	case store.Real:
		return appendReal(dst, c.Real())
	case store.Text:
		return appendText(dst, c.Bytes())
	case store.Blob:
		if inline(c.Bytes()) {
			return wrap(dst, `{"blob":`, c.Bytes())
		}
		return append64(dst, `{"blob64":"`, c.Bytes())
	case store.Withheld:
		return append(dst, withheld...)
	}
	return append(dst, "null"...)
}

func appendReal(dst []byte, f float64) []byte {
	switch {
	case math.IsInf(f, 1):
		return append(dst, `{"real":"inf"}`...)
	case math.IsInf(f, -1):
		return append(dst, `{"real":"-inf"}`...)
	}
	from := len(dst)
	dst = strconv.AppendFloat(dst, f, 'g', -1, 64)
	if !bytes.ContainsAny(dst[from:], ".e") {
		dst = append(dst, ".0"...) // 1 is an integer, 1.0 is not
	}
	return dst
}

func appendText(dst, text []byte) []byte {
	switch {
	case inline(text):
		return wrap(dst, `{"text":`, text)
	case !utf8.Valid(text):
		return append64(dst, `{"text64":"`, text)
	}
	if raw := unhex(text); raw != nil {
		return wrap(dst, `{"hex":`, raw)
	}
	return rawjson.Quote(dst, text)
}

// inline looks at both ends before it looks at everything.
func inline(b []byte) bool {
	if len(b) < 2 {
		return false
	}
	first, last := b[0], b[len(b)-1]
	return (first == '{' && last == '}' || first == '[' && last == ']') && rawjson.Inline(b)
}

// unhex returns the JSON that text is the lower-case hex of, or nil. The meta
// row of a store.db is such a cell.
func unhex(text []byte) []byte {
	if len(text) < 4 || len(text)%2 != 0 || text[1] != 'b' || text[0] != '7' && text[0] != '5' {
		return nil
	}
	raw := make([]byte, len(text)/2)
	if _, err := hex.Decode(raw, text); err != nil || bytes.ContainsAny(text, "ABCDEF") || !inline(raw) {
		return nil
	}
	return raw
}

func wrap(dst []byte, open string, raw []byte) []byte {
	dst = append(dst, open...)
	dst = append(dst, raw...)
	return append(dst, '}')
}

func append64(dst []byte, open string, raw []byte) []byte {
	dst = append(dst, open...)
	dst = base64.StdEncoding.AppendEncode(dst, raw)
	return append(dst, `"}`...)
}
