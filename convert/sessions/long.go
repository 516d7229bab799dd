package sessions

import (
	"cmp"
	"context"
	"slices"
	"strings"

	"rehome/convert/internal/walk"
	"rehome/convert/internal/workers"
	"rehome/formats"
	"rehome/formats/session"
)

// Measure decodes some sessions to find out their turns, and the first prompts of
// those without a title. It skips what is known, too large or unreadable.
func Measure(ctx context.Context, list []*Listed, o Options) {
	l := &lister{ctx: ctx, o: o, out: &Listing{}}
	stores := map[string]int64{} // sizes of stores that do not tell the sizes of their sessions
	l.decode(slices.DeleteFunc(slices.Clone(list), func(s *Listed) bool {
		if known := s.Turns >= 0 && s.Title != ""; known || s.Bytes >= 0 {
			return known || s.Bytes > maxMeasured
		}
		at := s.Sources[0].Path
		if loc, err := formats.Locate(at); err == nil && stores[at] == 0 {
			stores[at] = walk.Size(loc)
		}
		return stores[at] > maxMeasuredStore
	}))
}

// The sizes of the largest session that Measure reads, and of the largest store
// that does not tell them. All that fit on a screen take a fraction of a second.
const (
	maxMeasured      = 512 << 10
	maxMeasuredStore = 64 << 20
)

// decodeLong decodes the sessions whose heads do not give the number of turns or the
// size.
func (l *lister) decodeLong() {
	var list []*Listed
	for i := range l.out.Sessions {
		if s := &l.out.Sessions[i]; s.Turns < 0 || s.Bytes < 0 {
			list = append(list, s)
		}
	}
	l.decode(list)
	slices.SortStableFunc(l.unread, func(a, b numberedUnread) int { return a.number - b.number })
	l.out.Unread = l.out.Unread[:0]
	for _, u := range l.unread {
		l.out.Unread = append(l.out.Unread, u.Unread)
	}
}

// decode decodes sessions. It opens each store once.
func (l *lister) decode(list []*Listed) {
	wanting := map[int][]*Listed{}
	var order []int
	for _, s := range list {
		from := s.Sources[0]
		if from.format.Sessions == nil {
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
		h, prompt := countSession(t)
		if s := byID[t.ID]; s != nil {
			fillHead(&s.Head, &h)
			s.Prompt = listTitle(prompt)
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
// not have it; and its first prompt.
func countSession(t *session.Session) (h session.Head, prompt string) {
	h = t.Head
	turns, bytes := int64(0), int64(0)
	var line []byte
	if t.Messages != nil {
		for m, err := range t.Messages {
			if err != nil {
				return h, prompt
			}
			if m.Turn != nil {
				turns++
				prompt = cmp.Or(prompt, textOf(m))
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
	return h, prompt
}

// textOf returns the first text of a message, "" if it has none.
func textOf(m *session.Message) string {
	for _, p := range m.Parts {
		if t, ok := p.(*session.Text); ok && strings.TrimSpace(t.Text) != "" {
			return t.Text
		}
	}
	return ""
}
