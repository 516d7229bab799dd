package cursorndjson

import (
	"cmp"
	"slices"
	"strings"

	"rehome/formats"
	"rehome/formats/internal/sdkdoc"
	"rehome/formats/loss"
	"rehome/formats/store"
)

// sidecar passes on the items of the sidecar, which are not part of the lines: those of
// withheld secrets to View.OnOmit, and those for databases to View.OnLeftover. It
// reports the items that do not apply. agents is the number of lines of agents.
func (s *scan) sidecar(agents int64) {
	for _, it := range s.view.Sidecar {
		if _, line := kindOfItem(&it); it.Part == "" || !line {
			it.Part = ""
			s.item(it, agents)
		}
	}
	for _, it := range s.resolved {
		s.item(it, agents)
	}
}

func (s *scan) item(it store.SidecarItem, agents int64) {
	withheld := sdkdoc.IsOmission(&it)
	_, lines := sdkdoc.KindOf(it.At.File) // true in the sidecar of databases: restored in lines made of their rows
	switch {
	case it.At.Set == placeSet: // of the folder's lines among those of others
	case withheld && it.At.File == sdkdoc.Agent.File() && int64(it.At.Line) > agents:
		s.note(loss.Loss{Code: loss.StaleGone, At: it.At})
	case withheld && s.view.Secrets == formats.OmitWithheld && s.view.OnOmit != nil:
		s.view.OnOmit(it)
	case !withheld && lines:
		s.note(loss.Loss{Code: loss.StaleDatabase, At: it.At})
	case s.view.OnLeftover == nil:
	case s.view.Secrets == formats.WithholdSecrets && holdsSecret(&it):
		s.note(loss.Loss{Code: loss.SidecarWithSecret, At: it.At})
	default:
		s.view.OnLeftover(it)
	}
}

// holdsSecret reports whether an item may hold a secret.
func holdsSecret(it *store.SidecarItem) bool {
	return len(it.Inserts) > 0 || slices.ContainsFunc(it.Row, func(c store.Cell) bool { return sdkdoc.HoldsSecret(c.Bytes()) })
}

// kindOfItem returns the kind of lines that an item is about: it has the name of their
// file, or of the table that the lines become rows of.
func kindOfItem(it *store.SidecarItem) (k sdkdoc.Kind, line bool) {
	if k, line = sdkdoc.KindOf(it.At.File); !line {
		for k = range sdkdoc.Kind(sdkdoc.Kinds) {
			if line = strings.EqualFold(k.Table(), it.At.Set); line {
				break
			}
		}
	}
	return k, line && it.At.Line > 0
}

// deal gives each part the items about its lines, by line. Those of the whole store have
// the numbers of the joined lines.
func (s *scan) deal() {
	parts := map[string]*part{}
	for _, p := range s.parts {
		parts[p.name], p.items = p, [sdkdoc.Kinds][]store.SidecarItem{}
	}
	for _, it := range s.view.Sidecar {
		k, line := kindOfItem(&it)
		p := parts[it.Part]
		if it.Part == "" || p == nil || !line {
			continue
		}
		if it.At.Set != placeSet || len(it.Row) == 2 && it.Row[0].Class == store.Int && it.Row[1].Class == store.Int {
			p.items[k] = append(p.items[k], it)
		}
	}
	for _, p := range s.parts {
		for _, items := range p.items {
			slices.SortStableFunc(items, func(a, b store.SidecarItem) int { return cmp.Compare(a.At.Line, b.At.Line) })
		}
	}
}

// stale reports items that found no line.
func (s *scan) stale(items []store.SidecarItem) {
	for _, it := range items {
		code := loss.StaleEdited
		if it.Digest == (store.Digest{}) {
			code = loss.StaleGone
		}
		it.At.File = it.Part + "/" + it.At.File
		s.note(loss.Loss{Code: code, At: it.At})
	}
}
