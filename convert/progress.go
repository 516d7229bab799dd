package convert

import "sync"

// Progress is the progress of a conversion or check.
type Progress struct {
	Stage              string // "reading", "checking", "syncing"
	Store              string // the store last worked on
	Done, Total        int64  // bytes; Total 0 = unknown
	Stores, StoresDone int
}

// The stages, in order.
const (
	reading  = "reading"
	checking = "checking"
	syncing  = "syncing"
)

// notifier passes on progress and remarks, one at a time.
type notifier struct {
	mu       sync.Mutex
	progress func(Progress)
	say      func(string)
	current  Progress
}

// Say passes on a remark.
func (t *notifier) Say(s string) {
	if t.say == nil {
		return
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	t.say(s)
}

// update calls f to change the progress, and passes it on.
func (t *notifier) update(f func(p *Progress)) {
	if t.progress == nil {
		return
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	f(&t.current)
	shown := t.current
	// Sizes on disk only estimate what will be read: a compressed source holds
	// more. A wrong total is worse than none.
	if shown.Done > shown.Total {
		shown.Total = 0
	}
	t.progress(shown)
}

// begin begins a stage.
func (t *notifier) begin(stage, store string, total int64) {
	t.update(func(p *Progress) { p.Stage, p.Store, p.Done, p.Total = stage, store, 0, total })
}

func (t *notifier) add(store string, n int) {
	t.update(func(p *Progress) { p.Store = store; p.Done += int64(n) })
}
