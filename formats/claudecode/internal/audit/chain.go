package audit

import (
	"strconv"

	"rehome/formats/claudecode/internal/outline"
	"rehome/formats/rule"
)

// chain checks the tree of the lines.
func (g *fileAudit) chain() {
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

// parents looks up the parent of each line. Each unreadable line explains one
// missing parent, which is not reported.
func (g *fileAudit) parents(all bool) {
	missed := map[uint64]bool{}
	excused := 0 // unreadable lines that explain a missing one
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
			g.references.seek(s)
		}
	}
}

// preserved marks the messages that a compaction preserved.
func (g *fileAudit) preserved() {
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

// sent reports the remarks about lines that the client sends. The API never sees
// the others.
func (g *fileAudit) sent() {
	for _, r := range g.remarks {
		if k := &g.links[r.link]; k.live || k.kept {
			g.say(r.id, int(k.line), r.pointer, r.says, r.args...)
		}
	}
}

// nameless reports lines without a uuid: each of them, or all at once where no
// line has one, as in what other tools export.
func (g *fileAudit) nameless() {
	if g.first < 0 && len(g.unnamed) > 1 {
		g.say("RH354", int(g.unnamed[0]), "", "%v", rule.Count(int64(len(g.unnamed)), "line"))
		return
	}
	for _, line := range g.unnamed {
		g.say("RH350", int(line), "", "")
	}
}

// again reports a second root. The client writes a prompt or the line of a hook
// this way when the user clears the conversation.
func (g *fileAudit) again(k *link) {
	id := "RH353"
	if !k.bare && (k.prompt || !k.speaks()) {
		id = "RH430"
	}
	g.say(id, int(k.line), "/parentUuid", "")
}

// continued finds the first lines that continue another session: after a clear, a
// session starts with late results of the previous one, and a subagent can be a
// fork of the session.
func (g *fileAudit) continued() {
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

// main reports whether a line is on the main thread of the file.
func (g *fileAudit) main(k *link) bool { return g.thread || !k.side }

// roots counts the lines of the thread and its roots, without boundaries, and finds
// the first line.
func (g *fileAudit) roots() (roots, lines int) {
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

// speaks reports whether a line is a prompt, a result or an answer.
func (k *link) speaks() bool { return k.kind == outline.User || k.kind == outline.Assistant }

// walk marks the lines that the client would send: the path from the last message
// to the first or to the last compaction, other calls of its responses, and their
// results.
func (g *fileAudit) walk() {
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
		for i--; i >= 0 && (!g.main(&g.links[i]) || g.links[i].kind == outline.Other); i-- { // the previous line replaces the missing parent
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

// times checks the order of times. Clients find a session by the time of its last
// message, old ones by that of the first. Some lines of a client share a time.
// Others matter only if an older client looks for the latest of them.
func (g *fileAudit) times() {
	first, last, latest := -1, -1, int64(never)
	back := counted{}
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

// branches counts messages that the client skips, except those before a compaction
// or a clear.
func (g *fileAudit) branches(all bool) {
	off := counted{}
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
