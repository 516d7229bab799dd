package session

import "sync"

// Books are the accounts of decoding one store. They balance when everything
// read was claimed, carried as it is, superseded or noted as unreadable.
type Books struct {
	mu sync.Mutex
	Tally
}

// Tally is what Books count.
type Tally struct {
	Read       int64 // records that the store holds
	Claimed    int64 // of these: understood
	Opaque     int64 // carried raw in Extras or Opaque parts
	Superseded int64 // older states and what only they refer to, see Selection.History
	Unreadable int64 // noted as lost: not understood, or left out

	Members int64 // members, columns and fields seen in the claimed records
	Taken   int64 // of these: understood
	Extras  int64 // carried raw
}

// Add enters what was counted. It may be called from several goroutines, and
// on nil Books.
func (b *Books) Add(t Tally) {
	if b == nil {
		return
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	b.Tally.Add(t)
}

// Add adds what else was counted.
func (t *Tally) Add(o Tally) {
	t.Read += o.Read
	t.Claimed += o.Claimed
	t.Opaque += o.Opaque
	t.Superseded += o.Superseded
	t.Unreadable += o.Unreadable
	t.Members += o.Members
	t.Taken += o.Taken
	t.Extras += o.Extras
}

// Total is what has been entered.
func (b *Books) Total() Tally {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.Tally
}

// Balanced reports whether everything read is accounted for.
func (t Tally) Balanced() bool {
	return t.Read == t.Claimed+t.Opaque+t.Superseded+t.Unreadable && t.Members == t.Taken+t.Extras
}
