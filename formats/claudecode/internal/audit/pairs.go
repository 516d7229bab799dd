package audit

import (
	"cmp"
	"slices"
	"strconv"

	"rehome/formats/claudecode/internal/outline"
)

// waiting is a call, and whether its result was found.
type waiting struct {
	blockRef
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
	for _, c := range g.calls {
		p.anywhere[c.id] = true
	}
	calls, results := g.calls, g.results
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
func upTo(list *[]blockRef, link int32) (out []blockRef) {
	n := 0
	for n < len(*list) && (*list)[n].link <= link {
		n++
	}
	out, *list = (*list)[:n], (*list)[n:]
	return out
}

func (p *pairing) take(k *link, called, resulted []blockRef) {
	switch {
	case k.kind == outline.Assistant && (k.response != p.response || p.response == 0):
		// The client joins the lines of a response if only results and other
		// responses are between them, not messages of the user.
		if k.response != 0 && p.answers[k.response] == p.said {
			p.say("RH365", int(k.line), "/message/id", "")
		}
		p.response = k.response
		p.answers[k.response] = p.said
		p.stopped[p.number] = p.stopped[p.number] || k.filler
		p.number++
	case k.kind == outline.User && !k.result:
		p.said++
		if k.prompt {
			p.response = 0
			p.stopped[p.number] = true
		}
	}
	for _, d := range called {
		if was := p.calls[d.id]; was != nil {
			p.say("RH363", int(k.line), place(d, "/id"), "the first one is on line %d", p.links[was.link].line)
			continue
		}
		p.calls[d.id] = &waiting{blockRef: d, answer: p.number}
	}
	for _, d := range resulted {
		p.result(p.calls[d.id], d, int(k.line))
	}
}

func place(d blockRef, rest string) string {
	return "/message/content/" + strconv.Itoa(int(d.block)) + rest
}

func (p *pairing) result(w *waiting, d blockRef, line int) {
	switch {
	case w == nil:
		if !p.anywhere[d.id] && len(p.broken) == 0 && d.link > p.lead {
			p.references.seek(sought{what: d.id, call: true, id: "RH358", file: p.file, line: int32(line), pointer: place(d, "/tool_use_id")})
		}
		return
	case w.answered:
		p.say("RH364", line, place(d, "/tool_use_id"), "")
	case w.answer < p.number:
		p.say("RH362", line, place(d, "/tool_use_id"), "its call is on line %d", p.links[w.link].line)
	}
	w.answered = true
}

// unanswered reports calls without a result, by how the client handles them.
func (p *pairing) unanswered() {
	sought := map[uint64]bool{}
	for _, r := range p.results {
		sought[r.id] = true
	}
	shared := map[int]bool{} // answers with a call that has a result
	var left []*waiting
	for _, w := range p.calls {
		switch {
		case w.answered:
			shared[w.answer] = true
		case !sought[w.id]:
			left = append(left, w)
		}
	}
	slices.SortFunc(left, func(a, b *waiting) int { return cmp.Or(cmp.Compare(a.link, b.link), cmp.Compare(a.block, b.block)) })
	for _, w := range left {
		id := "RH359"
		switch {
		case w.answer == p.number || p.stopped[w.answer] || len(p.broken) > 0:
			id = "RH360"
		case shared[w.answer]:
			id = "RH361"
		}
		p.say(id, int(p.links[w.link].line), place(w.blockRef, ""), "")
	}
}
