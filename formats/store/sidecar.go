package store

// SidecarItem is something that a target cannot hold, and where it belongs. Items
// are written to the sidecar of the target, so that the way back restores the
// source exactly.
//
// Digest is the digest of what the item applies to, as it is in the target. If that
// has changed since, the item is stale and is not applied. A Row of a table without
// row ids belongs before the record with this digest, or after the last record if
// there is no digest.
type SidecarItem struct {
	Part    string // the folder inside of the store whose own sidecar holds it, and in which At is; "" is the store
	At      Addr
	Column  int      // the cell, for Inserts and for a Row of one cell
	Row     []Cell   // a record that was left out, or the cells that were; the item owns the bytes
	Inserts []Insert // bytes that were left out of one cell, in order of offset
	Digest  Digest
}

// In an item with both, the secrets were cut out of Row: Inserts holds them for the
// process that made the item, and is never written.

// Insert is text to restore in a cell, before the byte at Offset of the cell as it
// is in the target.
type Insert struct {
	Offset int
	Text   string
}
