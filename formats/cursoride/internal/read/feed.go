package read

import (
	"context"
	"sync"

	"rehome/formats/cursoride/internal/lists"
	"rehome/formats/loss"
	"rehome/formats/session"
)

// A turn is read whole before any of it is given away, for its record says what
// came at its end. One that is larger than this is read twice instead.
const (
	maxTurn    = 4 << 20
	maxBubbles = 1024
	maxAhead   = 16 << 20 // bytes of bubbles that are read ahead of the consumer
)

// batch is a turn's bubbles, or a piece of a large turn's.
type batch struct {
	run     *run
	bubbles []*bubble
	turn    *session.Turn // where a turn begins: what is known of its end
	bytes   int64
}

// piece is what is handed on: a session that begins, bubbles or messages of the
// last one, its end.
type piece struct {
	chat     *Chat
	batch    *batch
	messages []*session.Message
	bytes    int64       // of the bubbles that these were made of
	notes    []loss.Loss // of what was read for it
	err      error
	end      bool
	inner    bool // of the session only the subagents in it are wanted
}

// feed works ahead of the consumer that spells sessions and reads them again:
// one goroutine reads the database, one makes messages of what it read.
type feed struct {
	x    *Reader
	read chan piece
	out  chan piece
	stop context.CancelFunc
	done sync.WaitGroup

	mu    sync.Mutex
	room  *sync.Cond
	ahead int64
	ended bool

	begun map[*lists.Entry]bool // true: read; false: waits for its parent
	late  []*lists.Entry        // children whose parents do not say so in them
	last  bool                  // those come now
	mute  bool                  // of what is read now nobody wants to be told
	notes []loss.Loss           // of what was read since the last piece
}

func (x *Reader) feed(ctx context.Context, sel session.Selection) *feed {
	ctx, stop := context.WithCancel(ctx)
	f := &feed{x: x, read: make(chan piece, 4), out: make(chan piece, 4), stop: stop, begun: map[*lists.Entry]bool{}}
	f.room = sync.NewCond(&f.mu)
	context.AfterFunc(ctx, func() {
		f.mu.Lock()
		f.ended = true
		f.room.Broadcast()
		f.mu.Unlock()
	})
	f.done.Go(func() {
		defer close(f.read)
		f.all(ctx, sel)
	})
	f.done.Go(func() {
		defer close(f.out)
		for p := range f.read {
			if p = p.made(); !give(ctx, f.out, p) {
				return
			}
		}
	})
	return f
}

// all reads every session that is wanted.
func (f *feed) all(ctx context.Context, sel session.Selection) {
	var typed []*lists.Entry
	for e := range f.x.Order() {
		if e.Body == lists.InPrompts {
			typed = append(typed, e)
		} else if !f.family(ctx, e, sel) {
			return
		}
	}
	f.last = true
	for len(f.late) > 0 {
		e := f.late[0]
		f.late = f.late[1:]
		if !f.family(ctx, e, sel) {
			return
		}
	}
	for _, e := range typed { // all that was said has been heard
		if !f.family(ctx, e, sel) {
			return
		}
	}
}

func give(ctx context.Context, to chan piece, p piece) bool {
	select {
	case to <- p:
		return true
	case <-ctx.Done():
		return false
	}
}

// send hands on what was read; false if nobody wants it.
func (f *feed) send(ctx context.Context, p piece) bool {
	p.notes, f.notes = f.notes, nil
	if p.batch != nil {
		p.bytes = p.batch.bytes
		f.mu.Lock()
		for f.ahead > 0 && f.ahead+p.bytes > maxAhead && !f.ended {
			f.room.Wait()
		}
		f.ahead += p.bytes
		f.mu.Unlock()
	}
	return give(ctx, f.read, p)
}

// note keeps a note until the consumer is where it belongs.
func (f *feed) note(n loss.Loss) {
	if !f.mute {
		f.notes = append(f.notes, n)
	}
}

// spent gives back the room that a piece took.
func (f *feed) spent(bytes int64) {
	f.mu.Lock()
	f.ahead -= bytes
	f.room.Signal()
	f.mu.Unlock()
}

// made is a piece with messages in the place of bubbles.
func (p piece) made() piece {
	c := p.chat
	if p.inner {
		return p
	}
	if p.end && (p.err != nil && c.assembler == nil || c.Body == lists.Tombstone) {
		return p
	}
	if c.assembler == nil {
		c.assembler = &assembler{chat: c, past: c.past}
		return p
	}
	d := c.assembler
	d.sink = func(n loss.Loss) { p.notes = append(p.notes, n) }
	d.give = func(m *session.Message) { p.messages = append(p.messages, m) }
	if p.end {
		d.flush()
		d.branch = ""
		if p.err == nil {
			p.err = d.err
		}
		if p.err == nil {
			p.err = d.leftovers()
		}
		return p
	}
	if r := p.batch.run; r.name != "" && r != d.run {
		d.flush()
		p.batch.turn = d.enter(r, p.batch.turn)
	}
	if p.batch.turn != nil {
		d.flush() // it belongs to the turn in front
		d.turn = p.batch.turn
	}
	for _, b := range p.batch.bubbles {
		c.count(b.row)
		d.take(b)
	}
	p.batch = nil
	return p
}

// family reads a session and those it started. Many parents and children are
// named in the sessions' own records alone, so that the order is found on the
// way; false if nobody wants more.
func (f *feed) family(ctx context.Context, e *lists.Entry, sel session.Selection) bool {
	for list := []*lists.Entry{e}; len(list) > 0; {
		e := list[len(list)-1]
		list = list[:len(list)-1]
		if f.begun[e] || !f.x.Maybe(e) {
			continue
		}
		if !sel.Includes(e.ID) {
			if f.x.seek && !f.searchChildren(ctx, e) || f.x.seen != nil && !f.scanOnly(ctx, e) {
				return false
			}
			continue
		}
		had := len(f.notes)
		c, err := f.x.Prepare(ctx, e, f.note)
		of := f.x.ByID[e.Parent.Session]
		if _, waited := f.begun[e]; err == nil && of != nil && of != e && e.Body != lists.Tombstone && !f.begun[of] && !waited && sel.Includes(of.ID) {
			f.begun[e] = false
			f.notes = f.notes[:had]
			list = append(list, e, of)
			continue
		}
		if err == nil && of == nil && !f.last && len(sel.IDs) == 0 && (e.BestOf || e.Subagent) && e.Body != lists.Tombstone {
			f.late = append(f.late, e)
			f.notes = f.notes[:had]
			continue
		}
		f.begun[e] = true
		if !f.session(ctx, e, c, err) {
			return false
		}
		if c == nil {
			continue
		}
		for i := range c.Out.Children {
			if kid := f.x.ByID[c.Out.Children[len(c.Out.Children)-1-i].Session]; kid != nil && kid != e {
				if kid.Parent.Session == "" {
					kid.Parent.Session = e.ID
				}
				list = append(list, kid)
			}
		}
	}
	return true
}

// session reads one session; false if nobody wants more.
func (f *feed) session(ctx context.Context, e *lists.Entry, c *Chat, err error) bool {
	switch {
	case err != nil && ctx.Err() != nil:
		return false
	case err != nil:
		c = &Chat{Entry: e, x: f.x}
		c.Out.ID, c.Out.Agent, c.Out.Title = e.ID, session.CursorIDE, e.Title
		return f.send(ctx, piece{chat: c, err: err, end: true})
	case !f.x.Wanted(e):
		return true // of another workspace, as only its own record says
	case e.Body == lists.Tombstone:
		return f.send(ctx, piece{chat: c, end: true})
	case !f.send(ctx, piece{chat: c}):
		return false
	}
	err = f.turns(ctx, c, &run{headers: c.headers})
	for i := 0; i < len(c.runs) && err == nil; i++ {
		err = f.turns(ctx, c, c.runs[i])
	}
	if c.agent != nil && !c.spine {
		c.agent.stop()
		c.agent.count(&c.filled)
	}
	if ctx.Err() != nil {
		return false
	}
	return f.send(ctx, piece{chat: c, err: err, end: true})
}

func (b *batch) add(bub *bubble) {
	b.bubbles = append(b.bubbles, bub)
	b.bytes += int64(len(bub.body)) + 2048
}

// close ends the work and waits for it.
func (f *feed) close() {
	f.stop()
	f.done.Wait()
}
