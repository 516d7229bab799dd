package tables

import "rehome/formats/session"

// startTurn begins the row of the turn that a message starts.
func (b *builder) startTurn(m *session.Message) {
	t := m.Turn
	row := &Turn{
		Origin: b.origin(m.Origin), Turn: int64(t.Number), Branch: m.Branch, TurnID: t.ID, RequestID: t.RequestID,
		Kind: t.Kind, Model: t.Model, Mode: t.Mode, Status: t.Status, Error: t.Error,
	}
	row.StartedAt, row.EndedAt = b.time(t.Start, &row.TimesInferred), b.time(t.End, &row.TimesInferred)
	row.DurationMS = between(row.StartedAt, row.EndedAt)
	if u := t.Usage; u != nil {
		row.InputTokens, row.OutputTokens, row.CacheReadTokens = count(u.Input), count(u.Output), count(u.CacheRead)
		row.CacheWriteTokens, row.ReasoningTokens, row.TotalTokens = count(u.CacheWrite), count(u.Reasoning), count(u.Total)
		addCount(&b.head.InputTokens, row.InputTokens)
		addCount(&b.head.OutputTokens, row.OutputTokens)
	}
	b.head.Turns++
	b.turn = row
}

// endTurn adds the row of the current turn.
func (b *builder) endTurn() error {
	row := b.turn
	if b.turn = nil; row == nil {
		return nil
	}
	return put(b, b.turns, row)
}

// count returns nil for a count that the source does not state.
func count(n int64) *int64 {
	if n < 0 {
		return nil
	}
	return &n
}

// addCount adds to a sum, which is nil without any count. It stays at its maximum.
func addCount(sum **int64, n *int64) {
	switch {
	case n == nil:
	case *sum == nil:
		first := *n
		*sum = &first
	default:
		if **sum += *n; **sum < 0 {
			**sum = 1<<63 - 1
		}
	}
}

// The first and the last time that all readers of Parquet can show: those of the years 1
// and 9999.
const (
	minTime = -62135596800000
	maxTime = 253402300799999
)

// time returns a time in milliseconds, nil if it is not known. It sets inferred if the
// store does not state it.
func (b *builder) time(s session.Stamp, inferred *bool) *int64 {
	ms := s.Millis()
	switch {
	case !s.Known():
		return nil
	case ms < minTime || ms > maxTime:
		b.head.InvalidTimes++
		return nil
	}
	*inferred = *inferred || s.Inferred()
	return &ms
}

// between returns the time from start to end, nil if it is not known.
func between(start, end *int64) *int64 {
	if start == nil || end == nil || *end < *start {
		return nil
	}
	d := *end - *start
	return &d
}

// extras returns how much of a record is carried raw.
func extras(r session.Record) int64 {
	var c extraCounter
	session.Visit(r, &c)
	return c.n
}

// extraCounter is a Visitor that counts extras.
type extraCounter struct{ n int64 }

// Required looks for extras in the value of a member.
func (c *extraCounter) Required(_ string, value any) {
	switch v := value.(type) {
	case *[]session.Extra:
		c.n += int64(len(*v))
	case *[]session.Part:
		for _, p := range *v {
			session.Visit(p, c)
		}
	case session.Object:
		if one := v.Get(); one != nil {
			session.Visit(one, c)
		}
	case session.Objects:
		for i := range v.Len() {
			session.Visit(v.At(i), c)
		}
	}
}

// Optional is Required.
func (c *extraCounter) Optional(name string, value any) { c.Required(name, value) }
