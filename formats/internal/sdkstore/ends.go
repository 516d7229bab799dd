package sdkstore

import (
	"bytes"

	"rehome/formats/internal/sdkdoc"
	"rehome/formats/loss"
	"rehome/formats/store"
)

// endsSet is the sidecar item of a file that ends lines in CRLF: which of them, as runs
// ("1:12 0:3" is twelve that do and three that do not). Git rewrites whole
// files so, thus it is one item a file, and no line differs for its sake.
const endsSet = "ends"

// ends are the line ends of one file.
type ends struct {
	runs   []run // group is 1 for CRLF
	at     int   // of runs
	within int   // of runs[at]
	lines  int
}

func (e *ends) enter(style int) {
	if n := len(e.runs); n > 0 && e.runs[n-1].group == style {
		e.runs[n-1].lines++
		return
	}
	e.runs = append(e.runs, run{style, 1})
}

// plain are ends that a writer of lines makes anyway.
func (e *ends) plain() bool { return len(e.runs) == 0 || len(e.runs) == 1 && e.runs[0].group == 0 }

// next reports whether the next line ends in CRLF. Where all did, those that
// came later do, too.
func (e *ends) next() bool {
	e.lines++
	if len(e.runs) == 1 {
		return e.runs[0].group == 1
	}
	for e.at < len(e.runs) && e.within == e.runs[e.at].lines {
		e.at, e.within = e.at+1, 0
	}
	if e.at == len(e.runs) {
		return false
	}
	e.within++
	return e.runs[e.at].group == 1
}

// strayed reports ends that were told of more lines, or of fewer.
func (e *ends) strayed() bool {
	n := 0
	for _, r := range e.runs {
		n += r.lines
	}
	return len(e.runs) > 1 && n != e.lines
}

// bareEnd takes the line's end off. A last line without one is all text.
func (w *builder) bareEnd(k sdkdoc.Kind, c store.Cell) store.Cell {
	if c.Class != store.Text {
		return c
	}
	if text, crlf := bytes.CutSuffix(c.Bytes(), []byte("\r")); crlf {
		w.ends[k].enter(1)
		return store.TextCell(text)
	}
	w.ends[k].enter(0)
	return c
}

// tellEnds keeps the line ends of files that have their own.
func (w *builder) tellEnds() {
	for i := range w.ends {
		e, k := &w.ends[i], sdkdoc.Kind(i)
		if e.plain() {
			continue
		}
		w.note(loss.LinesCRLF, store.Addr{File: k.File()})
		var text []byte
		for _, r := range e.runs {
			text = appendRun(text, r)
		}
		w.keep(store.SidecarItem{At: store.Addr{File: k.File(), Set: endsSet}, Row: []store.Cell{store.TextCell(text)}})
	}
}
