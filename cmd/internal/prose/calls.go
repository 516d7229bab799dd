package prose

import (
	"bytes"
	"slices"
	"strings"

	"rehome/cmd/internal/screen"
	"rehome/formats/session"
)

// maxHeld limits the bytes of calls that wait for their results, except those
// of one message. callSize is the estimated size of a call without arguments.
const (
	maxHeld  = 1 << 20
	callSize = 4 << 10
)

// cloneCall returns a copy of a call that stays valid after its message.
func cloneCall(c *session.ToolCall) *session.ToolCall {
	k := *c
	k.ID, k.Name, k.Kind, k.Child = strings.Clone(c.ID), strings.Clone(c.Name), strings.Clone(c.Kind), strings.Clone(c.Child)
	k.Input, k.Args = bytes.Clone(asked(c)), nil
	k.Extras = nil
	return &k
}

// callQueue holds the calls that wait for their results. It looks them up by
// id, because one message can make tens of thousands of calls.
type callQueue struct {
	calls   []*session.ToolCall // nil if the result has arrived
	byID    map[string][]int    // indexes of the calls with an id
	waiting int                 // calls that are not nil
}

func (q *callQueue) put(c *session.ToolCall) {
	if q.byID == nil {
		q.byID = map[string][]int{}
	}
	q.byID[c.ID] = append(q.byID[c.ID], len(q.calls))
	q.calls, q.waiting = append(q.calls, c), q.waiting+1
}

// take removes and returns the first call with an id, or nil if none waits.
func (q *callQueue) take(id string) *session.ToolCall {
	places := q.byID[id]
	if len(places) == 0 {
		return nil
	}
	c := q.calls[places[0]]
	q.calls[places[0]], q.byID[id], q.waiting = nil, places[1:], q.waiting-1
	if len(q.calls) > 2*q.waiting+maxUnanswered { // drop the nils, which pile up in a long turn
		old := q.calls
		*q = callQueue{}
		for _, c := range old {
			if c != nil {
				q.put(c)
			}
		}
	}
	return c
}

// result prints a call with its result. Results may arrive in any order.
func (w *walker) result(r *session.ToolResult) {
	w.sawResult = true
	call := &session.ToolCall{ID: r.Call, Name: strings.TrimSpace("result " + r.Call)}
	if c := w.pending.take(r.Call); c != nil {
		w.heldBytes -= len(c.Args) + len(c.Input) + callSize
		w.showCall(c, r)
		return
	}
	for i, c := range w.unanswered {
		if c.ID == r.Call && c.ID != "" {
			w.unanswered = append(w.unanswered[:i], w.unanswered[i+1:]...)
			if w.o.Tools != None { // else it has been counted as hidden
				w.showCall(c, r)
			}
			return
		}
	}
	w.showCall(call, r)
}

// maxUnanswered is how many calls that were printed without a result are kept,
// since the results of background work may arrive later.
const maxUnanswered = 64

// flushCalls prints the calls whose results have not arrived.
func (w *walker) flushCalls() {
	for _, c := range w.pending.calls {
		if c == nil {
			continue // its result has arrived
		}
		w.showCall(c, nil)
		if len(c.Args)+len(c.Input) > callSize {
			c.Args, c.Input = nil, nil
		}
		w.unanswered = append(w.unanswered, c)
	}
	w.unanswered = w.unanswered[max(0, len(w.unanswered)-maxUnanswered):]
	w.pending, w.heldBytes = callQueue{}, 0
}

// flushHidden prints how many calls were hidden since the last visible part.
func (w *walker) flushHidden() {
	if w.hidden > 0 {
		w.out.Note(screen.Plural(w.hidden, "tool call"))
		w.hidden = 0
	}
}

func (w *walker) showCall(c *session.ToolCall, r *session.ToolResult) {
	if w.o.Tools == None {
		w.hidden++
		return
	}
	st := newStep(c, r, w.s.Workspace, w.o)
	st.External = !slices.ContainsFunc(w.s.Children, func(l session.Link) bool { return l.Session == c.Child })
	if r == nil && w.sawResult {
		st.Outcome = "no result"
	}
	w.out.Step(st)
}
