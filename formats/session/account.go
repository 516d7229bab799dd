package session

import "sync"

// SharedAccount is an Account that several goroutines add to.
type SharedAccount struct {
	mu sync.Mutex
	Account
}

// Account counts what was read of a store, and what became of it. It is balanced if
// everything that was read was converted, carried raw, superseded or unreadable.
type Account struct {
	Read       int64 // records in the store
	Converted  int64 // records that were understood
	CarriedRaw int64 // records carried raw, in Extras or Opaque parts
	Superseded int64 // older states, which say nothing that the newest does not
	Unreadable int64 // records reported as a loss: not understood, or left out

	Members          int64 // members, columns and fields of the converted records
	MembersConverted int64 // members that were understood
	MembersRaw       int64 // members carried raw
}

// Add adds counts. It does nothing if a is nil.
func (a *SharedAccount) Add(more Account) {
	if a == nil {
		return
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	a.Account.Add(more)
}

// Add adds counts.
func (a *Account) Add(more Account) {
	a.Read += more.Read
	a.Converted += more.Converted
	a.CarriedRaw += more.CarriedRaw
	a.Superseded += more.Superseded
	a.Unreadable += more.Unreadable
	a.Members += more.Members
	a.MembersConverted += more.MembersConverted
	a.MembersRaw += more.MembersRaw
}

// Total returns the counts so far.
func (a *SharedAccount) Total() Account {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.Account
}

// Take returns the counts so far, and starts again.
func (a *SharedAccount) Take() Account {
	a.mu.Lock()
	defer a.mu.Unlock()
	sum := a.Account
	a.Account = Account{}
	return sum
}

// Balanced reports whether everything that was read is accounted for.
func (a Account) Balanced() bool {
	return a.Read == a.Converted+a.CarriedRaw+a.Superseded+a.Unreadable && a.Members == a.MembersConverted+a.MembersRaw
}
