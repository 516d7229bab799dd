package sdkdoc

import (
	"encoding/base64"

	"rehome/formats/store"
)

// Append appends the line of a row, without its line end. lost names the cells
// that the line would not give back as they are. The row must be Named, and
// its cells in the order of Columns.
func (k Kind) Append(dst []byte, row []store.Cell) (out []byte, lost Lost) {
	return k.append(dst, row, false, nil)
}

// append is Append; sure tells it that what is nested is known to be JSON that
// may stand in a line, and base64 is the spelling of the bytes if it is known.
func (k Kind) append(dst []byte, row []store.Cell, sure bool, base64 []byte) (out []byte, lost Lost) {
	w := writer{b: dst, row: row, sure: sure, base64: base64}
	d := kinds[k]
	for i, col := range d.of {
		form := d.columns[col].form
		if form == AsRefIfAny && row[col].Class == store.Null {
			continue
		}
		w.raw(d.heads[i])
		w.value(form, col)
	}
	w.raw(`}`)
	return w.b, w.lost
}

// writer spells one line.
type writer struct {
	b    []byte
	row  []store.Cell
	lost Lost
	sure bool

	base64 []byte
}

// value spells the value of a member.
func (w *writer) value(form Form, col int) {
	switch form {
	case AsKey, AsText, AsOffset, AsMoment:
		w.text(col)
	case AsID, AsProse:
		w.optional(col)
	case AsInteger:
		w.int(col)
	case AsStatus:
		w.status(col)
	case AsRunStatus:
		w.runStatus()
	case AsTime:
		w.time(col, false)
	case AsTimeOrNull:
		w.time(col, true)
	case AsEnd:
		w.end()
	case AsObject:
		w.json(col, "{}")
	case AsPayload:
		w.json(col, "null")
	case AsJSONOrNull:
		w.nullable(col)
	case AsModel:
		w.model()
	case AsRef, AsRefIfAny:
		w.ref(col)
	case AsBlobID:
		w.text(col)
		if blobID(w.row[col].Bytes()) != idPlain {
			w.lost.add(col)
		}
	case AsBytes:
		if w.row[col].Class != store.Blob {
			w.lost.add(col)
		}
		w.raw(`"`)
		if w.base64 != nil {
			w.b = append(w.b, w.base64...)
		} else {
			w.b = base64.StdEncoding.AppendEncode(w.b, w.row[col].Bytes())
		}
		w.raw(`"`)
	}
}

// end spells the end of a run: the cell that its status names. The others are
// not in the line.
func (w *writer) end() {
	end := endColumn(w.row[RunStatus].Bytes())
	for col := RunFinished; col <= RunExpired; col++ {
		if col != end && w.row[col].Class != store.Null {
			w.lost.add(col)
		}
	}
	if end < 0 {
		w.raw("null")
	} else {
		w.time(end, true)
	}
}
