package store

// Item is one thing a target had no room for, and where it belongs. Items are
// kept beside the target, so that the way back gives the source again.
//
// Each is guarded: Digest is over the cell as it stands in the target. Where
// that has changed since, the item is stale and is not applied.
type Item struct {
	At      Addr
	Column  int      // the cell, for Inserts
	Row     []Cell   // a whole record that was left out; its bytes are owned
	Inserts []Insert // bytes that were left out of one cell, by rising offset
	Digest  Digest
}

// Insert is bytes to put back into a cell, before the byte at Offset of the
// cell as it stands in the target.
type Insert struct {
	Offset int
	Text   string
}
