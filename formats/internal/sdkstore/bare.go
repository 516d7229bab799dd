package sdkstore

import (
	"rehome/formats"
	"rehome/formats/internal/sdkdoc"
	"rehome/formats/internal/secret"
	"rehome/formats/loss"
	"rehome/formats/store"
)

// bareLeftover is the last gate before the sidecar, which is text for git: whatever
// a row, a schema or a stray file may be, no secret passes. What cannot be cut
// cleanly is withheld whole.
func bareLeftover(keep func(store.SidecarItem)) func(store.SidecarItem) {
	return func(it store.SidecarItem) {
		for i, c := range it.Row {
			if c.Class == store.Text || c.Class == store.Blob {
				it.Row[i] = bareCell(c, it.At.Set == SchemaSet)
			}
		}
		keep(it)
	}
}

// bareCell is a cell without its secrets. A schema that so much as names one is
// withheld: a default value may hold it.
func bareCell(c store.Cell, schema bool) store.Cell {
	if schema && secret.Suspect(c.Bytes()) {
		return store.NullCell() // as if the database were the SDK's own
	}
	text, cut, torn := sdkdoc.Bare(c.Bytes(), true)
	switch {
	case cut && !torn:
		return c.WithBytes(text)
	case torn || sdkdoc.HoldsSecret(c.Bytes()):
		return store.WithheldCell()
	}
	return c
}

// bareLine leaves the secrets of a line out that comes from a sidecar, not from
// a row. false means that nothing is left of it: it was the last, and torn.
func (s *docScan) bareLine(set, line int, c store.Cell) (store.Cell, bool) {
	if s.view.Secrets != formats.WithholdSecrets {
		return c, true
	}
	text, cuts, torn := secret.Strip(c.Bytes())
	if !torn && cuts == nil {
		return c, true
	}
	at := store.Addr{File: sdkdoc.Kind(set).File(), Line: line}
	s.note(loss.Loss{Code: loss.SecretInLine, At: at, Args: []string{"blobEncryptionKey"}})
	s.leftover(sdkdoc.Omission(at, 0))
	if !torn {
		return c.WithBytes(text), true
	}
	return store.TextCell(nil), c.Class != store.Blob
}
