package read

import (
	"cmp"
	"context"

	"rehome/formats/cursoride/internal/lists"
	"rehome/formats/loss"
	"rehome/formats/session"
	"rehome/internal/rawjson"
)

// turns reads the bubbles of a run, turn by turn.
func (f *feed) turns(ctx context.Context, c *Chat, r *run) error {
	for from := 0; from < len(r.headers); {
		to := from + 1
		for to < len(r.headers) && !r.headers[to].user {
			to++
		}
		if err := f.turn(ctx, c, r, from, to); err != nil {
			return err
		}
		from = to
	}
	return nil
}

func (f *feed) turn(ctx context.Context, c *Chat, r *run, from, to int) error {
	t := &ending{}
	b := &batch{run: r, turn: &t.Turn}
	at, whole := from, true
	for ; at < to; at++ {
		bub, err := c.readOf(ctx, r, at, f.note)
		if err != nil {
			return err
		}
		t.see(bub)
		if whole && (b.bytes > maxTurn || len(b.bubbles) >= maxBubbles) {
			whole = false
			b.bubbles, b.bytes = nil, 0
		}
		if whole {
			b.add(bub)
		}
	}
	t.close(c, r.name == "" && to == len(r.headers))
	if whole {
		if err := c.supply(ctx, b); err != nil {
			return err
		}
		f.send(ctx, c, b)
		return nil
	}
	for at = from; at < to; at++ {
		bub, err := c.readOf(ctx, r, at, func(loss.Loss) {})
		if err != nil {
			return err
		}
		b.add(bub)
		if b.bytes > maxTurn/4 || len(b.bubbles) >= maxBubbles/4 || at == to-1 {
			if err := c.supply(ctx, b); err != nil {
				return err
			}
			if !f.send(ctx, c, b) {
				return ctx.Err()
			}
			b = &batch{run: r}
		}
	}
	return nil
}

// readOf reads a bubble of a run.
func (c *Chat) readOf(ctx context.Context, r *run, at int, note loss.Sink) (*bubble, error) {
	number := at
	if r.name != "" {
		number = notLive
	}
	return c.read(ctx, r.headers[at], number, note)
}

// read reads a bubble and splits it. Its own row takes precedence over what the
// session's record holds.
func (c *Chat) read(ctx context.Context, h header, at int, note loss.Sink) (*bubble, error) {
	b := &bubble{header: h, number: at}
	if c.Database != nil && h.id != "" {
		r, err := c.Database.Get(ctx, lists.DiskTable, lists.BubbleRow+c.ID+cmp.Or(h.row, ":"+h.id), note)
		if err != nil {
			return nil, err
		}
		b.addr, b.body, b.fate, b.row = r.Addr, r.Body, r.Fate, r.Fate
	}
	if b.body != nil && h.inline != nil && !says(b.body, h.inline) {
		b.other = h.inline
		note.Add(loss.Loss{Code: loss.RowCopy, At: c.addr})
	}
	if b.body == nil && h.inline != nil {
		b.addr, b.body, b.fate = c.addr, h.inline, lists.Claimed
	}
	if b.body != nil && !b.f.SplitBy(b.body, "", bubbleTable()) {
		b.body = nil
	}
	if !b.f.Stated(bubTool) {
		b.f.Set(bubTool, c.old[h.id])
	}
	c.translate(b)
	return b, nil
}

// says reports whether one bubble has all text of another.
func says(bubble, other []byte) bool {
	have := map[string]bool{}
	for text := range session.Strings(bubble) {
		have[text] = true
	}
	for text := range session.Strings(other) {
		if !have[text] {
			return false
		}
	}
	return true
}

// ending is what is known of a turn once all of it was read.
type ending struct {
	session.Turn
	in, out int64
	last    session.Stamp
}

func (t *ending) see(b *bubble) {
	if b.body == nil {
		return
	}
	in, out := b.tokens()
	t.in, t.out = t.in+in, t.out+out
	if s := b.when(); s.Known() && s.Millis() > t.last.Millis() {
		t.last = s
	}
	if s := b.done(); s.Known() && s.Millis() > t.last.Millis() {
		t.last = s
	}
	if t.RequestID == "" {
		t.RequestID = rawjson.Text(b.f.Raw(bubRequest))
	}
	if raw := b.f.Full(bubError); raw != nil {
		t.Status = "error"
		if text := errorText(raw); text != "" {
			t.Error = text
		}
	}
}

// close sets how the turn ended; the last one ended as the session did.
func (t *ending) close(c *Chat, last bool) {
	if t.in > 0 || t.out > 0 {
		u := session.UnknownUsage()
		u.Input, u.Output = t.in, t.out
		t.Usage = &u
	}
	if t.last.Known() {
		t.End = session.Inferred(t.last.Millis())
	}
	if !last || t.Status != "" {
		return
	}
	switch c.ended {
	case "completed", "done":
		t.Status = "finished"
	case "aborted":
		t.Status = "cancelled"
	case "error":
		t.Status = "error"
	case "generating":
		t.Status = "running"
	}
}
