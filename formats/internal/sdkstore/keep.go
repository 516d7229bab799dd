package sdkstore

import (
	"rehome/formats/internal/sdkdoc"
	"rehome/formats/internal/secret"
	"rehome/formats/loss"
	"rehome/formats/store"
)

// keepWhole keeps a line that is no row.
func (w *builder) keepWhole(k sdkdoc.Kind, n int, c store.Cell, code loss.Code) {
	at := store.Addr{File: k.File(), Line: n}
	w.note(code, at)
	w.keep(store.SidecarItem{At: at, Row: []store.Cell{c}})
}

// keepFrame keeps what the row of a line does not say.
func (w *builder) keepFrame(k sdkdoc.Kind, n int, c store.Cell, fit sdkdoc.Fit, row []store.Cell) {
	it := store.SidecarItem{At: store.Addr{File: k.File(), Line: n}, Row: []store.Cell{c}, Digest: rowDigest(row)}
	switch fit {
	case sdkdoc.Dropped:
		w.note(loss.LineExceedsRow, it.At)
	case sdkdoc.Reshaped:
		w.note(loss.LineSpelling, it.At)
	}
	before, after, ok := w.parser.Frame()
	if ok && sameSplice(k, row, w.parser.Spliced()) && (w.WithSecrets || !suspect(k, before) && !suspect(k, after)) {
		it.Row = []store.Cell{c.WithBytes(before), store.TextCell(after)}
	}
	w.keep(it)
}

// suspect reports a piece of a line that may name a secret. In agents and runs
// nobody says anything: a name that credentials have is one there.
func suspect(k sdkdoc.Kind, text []byte) bool {
	return secret.Suspect(text) || k <= sdkdoc.Run && secret.MayName(text)
}

func sameSplice(k sdkdoc.Kind, row []store.Cell, c store.Cell) bool {
	return row[k.Spliced()].Equal(c)
}

// keep tells an item. A sidecar is text: unless secrets are wanted, they are cut
// out, and the cuts go along for as long as this process lives, so that it can
// read again what it wrote.
func (w *builder) keep(it store.SidecarItem) {
	if w.OnSidecar == nil {
		return
	}
	it.Row = owned(it.Row...)
	if !w.WithSecrets && len(it.Row) == 1 {
		text := it.Row[0].Bytes()
		k, _ := sdkdoc.KindOf(it.At.File)
		bare, cuts, torn := k.Strip(text)
		if torn {
			bare, cuts = nil, []store.Insert{{Text: string(text)}}
		}
		if cuts != nil {
			w.note(loss.LineSecretWithheld, it.At)
			it.Row[0], it.Inserts = it.Row[0].WithBytes(bare), cuts
		}
	}
	w.OnSidecar(it)
}
