package convert

import "sync"

// Progress is how far a conversion is.
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

// talker passes progress and remarks on, one at a time.
type talker struct {
	mu       sync.Mutex
	progress func(Progress)
	say      func(string)
	at       Progress
}

// Say passes on a remark.
func (t *talker) Say(s string) {
	if t.say == nil {
		return
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	t.say(s)
}

// Change lets the caller move the progress on.
func (t *talker) change(f func(p *Progress)) {
	if t.progress == nil {
		return
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	f(&t.at)
	shown := t.at
	// Sizes on disk are a guess at what will be read: a compressed source
	// holds more. A wrong total is worse than none.
	if shown.Done > shown.Total {
		shown.Total = 0
	}
	t.progress(shown)
}

// enter begins a stage.
func (t *talker) enter(stage, store string, total int64) {
	t.change(func(p *Progress) { p.Stage, p.Store, p.Done, p.Total = stage, store, 0, total })
}

func (t *talker) add(store string, n int) {
	t.change(func(p *Progress) { p.Store = store; p.Done += int64(n) })
}
