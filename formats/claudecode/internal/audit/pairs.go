package audit

import (
	"cmp"
	"slices"
	"strconv"

	"rehome/formats/claudecode/internal/outline"
)

// waiting is a call on its way to a result.
type waiting struct {
	deed
	answer   int // which of the answers it is in
	answered bool
}

// pairing goes over what would be sent, in the order of the file.
type pairing struct {
	*ledger
	calls    map[uint64]*waiting
	anywhere map[uint64]bool // ids of all calls, sent or not
	answers  map[uint64]int  // responses so far, by what the user has said before them
	said     int             // how often that is, from 1
	response uint64
	number   int          // of answers so far
	stopped  map[int]bool // answers behind which the user or the client went on
}

// pairs asks whether each call has its result where the API wants it, and each
// response is in one place.
func (g *ledger) pairs() {
	p := &pairing{ledger: g, calls: map[uint64]*waiting{}, anywhere: map[uint64]bool{}, answers: map[uint64]int{}, said: 1, stopped: map[int]bool{}}
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

// upTo takes from a list what belongs to a link.
func upTo(list *[]deed, link int32) (out []deed) {
	n := 0
	for n < len(*list) && (*list)[n].link <= link {
		n++
	}
	out, *list = (*list)[:n], (*list)[n:]
	return out
}

func (p *pairing) take(k *link, called, resulted []deed) {
	switch {
	case k.kind == outline.Assistant && (k.response != p.response || p.response == 0):
		// The client joins the lines of a response over results and other
		// responses, but not over what the user said.
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
		p.calls[d.id] = &waiting{deed: d, answer: p.number}
	}
	for _, d := range resulted {
		p.result(p.calls[d.id], d, int(k.line))
	}
}

func place(d deed, rest string) string {
	return "/message/content/" + strconv.Itoa(int(d.block)) + rest
}

func (p *pairing) result(w *waiting, d deed, line int) {
	switch {
	case w == nil:
		if !p.anywhere[d.id] && len(p.broken) == 0 && d.link > p.lead {
			p.kin.seek(sought{what: d.id, call: true, id: "RH358", file: p.file, line: int32(line), pointer: place(d, "/tool_use_id")})
		}
		return
	case w.answered:
		p.say("RH364", line, place(d, "/tool_use_id"), "")
	case w.answer < p.number:
		p.say("RH362", line, place(d, "/tool_use_id"), "its call is on line %d", p.links[w.link].line)
	}
	w.answered = true
}

// unanswered tells of calls without a result, by what the client makes of them.
func (p *pairing) unanswered() {
	sought := map[uint64]bool{}
	for _, r := range p.results {
		sought[r.id] = true
	}
	shared := map[int]bool{} // answers of which some call has its result
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
		p.say(id, int(p.links[w.link].line), place(w.deed, ""), "")
	}
}
