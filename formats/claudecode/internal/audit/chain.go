package audit

import (
	"strconv"

	"rehome/formats/claudecode/internal/outline"
	"rehome/formats/claudecode/internal/shape"
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
	g.preserved()
	g.walk(all)
	g.times()
	g.branches(all)
	g.sent()
	if len(g.replies) == 0 || len(g.broken) == 0 {
		for _, d := range g.served {
			if !g.replies[d.Call] {
				g.say("RH466", int(g.links[d.Line].line), "/message/content/"+strconv.Itoa(int(d.Block)), "")
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
		if !g.main(k) || k.kind == shape.Other {
			continue
		}
		if k.Root {
			if int32(i) != g.first && !k.Boundary && !k.beside && !all {
				g.again(k)
			}
			continue
		}
		at, ok := g.find(k.Parent)
		switch {
		case missed[k.Parent] || ok && g.links[at].kind != shape.Other:
		case ok:
			g.say("RH443", int(g.links[at].line), "/type", "")
			missed[k.Parent] = true
		case excused < len(g.broken) && g.broken[excused] < k.line:
			excused++
			missed[k.Parent] = true
		default:
			s := sought{what: k.Parent, id: "RH352", file: g.file, line: k.line, pointer: "/parentUuid"}
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
		if at, ok := g.find(d.Call); ok {
			g.links[at].kept = true
		} else if !said {
			g.say("RH374", int(g.links[d.Line].line), "/compactMetadata/preservedMessages", "")
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
		_, here := g.find(k.Parent)
		switch {
		case !g.main(k) || k.kind == shape.Other || here && !k.speaks():
		case !here && !k.Root && (!k.speaks() || k.Result || g.thread && i == g.first):
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
		if !g.main(k) || k.kind == shape.Other {
			continue
		}
		if g.first < 0 {
			g.first = int32(i)
		}
		if !k.Boundary {
			lines++
			if k.Root {
				roots++
			}
		}
	}
	return roots, lines
}

// speaks reports whether a line is a prompt, a result or an answer.
func (k *link) speaks() bool { return k.kind == shape.User || k.kind == shape.Assistant }

// walk marks the lines that the client would send: the live branch from the last message to
// the first or to the last compaction. Without parents, it is the last message, with the
// other lines of its response.
func (g *fileAudit) walk(unlinked bool) {
	var leaf *link
	for i := len(g.links) - 1; i >= 0; i-- {
		k := &g.links[i]
		k.live = k.Branch == outline.Live && !k.Archived && !k.kept && g.main(k)
		if leaf == nil && k.live && k.speaks() {
			leaf = k
		}
		if unlinked && leaf != k {
			k.live = k.live && leaf != nil && k.Response != 0 && k.Response == leaf.Response
		}
	}
	for i := range g.links { // older clients also send second results
		k := &g.links[i]
		up, ok := g.find(k.Parent)
		beside := ok && k.Result && k.Branch >= 0 && g.main(k)
		k.live = k.live || beside && g.links[up].live && g.links[up].kind == shape.Assistant
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
		if k.Branch != outline.Dropped && k.speaks() && g.main(k) && !k.live && !over {
			off.n++
			off.line = int(k.line)
		}
		over = over || k.live && (k.Boundary || k.Root && !k.beside && int32(i) != g.first)
	}
	if off.n > 0 && !all {
		g.say("RH357", off.line, "", "%v", off.amount())
	}
}
