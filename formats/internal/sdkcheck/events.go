package sdkcheck

import (
	"crypto/sha256"
	"strconv"

	"rehome/formats/rule"
	"rehome/formats/store"
)

// Event is one event's document, as far as several of them matter to one
// another. What it holds is looked at while PutEvent runs.
type Event struct {
	Run       []byte
	Seq       int64
	Offset    []byte
	HasOffset bool
	Key       []byte // nil of none
	At        store.Addr
}

// eventKey tells idempotency keys apart.
type eventKey [16]byte

// PutEvent enters an event.
func (c *Catalog) PutEvent(e Event) {
	r := c.last
	if r == nil || r.ID != string(e.Run) {
		if r = c.runs[string(e.Run)]; r == nil {
			r = &run{at: e.At}
			r.ID = string(e.Run)
			c.runs[r.ID] = r
		}
		c.last = r
	}
	if !c.q.Enabled(rule.References) {
		return
	}
	var space [24]byte
	if e.HasOffset && string(strconv.AppendInt(space[:0], e.Seq, 10)) != string(e.Offset) {
		c.q.Report(rule.Finding{Rule: "RH317", At: e.At, Pointer: c.Places.Offset, Message: "%q of event %d", Args: []any{rule.Clip(string(e.Offset)), e.Seq}})
	}
	switch twice, behind := r.events.Add(e.Seq); {
	case twice:
		c.q.Report(rule.Finding{Rule: "RH318", At: e.At, Pointer: c.Places.Seq, Message: "%d of run %q", Args: []any{e.Seq, rule.Clip(r.ID)}})
	case behind:
		c.q.Report(rule.Finding{Rule: "RH319", At: e.At, Pointer: c.Places.Seq, Message: "%d of run %q", Args: []any{e.Seq, rule.Clip(r.ID)}})
	}
	if e.Key != nil {
		c.key(&e)
	}
}

func (c *Catalog) key(e *Event) {
	sum := sha256.Sum256(append(append(append([]byte(nil), e.Run...), 0), e.Key...))
	k := eventKey(sum[:16])
	if _, there := c.keys[k]; there {
		c.q.Report(rule.Finding{Rule: "RH320", At: e.At, Pointer: c.Places.Key, Message: "%q", Args: []any{rule.Clip(string(e.Key))}})
	}
	c.keys[k] = struct{}{}
}
