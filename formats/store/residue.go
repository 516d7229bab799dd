package store

// SidecarItem is one thing a target had no room for, and where it belongs. Items are
// kept beside the target, so that the way back gives the source again.
//
// Each is guarded: Digest is over what it belongs to as it stands in the
// target. Where that has changed since, the item is stale and is not applied. A
// Row of a table without row ids belongs before the record that Digest is of,
// or, without one, behind the last.
type SidecarItem struct {
	At      Addr
	Column  int      // the cell, for Inserts and for a Row of one cell
	Row     []Cell   // a record that was left out, or what of it was; its bytes are owned
	Inserts []Insert // bytes that were left out of one cell, by rising offset
	Digest  Digest
}

// An item with both has had its secrets cut out of its Row. The Inserts serve
// the process that made it and are never written.

// Insert is bytes to put back into a cell, before the byte at Offset of the
// cell as it stands in the target.
type Insert struct {
	Offset int
	Text   string
}
