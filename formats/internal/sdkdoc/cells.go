package sdkdoc

import (
	"strconv"

	"rehome/formats/store"
)

// How each sort of cell is spelled in a line.

func (w *writer) raw(s string) { w.b = append(w.b, s...) }

// text spells a cell that must be text.
func (w *writer) text(col int) {
	c := w.row[col]
	if c.Class != store.Text {
		w.lost.add(col)
		w.raw(`""`)
		return
	}
	w.string(col, c.Bytes())
}

func (w *writer) string(col int, s []byte) {
	var exact bool
	if w.b, exact = appendString(w.b, s); !exact {
		w.lost.add(col)
	}
}

// optional spells a cell that is text or NULL.
func (w *writer) optional(col int) {
	if w.row[col].Class == store.Text {
		w.text(col)
		return
	}
	if w.row[col].Class != store.Null {
		w.lost.add(col)
	}
	w.raw("null")
}

func (w *writer) int(col int) {
	c := w.row[col]
	if c.Class != store.Int {
		w.lost.add(col)
		w.raw("0")
		return
	}
	w.b = strconv.AppendInt(w.b, c.Int(), 10)
}

// status spells a status in lower case.
func (w *writer) status(col int) {
	c := w.row[col]
	var space [32]byte
	low := lower(space[:0], c.Bytes())
	if c.Class != store.Text || string(upper(nil, low)) != string(c.Bytes()) {
		w.lost.add(col)
	}
	w.string(col, low)
}

// runStatus is status, but for CREATING, which the SDK reads as running.
func (w *writer) runStatus() {
	if string(w.row[RunStatus].Bytes()) == "CREATING" {
		w.lost.add(RunStatus)
		w.raw(`"` + Running + `"`)
		return
	}
	w.status(RunStatus)
}

// time spells a time as milliseconds. What is no time reads as null, whether
// or not the column may be NULL.
func (w *writer) time(col int, null bool) {
	c := w.row[col]
	if c.Class == store.Null && null {
		w.raw("null")
		return
	}
	ms, exact, ok := int64(0), false, false
	if c.Class == store.Text {
		ms, exact, ok = parseISO(c.Bytes())
	}
	if !exact {
		w.lost.add(col)
	}
	if !ok {
		w.raw("null")
		return
	}
	w.b = strconv.AppendInt(w.b, ms, 10)
}

// json splices a cell that holds JSON, or says what stands for none.
func (w *writer) json(col int, none string) {
	c := w.row[col]
	if c.Class == store.Text && (w.sure || valid(c.Bytes())) {
		w.b = append(w.b, c.Bytes()...)
		return
	}
	w.lost.add(col)
	if c.Class == store.Text {
		if f := flat(c.Bytes()); f != nil {
			w.b = append(w.b, f...)
			return
		}
	}
	w.raw(none)
}

// nullable is json for a column where NULL, and not the word null, says that
// there is nothing.
func (w *writer) nullable(col int) {
	c := w.row[col]
	switch {
	case c.Class == store.Null:
		w.raw("null")
	case string(c.Bytes()) == "null":
		w.lost.add(col)
		w.raw("null")
	default:
		w.json(col, "null")
	}
}

// model spells a model and its parameters as one object.
func (w *writer) model() {
	if w.row[RunModel].Class != store.Text {
		for _, col := range []int{RunModel, RunParams} {
			if w.row[col].Class != store.Null {
				w.lost.add(col)
			}
		}
		w.raw("null")
		return
	}
	w.raw(`{"id":`)
	w.text(RunModel)
	if w.row[RunParams].Class != store.Null {
		w.raw(`,"params":`)
		w.params()
	}
	w.raw(`}`)
}

// params is json one level deeper: nesting that is just bearable alone would
// be too deep in its object.
func (w *writer) params() {
	c := w.row[RunParams]
	if !w.sure && !valid(append(append([]byte{'['}, c.Bytes()...), ']')) && valid(c.Bytes()) {
		w.lost.add(RunParams)
		w.raw("[]")
		return
	}
	w.json(RunParams, "[]")
}

// ref spells a reference to a checkpoint. Which kind of store it names is not
// in the document; the SDK itself reads over it.
func (w *writer) ref(col int) {
	c := w.row[col]
	if c.Class == store.Null {
		w.raw("null")
		return
	}
	id, exact := readRef(c.Bytes())
	if c.Class != store.Text || !exact {
		w.lost.add(col)
	}
	if id == nil || c.Class != store.Text {
		w.raw("null")
		return
	}
	w.raw(`{"schemaVersion":1,"rootBlobId":"`)
	w.b = append(w.b, id...)
	w.raw(`"}`)
}
