package sdkstore

import (
	"cmp"
	"slices"
	"strings"

	"rehome/formats"
	"rehome/formats/internal/sdkdoc"
	"rehome/formats/loss"
	"rehome/formats/store"
)

// stale names what of a plan found no place: cells of lines that did not come,
// rows of tables and databases that were not made.
func (p *plan) stale(note loss.Sink) {
	for _, it := range p.superseded {
		note(loss.Loss{Code: loss.StaleEdited, At: it.At})
	}
	bases := make([]*base, 0, len(p.bases))
	for _, b := range p.bases {
		bases = append(bases, b)
	}
	slices.SortFunc(bases, func(a, b *base) int { return strings.Compare(a.path, b.path) })
	for _, b := range bases {
		var left []*store.SidecarItem
		if !b.made {
			left = b.items
		} else {
			for _, lines := range b.cells {
				for _, items := range lines {
					left = append(left, items...)
				}
			}
			for _, loose := range b.loose {
				for _, items := range loose {
					left = append(left, items...)
				}
			}
			for _, items := range b.rows {
				left = append(left, items...)
			}
		}
		slices.SortStableFunc(left, byPlace)
		code := loss.StaleGone
		if p.elsewhere(b.path) {
			code = loss.StaleForeign
		}
		for _, it := range left {
			note(loss.Loss{Code: code, At: it.At})
		}
	}
}

// elsewhere reports a place in another state root than the plan's.
func (p *plan) elsewhere(at string) bool {
	for i := range at {
		if root := at[:i+1]; at[i] == '/' && root != p.root && p.bases[root+IndexName] != nil {
			return true
		}
	}
	return !strings.HasPrefix(at, p.root)
}

func byPlace(a, b *store.SidecarItem) int {
	return cmp.Or(cmp.Compare(a.At.Set, b.At.Set), cmp.Compare(a.At.Line, b.At.Line), cmp.Compare(a.At.RowID, b.At.RowID), cmp.Compare(a.Column, b.Column))
}

// foreign notes sidecar items of databases that no line can be made of. Lists of
// what stayed home are no part of it: databases lack that anyway.
func (s *docScan) foreign(residue []store.SidecarItem) {
	for i := range residue {
		it := &residue[i]
		withheld := slices.ContainsFunc(it.Row, func(c store.Cell) bool { return c.Class == store.Withheld })
		switch _, lines := sdkdoc.KindOf(it.At.File); {
		case len(it.Row) == 0 || withheld || sdkdoc.IsOmission(it):
		case !lines:
			s.note(loss.Loss{Code: loss.StaleForeign, At: it.At})
		case !known(it):
			s.note(loss.Loss{Code: loss.StaleUnknown, At: it.At})
		}
	}
}

// stillBare tells of the secrets that the databases lack because they were made of text
// without them, so that their text is the same again.
func (s *docScan) stillBare() {
	if s.view.Secrets != formats.WithholdSecrets {
		return
	}
	for _, it := range s.view.Sidecar {
		line := it.At.Line > 0 && it.At.File == sdkdoc.Agent.File() && it.At.Line <= len(s.agents)
		if it.At.Line == 0 {
			it.At.File = s.Root + Rootless(it.At.File)
		}
		if sdkdoc.IsOmission(&it) && !s.bare[it.At.String()] && (line || slices.Contains(s.Stores, it.At.File)) {
			s.leftover(it)
		}
	}
}

// known reports sidecar items of lines that newPutBack takes in.
func known(it *store.SidecarItem) bool {
	first := it.Row[0].Class
	if first != store.Text && first != store.Blob || len(it.Row) > 2 {
		return false
	}
	switch it.At.Set {
	case "":
		return it.Digest != store.Digest{} || len(it.Row) == 1
	case endsSet:
		return parseRuns(it.Row[0].Bytes(), 2) != nil
	}
	return it.At.Set == orderSet && it.At.File == sdkdoc.Checkpoint.File()
}

// spent notes what was put back only in part, or not at all, once all lines
// are made.
func (s *docScan) spent() {
	s.foreign(s.view.Sidecar)
	s.stillBare()
	s.back.stale(s.note)
	for k := range s.back.ends {
		if s.back.ends[k].strayed() {
			at := store.Addr{File: sdkdoc.Kind(k).File(), Set: endsSet}
			s.note(loss.Loss{Code: loss.StaleLineEnds, At: at})
		}
	}
}
