package cursorndjson

import (
	"slices"

	"rehome/formats"
	"rehome/formats/internal/sdkdoc"
	"rehome/formats/loss"
	"rehome/formats/store"
)

// sidecar passes on the items of the sidecar, which are not part of the lines: those of
// withheld secrets to View.OnOmit, and those for databases to View.OnLeftover. It
// reports the items that do not apply. agents is the number of lines of agents.
func (s *scan) sidecar(agents int64) {
	for i := range s.view.Sidecar {
		it := s.view.Sidecar[i]
		withheld := sdkdoc.IsOmission(&it)
		_, lines := sdkdoc.KindOf(it.At.File) // true in the sidecar of databases: restored in lines made of their rows
		switch {
		case withheld && it.At.File == sdkdoc.Agent.File() && int64(it.At.Line) > agents:
			s.note(loss.Loss{Code: loss.StaleGone, At: it.At})
		case withheld && s.view.Secrets == formats.OmitWithheld && s.view.OnOmit != nil:
			s.view.OnOmit(it)
		case !withheld && lines:
			s.note(loss.Loss{Code: loss.StaleDatabase, At: it.At})
		case s.view.OnLeftover == nil:
		case s.view.Secrets == formats.WithholdSecrets && holds(&it):
			s.note(loss.Loss{Code: loss.SidecarWithSecret, At: it.At})
		default:
			s.view.OnLeftover(it)
		}
	}
}

// holds reports whether an item may hold a secret.
func holds(it *store.SidecarItem) bool {
	return len(it.Inserts) > 0 || slices.ContainsFunc(it.Row, func(c store.Cell) bool { return sdkdoc.HoldsSecret(c.Bytes()) })
}
