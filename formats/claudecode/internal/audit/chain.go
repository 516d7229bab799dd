package audit

import (
	"strconv"

	"rehome/formats/claudecode/internal/outline"
	"rehome/formats/rule"
)

// chain asks how the lines hang together.
func (g *ledger) chain() {
	roots, lines := g.roots()
	all := roots > 1 && roots == lines
	g.nameless()
	if g.first < 0 {
		return
	}
	if all {
		g.say("RH354", int(g.links[g.first].line), "", "%v", rule.Count(int64(roots), "line"))
	}
	g.continued()
	g.parents(all)
	g.walk()
	g.times()
	g.branches(all)
	g.preserved()
	g.sent()
	if len(g.replies) == 0 || len(g.broken) == 0 {
		for _, d := range g.served {
			if !g.replies[d.id] {
				g.say("RH466", int(g.links[d.link].line), "/message/content/"+strconv.Itoa(int(d.block)), "")
			}
		}
	}
}

// parents looks for the line that each line follows. What a line said that
// could not be read is missed once only: each such line excuses one that is not
// there.
func (g *ledger) parents(all bool) {
	missed := map[uint64]bool{}
	excused := 0 // lines that had to stand for one that is missing
	for i := range g.links {
		k := &g.links[i]
		if !g.main(k) || k.kind == outline.Other {
			continue
		}
		if k.root {
			if int32(i) != g.first && !k.boundary && !k.beside && !all {
				g.again(k)
			}
			continue
		}
		at, ok := g.at[k.parent]
		switch {
		case missed[k.parent] || ok && g.links[at].kind != outline.Other:
		case ok:
			g.say("RH443", int(g.links[at].line), "/type", "")
			missed[k.parent] = true
		case excused < len(g.broken) && g.broken[excused] < k.line:
			excused++
			missed[k.parent] = true
		default:
			s := sought{what: k.parent, id: "RH352", file: g.file, line: k.line, pointer: "/parentUuid"}
			if int32(i) <= g.lead || !k.speaks() {
				s.id = "RH431"
			}
			g.kin.seek(s)
		}
	}
}

// preserved marks the messages that a compaction preserved.
func (g *ledger) preserved() {
	said := len(g.broken) > 0
	for _, d := range g.kept {
		if at, ok := g.at[d.id]; ok {
			g.links[at].kept = true
		} else if !said {
			g.say("RH374", int(g.links[d.link].line), "/compactMetadata/preservedMessages", "")
			said = true
		}
	}
}

// sent reports what was remarked of the lines that the client sends. What it
// does not send, nobody refuses.
func (g *ledger) sent() {
	for _, r := range g.remarks {
		if k := &g.links[r.link]; k.live || k.kept {
			g.say(r.id, int(k.line), r.pointer, r.says, r.args...)
		}
	}
}

// nameless reports lines without a uuid: each of them, or all at once where no
// line has one, as in what other tools export.
func (g *ledger) nameless() {
	if g.first < 0 && len(g.unnamed) > 1 {
		g.say("RH354", int(g.unnamed[0]), "", "%v", rule.Count(int64(len(g.unnamed)), "line"))
		return
	}
	for _, line := range g.unnamed {
		g.say("RH350", int(line), "", "")
	}
}

// again reports a line that begins anew. The client writes such a prompt, or a
// line of a hook, when the user clears the conversation.
func (g *ledger) again(k *link) {
	id := "RH353"
	if !k.bare && (k.prompt || !k.speaks()) {
		id = "RH430"
	}
	g.say(id, int(k.line), "/parentUuid", "")
}

// continued finds the lines at the start that go on from another session: a
// session that was cleared begins with what still came of the one before, and
// a subagent can be a fork of the session.
func (g *ledger) continued() {
	for i := g.first; int(i) < len(g.links); i++ {
		k := &g.links[i]
		_, here := g.at[k.parent]
		switch {
		case !g.main(k) || k.kind == outline.Other || here && !k.speaks():
		case !here && !k.root && (!k.speaks() || k.result || g.thread && i == g.first):
			g.lead = i
		default:
			return
		}
	}
}

// main reports a line of the thread that the file is about.
func (g *ledger) main(k *link) bool { return g.thread || !k.side }

// roots counts the lines of the thread and those that begin anew, boundaries
// left out, and finds the first of all.
func (g *ledger) roots() (roots, lines int) {
	for i := range g.links {
		k := &g.links[i]
		if !g.main(k) || k.kind == outline.Other {
			continue
		}
		if g.first < 0 {
			g.first = int32(i)
		}
		if !k.boundary {
			lines++
			if k.root {
				roots++
			}
		}
	}
	return roots, lines
}

// speaks reports a prompt, a result or an answer.
func (k *link) speaks() bool { return k.kind == outline.User || k.kind == outline.Assistant }

// walk marks what the client would send: the way from the last thing said to
// the first, or to where it compacted; calls of one response that hang beside
// the way, and their results.
func (g *ledger) walk() {
	i := len(g.links) - 1
	for i >= 0 && !(g.links[i].speaks() && g.main(&g.links[i])) {
		i--
	}
	responses := map[uint64]bool{}
	for i >= 0 && !g.links[i].live {
		g.steps++
		k := &g.links[i]
		k.live = true
		if k.kind == outline.Assistant && k.response != 0 {
			responses[k.response] = true
		}
		if k.root {
			break
		}
		if up, ok := g.at[k.parent]; ok && int(up) != i {
			i = int(up)
			continue
		}
		for i--; i >= 0 && (!g.main(&g.links[i]) || g.links[i].kind == outline.Other); i-- { // the line in front stands in
			g.steps++
		}
	}
	for i := range g.links {
		k := &g.links[i]
		if k.live || !g.main(k) {
			continue
		}
		if k.kind == outline.Assistant && responses[k.response] {
			k.live = true
		} else if up, ok := g.at[k.parent]; ok && k.result && g.links[up].live && g.links[up].kind == outline.Assistant {
			k.live = true
		}
	}
}

// times asks whether time goes on. Clients find a session by the time of its
// last message, old ones by that of its first; of their own lines some have one
// time. Any other matters only where an older client looks for the last of them.
func (g *ledger) times() {
	first, last, latest := -1, -1, int64(never)
	back := tallied{}
	before := int64(never)
	for i := range g.links {
		k := &g.links[i]
		if !g.main(k) {
			continue
		}
		if k.speaks() {
			if first < 0 {
				first = i
			}
			if last >= 0 {
				latest = max(latest, g.links[last].at)
			}
			last = i
		}
		if k.speaks() && k.at == never || k.at != never && k.at <= before {
			back.add(int(k.line))
		}
		if k.at != never {
			before = k.at
		}
	}
	if last >= 0 && !g.thread {
		switch {
		case g.links[last].at == never:
			g.say("RH441", int(g.links[last].line), "/timestamp", "")
		case g.links[last].at < latest:
			g.say("RH355", int(g.links[last].line), "/timestamp", "")
		}
		if first != last && g.links[first].at == never {
			g.say("RH441", int(g.links[first].line), "/timestamp", "")
		}
	}
	if back.n > 0 {
		g.say("RH356", back.line, "/timestamp", "%v", back.amount())
	}
}

// branches counts what the client passes over, but for what was compacted or
// cleared.
func (g *ledger) branches(all bool) {
	off := tallied{}
	over := false
	for i := len(g.links) - 1; i >= 0; i-- {
		k := &g.links[i]
		if at := g.at[k.uuid]; int(at) == i && k.speaks() && g.main(k) && !k.live && !over {
			off.n++
			off.line = int(k.line)
		}
		over = over || k.live && (k.boundary || k.root && !k.beside && int32(i) != g.first)
	}
	if off.n > 0 && !all {
		g.say("RH357", off.line, "", "%v", off.amount())
	}
}
