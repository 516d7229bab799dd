package session

import "sync"

// SharedAccount is the account of decoding one store, to which several goroutines
// may add. It balances when everything read was claimed, carried as it is, superseded or noted as unreadable.
type SharedAccount struct {
	mu sync.Mutex
	Account
}

// Account is what was counted.
type Account struct {
	Read       int64 // records that the store holds
	Converted  int64 // of these: understood
	CarriedRaw int64 // carried raw in Extras or Opaque parts
	Superseded int64 // older states and what only they refer to, see Selection.History
	Unreadable int64 // noted as lost: not understood, or left out

	Members          int64 // members, columns and fields seen in the claimed records
	MembersConverted int64 // of these: understood
	MembersRaw       int64 // carried raw
}

// Add enters what was counted. It may be called from several goroutines, and
// on a nil SharedAccount.
func (b *SharedAccount) Add(t Account) {
	if b == nil {
		return
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	b.Account.Add(t)
}

// Add adds what else was counted.
func (t *Account) Add(o Account) {
	t.Read += o.Read
	t.Converted += o.Converted
	t.CarriedRaw += o.CarriedRaw
	t.Superseded += o.Superseded
	t.Unreadable += o.Unreadable
	t.Members += o.Members
	t.MembersConverted += o.MembersConverted
	t.MembersRaw += o.MembersRaw
}

// Total is what has been entered.
func (b *SharedAccount) Total() Account {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.Account
}

// Balanced reports whether everything read is accounted for.
func (t Account) Balanced() bool {
	return t.Read == t.Converted+t.CarriedRaw+t.Superseded+t.Unreadable && t.Members == t.MembersConverted+t.MembersRaw
}
