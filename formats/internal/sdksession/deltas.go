package sdksession

import "context"

// cursor is a place in the text of an item that was told delta by delta.
type cursor struct {
	sum          // of what is in front of it
	event  int32 // how many of the item's events are
	offset int   // and how many bytes of the next one's text
}

// event is what the events of an item's text are.
func (s sort) event() what {
	switch s {
	case thoughtItem:
		return thinking
	case userItem:
		return userText
	case summaryItem:
		return task
	}
	return assistantText
}

// delta is the text of the n-th event of an item, "" if that tells something
// else.
func (s *Store) delta(ctx context.Context, t *turnEvents, it *item, n int32) (string, error) {
	ev, err := s.event(ctx, t.run.events[it.first+n])
	if ev == nil || err != nil || ev.what != it.sort.event() {
		return "", err
	}
	if n == 0 {
		return ev.text[min(int(it.skip), len(ev.text)):], nil
	}
	return ev.text, nil
}

// walk moves a cursor to where as much is in front of it, blanks apart. Each
// delta is read once, and that one again in which it came to stand.
func (s *Store) walk(ctx context.Context, t *turnEvents, it *item, c *cursor, n uint64) error {
	for c.n < n && it.first+c.event <= it.last {
		text, err := s.delta(ctx, t, it, c.event)
		if err != nil {
			return err
		}
		from := c.offset
		for left := n - c.n; left > 0 && c.offset < len(text); c.offset++ {
			if counts(text[c.offset]) {
				left--
			}
		}
		c.sum = c.add(text[from:c.offset])
		if c.offset == len(text) {
			c.event, c.offset = c.event+1, 0
		}
	}
	return nil
}

// cut takes away from an item what is in front of a cursor, and as many blanks
// behind it as the other source has there.
func (s *Store) cut(ctx context.Context, t *turnEvents, it *item, c cursor, blanks int) error {
	it.sum = it.less(c.sum)
	for ; it.first+c.event <= it.last; c.event, c.offset = c.event+1, 0 {
		ev, err := s.event(ctx, t.run.events[it.first+c.event])
		if err != nil {
			return err
		}
		if ev == nil || ev.what != it.sort.event() {
			continue
		}
		text := ev.text
		if c.event == 0 {
			c.offset += int(it.skip)
		}
		for blanks > 0 && c.offset < len(text) && !counts(text[c.offset]) {
			c.offset++
			blanks--
		}
		if c.offset < len(text) {
			it.first, it.skip, it.at = it.first+c.event, int32(c.offset), ev.At
			return nil
		}
	}
	it.done = true // no more than blanks is left
	return nil
}

func blanksAtEnd(text string) (n int) {
	for n < len(text) && !counts(text[len(text)-1-n]) {
		n++
	}
	return n
}
