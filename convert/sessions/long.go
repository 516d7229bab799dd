package sessions

import (
	"slices"

	"rehome/convert/internal/workers"
	"rehome/formats"
	"rehome/formats/session"
)

// decodeLong decodes the sessions whose heads do not give the number of turns or the
// size. It opens each store once.
func (l *lister) decodeLong() {
	wanting := map[int][]*Listed{}
	var order []int
	for i := range l.out.Sessions {
		s := &l.out.Sessions[i]
		from := s.Sources[0]
		if s.Turns >= 0 && s.Bytes >= 0 || from.format.Sessions == nil {
			continue
		}
		if wanting[from.store] == nil {
			order = append(order, from.store)
		}
		wanting[from.store] = append(wanting[from.store], s)
	}
	workers.Run(l.ctx, workers.Count(l.o.Jobs), slices.Values(order), func(n int, _ bool) bool {
		l.measure(wanting[n])
		return false
	})
	slices.SortStableFunc(l.unread, func(a, b numberedUnread) int { return a.number - b.number })
	l.out.Unread = l.out.Unread[:0]
	for _, u := range l.unread {
		l.out.Unread = append(l.out.Unread, u.Unread)
	}
}

// measure reads some sessions of one store. What cannot be read stays unknown,
// and is listed with its reason.
func (l *lister) measure(list []*Listed) {
	from := list[0].Sources[0]
	sel := session.Selection{}
	byID := map[string]*Listed{}
	for _, s := range list {
		sel.IDs = append(sel.IDs, s.ID)
		byID[s.ID] = s
	}
	slices.Sort(sel.IDs)
	sel.Sorted = true
	loc, err := formats.Locate(from.Path)
	if err != nil {
		return // deleted in the meantime
	}
	for t, err := range from.format.Sessions.Decode(l.ctx, loc, l.view(), sel) {
		if err != nil && l.ctx.Err() == nil {
			l.addUnread(storeToRead{number: from.store, loc: loc, format: from.format, score: 100}, err)
		}
		if t == nil {
			continue
		}
		h := countSession(t)
		if s := byID[t.ID]; s != nil {
			fillHead(&s.Head, &h)
			if h.Turns >= 0 {
				s.Turns = h.Turns // what was read is more precise than the head
			}
			if s.Bytes < 0 {
				s.Bytes = h.Bytes
			}
		}
	}
}

// countSession reads a session and returns its head with the number of turns,
// which heads need not know exactly, and with its size as text if the head does
// not have it.
func countSession(t *session.Session) session.Head {
	h := t.Head
	turns, bytes := int64(0), int64(0)
	var line []byte
	if t.Messages != nil {
		for m, err := range t.Messages {
			if err != nil {
				return h
			}
			if m.Turn != nil {
				turns++
			}
			line = session.AppendMessage(line[:0], m)
			bytes += int64(len(line))
		}
	}
	if t.Messages != nil || h.Turns < 0 {
		h.Turns = turns
	}
	if h.Bytes < 0 {
		h.Bytes = bytes
	}
	return h
}
