package prose

import (
	"bytes"
	"slices"
	"strings"

	"rehome/cmd/rehome/internal/screen"
	"rehome/formats/session"
)

// mostHeld is how much is kept of calls that wait for their results, besides
// those of one message; callSize is what a call takes without its arguments.
const (
	mostHeld = 1 << 20
	callSize = 4 << 10
)

// kept is a call that outlives its message.
func kept(c *session.ToolCall) *session.ToolCall {
	k := *c
	k.ID, k.Name, k.Kind, k.Child = strings.Clone(c.ID), strings.Clone(c.Name), strings.Clone(c.Kind), strings.Clone(c.Child)
	k.Input, k.Args = bytes.Clone(c.Input), bytes.Clone(c.Args)
	if len(k.Args) > 0 {
		k.Input = nil // the same, as the model wrote it
	}
	k.Extras = nil
	return &k
}

// queue is calls that wait for their results, found by their ids: one message
// can make tens of thousands.
type queue struct {
	list []*session.ToolCall // nil where the result has come
	at   map[string][]int    // places in the list, of calls of one id
	left int                 // that wait still
}

func (q *queue) put(c *session.ToolCall) {
	if q.at == nil {
		q.at = map[string][]int{}
	}
	q.at[c.ID] = append(q.at[c.ID], len(q.list))
	q.list, q.left = append(q.list, c), q.left+1
}

// take removes the first call of an id and returns it; nil if none waits.
func (q *queue) take(id string) *session.ToolCall {
	places := q.at[id]
	if len(places) == 0 {
		return nil
	}
	c := q.list[places[0]]
	q.list[places[0]], q.at[id], q.left = nil, places[1:], q.left-1
	if len(q.list) > 2*q.left+mostGone { // what was taken does not pile up in a long turn
		old := q.list
		*q = queue{}
		for _, c := range old {
			if c != nil {
				q.put(c)
			}
		}
	}
	return c
}

// result shows a call with what came of it. Results come in any order.
func (w *walker) result(r *session.ToolResult) {
	w.results = true
	call := &session.ToolCall{ID: r.Call, Name: strings.TrimSpace("result " + r.Call)}
	if c := w.pending.take(r.Call); c != nil {
		w.held -= len(c.Args) + len(c.Input) + callSize
		w.show(c, r)
		return
	}
	for i, c := range w.gone {
		if c.ID == r.Call && c.ID != "" {
			w.gone = append(w.gone[:i], w.gone[i+1:]...)
			if w.o.Tools != None { // else it was counted when it was asked for
				w.show(c, r)
			}
			return
		}
	}
	w.show(call, r)
}

// mostGone is how many calls are remembered whose results may come behind
// other things, as those of work in the background do.
const mostGone = 64

// settle shows the calls whose results did not come.
func (w *walker) settle() {
	for _, c := range w.pending.list {
		if c == nil {
			continue // its result came
		}
		w.show(c, nil)
		if len(c.Args)+len(c.Input) > callSize {
			c.Args, c.Input = nil, nil
		}
		w.gone = append(w.gone, c)
	}
	w.gone = w.gone[max(0, len(w.gone)-mostGone):]
	w.pending, w.held = queue{}, 0
}

// count says how many calls are not shown, in front of what is.
func (w *walker) count() {
	if w.hidden > 0 {
		w.pen.aside(screen.Many(w.hidden, "tool call"))
		w.hidden = 0
	}
}

func (w *walker) show(c *session.ToolCall, r *session.ToolResult) {
	if w.o.Tools == None {
		w.hidden++
		return
	}
	st := newStep(c, r, w.s.Workspace, w.o)
	st.away = !slices.ContainsFunc(w.s.Children, func(l session.Link) bool { return l.Session == c.Child })
	if r == nil && w.results {
		st.outcome = "no result"
	}
	w.pen.step(st)
}
