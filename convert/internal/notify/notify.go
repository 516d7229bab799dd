// Package notify passes on the progress and the remarks of a run, one at a time.
package notify

import "sync"

// Progress is the progress of a conversion, check or search.
type Progress struct {
	Stage              string // "reading", "checking", "syncing", "searching", "writing"
	Store              string // the store last worked on
	Done, Total        int64  // bytes; Total 0 = unknown
	Stores, StoresDone int
}

// The stages of a conversion, in order, and those of a search and a merge.
const (
	Reading   = "reading"
	Checking  = "checking"
	Syncing   = "syncing"
	Searching = "searching"
	Writing   = "writing"
)

// Notifier passes on progress and remarks, one at a time.
type Notifier struct {
	mu         sync.Mutex
	OnProgress func(Progress)
	OnNotice   func(string)
	Current    Progress
}

// Say passes on a remark.
func (t *Notifier) Say(s string) {
	if t.OnNotice == nil {
		return
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	t.OnNotice(s)
}

// Update calls f to change the progress, and passes it on.
func (t *Notifier) Update(f func(p *Progress)) {
	if t.OnProgress == nil {
		return
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	f(&t.Current)
	shown := t.Current
	// Sizes on disk only estimate what will be read: a compressed source holds
	// more. A wrong total is worse than none.
	if shown.Done > shown.Total {
		shown.Total = 0
	}
	t.OnProgress(shown)
}

// Begin begins a stage.
func (t *Notifier) Begin(stage, store string, total int64) {
	t.Update(func(p *Progress) { p.Stage, p.Store, p.Done, p.Total = stage, store, 0, total })
}

// Add adds bytes of a store to what is done.
func (t *Notifier) Add(store string, n int) {
	t.Update(func(p *Progress) { p.Store = store; p.Done += int64(n) })
}
