package audit

import (
	"cmp"
	"slices"
	"strconv"

	"rehome/formats/claudecode/internal/outline"
	"rehome/formats/claudecode/internal/shape"
)

// waiting is a call, and whether its result was found.
type waiting struct {
	outline.Mention
	answer   int // number of its answer
	answered bool
}

// pairing matches calls and results of the lines that are sent, in file order.
type pairing struct {
	*fileAudit
	calls    map[uint64]*waiting
	anywhere map[uint64]bool // ids of all calls, sent or not
	answers  map[uint64]int  // the number of user messages before each response so far
	said     int             // that number plus 1
	response uint64
	number   int          // number of answers so far
	stopped  map[int]bool // answers after which the user or the client continued
}

// pairs checks that each call has its result where the API expects it, and that the
// lines of each response are together.
func (g *fileAudit) pairs() {
	p := &pairing{fileAudit: g, calls: map[uint64]*waiting{}, anywhere: map[uint64]bool{}, answers: map[uint64]int{}, said: 1, stopped: map[int]bool{}}
	for _, c := range g.tree.Uses {
		p.anywhere[c.Call] = true
	}
	calls, results := g.tree.Uses, g.tree.Replies
	for i := range g.links {
		k := &g.links[i]
		called, resulted := upTo(&calls, int32(i)), upTo(&results, int32(i))
		if k.live && g.main(k) {
			p.take(k, called, resulted)
		}
	}
	p.unanswered()
}

// upTo removes the references of a link from a list, and returns them.
func upTo(list *[]outline.Mention, link int32) (out []outline.Mention) {
	n := 0
	for n < len(*list) && (*list)[n].Line <= link {
		n++
	}
	out, *list = (*list)[:n], (*list)[n:]
	return out
}

func (p *pairing) take(k *link, called, resulted []outline.Mention) {
	switch {
	case k.kind == shape.Assistant && (k.Response != p.response || p.response == 0):
		// The client joins the lines of a response if only results and other
		// responses are between them, not messages of the user.
		if k.Response != 0 && p.answers[k.Response] == p.said {
			p.say("RH365", int(k.line), "/message/id", "")
		}
		p.response = k.Response
		p.answers[k.Response] = p.said
		p.stopped[p.number] = p.stopped[p.number] || k.filler
		p.number++
	case k.kind == shape.User && !k.Result:
		p.said++
		if k.prompt {
			p.response = 0
			p.stopped[p.number] = true
		}
	}
	for _, d := range called {
		if was := p.calls[d.Call]; was != nil {
			p.say("RH363", int(k.line), place(d, "/id"), "the first one is on line %d", p.links[was.Line].line)
			continue
		}
		p.calls[d.Call] = &waiting{Mention: d, answer: p.number}
	}
	for _, d := range resulted {
		p.result(p.calls[d.Call], d, int(k.line))
	}
}

func place(d outline.Mention, rest string) string {
	return "/message/content/" + strconv.Itoa(int(d.Block)) + rest
}

func (p *pairing) result(w *waiting, d outline.Mention, line int) {
	switch {
	case w == nil:
		if !p.anywhere[d.Call] && len(p.broken) == 0 && d.Line > p.lead {
			p.references.seek(sought{what: d.Call, call: true, id: "RH358", file: p.file, line: int32(line), pointer: place(d, "/tool_use_id")})
		}
		return
	case w.answered:
		p.say("RH364", line, place(d, "/tool_use_id"), "")
	case w.answer < p.number:
		p.say("RH362", line, place(d, "/tool_use_id"), "its call is on line %d", p.links[w.Line].line)
	}
	w.answered = true
}

// unanswered reports calls without a result, by how the client handles them.
func (p *pairing) unanswered() {
	sought := map[uint64]bool{}
	for _, r := range p.tree.Replies {
		sought[r.Call] = true
	}
	shared := map[int]bool{} // answers with a call that has a result
	var left []*waiting
	for _, w := range p.calls {
		switch {
		case w.answered:
			shared[w.answer] = true
		case !sought[w.Call]:
			left = append(left, w)
		}
	}
	slices.SortFunc(left, func(a, b *waiting) int { return cmp.Or(cmp.Compare(a.Line, b.Line), cmp.Compare(a.Block, b.Block)) })
	for _, w := range left {
		id := "RH359"
		switch {
		case w.answer == p.number || p.stopped[w.answer] || len(p.broken) > 0:
			id = "RH360"
		case shared[w.answer]:
			id = "RH361"
		}
		p.say(id, int(p.links[w.Line].line), place(w.Mention, ""), "")
	}
}
