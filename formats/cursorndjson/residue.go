package cursorndjson

import (
	"slices"

	"rehome/formats"
	"rehome/formats/internal/sdkdoc"
	"rehome/formats/loss"
	"rehome/formats/store"
)

// residue goes through what lies beside the lines. It is no part of them: what
// stayed home is said again, and the rest, which is for databases, is handed on
// to another text. agents is the number of their lines.
func (s *scan) residue(agents int64) {
	for i := range s.view.Sidecar {
		it := s.view.Sidecar[i]
		home := sdkdoc.IsOmission(&it)
		_, lines := sdkdoc.KindOf(it.At.File) // of the sidecar of databases, which is put back into the lines that are made of them
		switch {
		case home && it.At.File == sdkdoc.Agent.File() && int64(it.At.Line) > agents:
			s.note(loss.Loss{Code: loss.StaleGone, At: it.At})
		case home && s.view.Secrets == formats.OmitWithheld && s.view.OnOmit != nil:
			s.view.OnOmit(it)
		case !home && lines:
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
