package sdksession

import "context"

// tries looks for prompts that come again: a client whose service fails begins
// anew, and tells the prompt and all that is said once more. What a later try
// repeats is told once, and of a text that broke off the longer one.
func (s *Store) tries(ctx context.Context, t *turnEvents) error {
	first := -1
	var said []int // texts and thoughts of the tries so far, in order
	at := -1       // where in them the try at hand is; -1: in the first, or beyond what it repeats
	for i := range t.items {
		it := &t.items[i]
		switch {
		case it.sort == userItem && first < 0:
			first = i
		case it.sort == userItem && it.sum == t.items[first].sum && it.n > 0:
			it.done, at = true, 0
			t.retries++
		case first < 0 || it.sort != textItem && it.sort != thoughtItem || it.n == 0:
		case at < 0 || at == len(said):
			said, at = append(said, i), -1
		default:
			kept, err := s.again(ctx, t, said[at], i)
			if err != nil {
				return err
			}
			if kept < 0 { // it says something else from here on
				said, at = append(said[:at], i), -1
				continue
			}
			said[at] = kept
			at++
		}
	}
	return nil
}

// again drops that one of two texts that the other begins with, and gives the
// one that is kept; -1 if they differ.
func (s *Store) again(ctx context.Context, t *turnEvents, a, b int) (kept int, err error) {
	short, long := a, b
	if t.items[b].n <= t.items[a].n {
		short, long = b, a
	}
	if t.items[a].sort != t.items[b].sort {
		return -1, nil
	}
	if t.items[short].sum != t.items[long].sum {
		var c cursor
		if err := s.walk(ctx, t, &t.items[long], &c, t.items[short].n); err != nil {
			return -1, err
		}
		if c.sum != t.items[short].sum {
			return -1, nil
		}
	}
	t.items[short].done = true
	return long, nil
}
