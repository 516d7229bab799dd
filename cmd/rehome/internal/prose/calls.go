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

// result shows a call with what came of it. Results come in any order.
func (w *walker) result(r *session.ToolResult) {
	w.results = true
	call := &session.ToolCall{ID: r.Call, Name: strings.TrimSpace("result " + r.Call)}
	for i, c := range w.pending {
		if c.ID == r.Call {
			call = c
			w.held -= len(c.Args) + len(c.Input) + callSize
			w.pending = append(w.pending[:i], w.pending[i+1:]...)
			w.show(call, r)
			return
		}
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
	for _, c := range w.pending {
		w.show(c, nil)
		if len(c.Args)+len(c.Input) > callSize {
			c.Args, c.Input = nil, nil
		}
		w.gone = append(w.gone, c)
	}
	w.gone = w.gone[max(0, len(w.gone)-mostGone):]
	w.pending, w.held = nil, 0
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
