package sdkstore

import (
	"cmp"
	"slices"

	"rehome/formats/internal/digest"
	"rehome/formats/internal/sdkdoc"
	"rehome/formats/internal/secret"
	"rehome/formats/loss"
	"rehome/formats/store"
)

// What a writer of databases cannot hold of lines, it tells as sidecar items of the
// four files:
//
//	a line whose row says less, or says it in another spelling: the line cut
//	around the value that its row holds anyway (two cells; one where there is
//	no such value), guarded by a digest of the row
//	a line that is no row at all: the line (one cell, no digest)
//	the order of checkpoints, where it is not agent by agent: one text
//	which lines end in CRLF, where some do: one text a file (ends.go)
//
// A cell is a Blob where the line has no line end.
const orderSet = "order"

// putBack is such items, ready to be put back while the rows are read.
type putBack struct {
	frames [sdkdoc.Kinds]map[store.Digest]*framed
	wholes [sdkdoc.Kinds][]*store.SidecarItem
	ends   [sdkdoc.Kinds]ends
	order  *store.SidecarItem
}

type framed struct {
	*store.SidecarItem
	used bool
}

func newPutBack(residue []store.SidecarItem) *putBack {
	p := &putBack{}
	for i := range residue {
		it := &residue[i]
		k, ok := sdkdoc.KindOf(it.At.File)
		switch {
		case !ok || len(it.Row) == 0 || len(it.Row) > 2 || sdkdoc.IsOmission(it):
		case it.At.Set == orderSet && k == sdkdoc.Checkpoint:
			p.order = it
		case it.At.Set == endsSet && it.Row[0].Class == store.Text:
			p.ends[k] = ends{runs: parseRuns(it.Row[0].Bytes(), 2)}
		case it.At.Set != "" || it.Row[0].Class != store.Text && it.Row[0].Class != store.Blob:
		case it.Digest != store.Digest{}:
			if p.frames[k] == nil {
				p.frames[k] = map[store.Digest]*framed{}
			}
			p.frames[k][it.Digest] = &framed{unstripped(it), false}
		default:
			p.wholes[k] = append(p.wholes[k], unstripped(it))
		}
	}
	for k := range p.wholes {
		slices.SortStableFunc(p.wholes[k], func(a, b *store.SidecarItem) int { return cmp.Compare(a.At.Line, b.At.Line) })
	}
	return p
}

// unstripped puts the secrets back that were cut out for the file.
func unstripped(it *store.SidecarItem) *store.SidecarItem {
	text, ok := secret.Unstrip(it.Row[0].Bytes(), it.Inserts)
	if len(it.Inserts) == 0 || !ok {
		return it
	}
	whole := *it
	whole.Row = []store.Cell{it.Row[0].WithBytes(text)}
	return &whole
}

// frame is what is kept of the line that became this row, nil if nothing is or
// the row is another by now.
func (p *putBack) frame(k sdkdoc.Kind, row []store.Cell) *store.SidecarItem {
	if len(p.frames[k]) == 0 {
		return nil
	}
	f := p.frames[k][rowDigest(row)]
	if f == nil || f.used {
		return nil
	}
	f.used = true
	return f.SidecarItem
}

func rowDigest(row []store.Cell) store.Digest {
	var b []byte
	for _, c := range row {
		b = appendCell(b, c)
	}
	return digest.Bytes(b)
}

// stale notes what found no row.
func (p *putBack) stale(note loss.Sink) {
	for k := range p.frames {
		var lost []*framed
		for _, f := range p.frames[k] {
			if !f.used {
				lost = append(lost, f)
			}
		}
		slices.SortFunc(lost, func(a, b *framed) int { return cmp.Compare(a.At.Line, b.At.Line) })
		for _, f := range lost {
			note(loss.Loss{Code: loss.StaleEdited, At: f.At})
		}
	}
}
