package claudecode

import "fmt"

// chain asks how the lines hang together. What a line said that could not be
// read is missed once only: each such line excuses one that is not there.
func (g *ledger) chain() {
	roots, first := g.roots()
	if first < 0 {
		return
	}
	all := roots > 1 && roots == g.threads()
	if all {
		g.say("RH354", int(g.links[first].line), "", fmt.Sprintf("%d lines", roots))
	}
	missed := map[uint64]bool{}
	excused := 0 // lines that had to stand for one that is missing
	for i := range g.links {
		k := &g.links[i]
		if !g.main(k) || k.kind == other {
			continue
		}
		if k.root {
			if int32(i) != first && !k.boundary && !k.beside && !all {
				g.say("RH353", int(k.line), "/parentUuid", "")
			}
			continue
		}
		at, ok := g.at[k.parent]
		switch {
		case ok && g.links[at].kind == other:
			if !missed[k.parent] {
				g.say("RH443", int(g.links[at].line), "/type", "")
			}
			missed[k.parent] = true
		case ok:
		case missed[k.parent]:
		case excused < len(g.broken) && g.broken[excused] < k.line:
			excused++
			missed[k.parent] = true
		default:
			g.say("RH352", int(k.line), "/parentUuid", "")
		}
	}
	g.walk()
	g.times()
	g.branches(all)
	for _, d := range g.kept {
		if _, ok := g.at[d.id]; !ok && len(g.broken) == 0 {
			g.say("RH374", int(g.links[d.link].line), "/compactMetadata/preservedMessages", "")
			break
		}
	}
	if len(g.replies) == 0 || len(g.broken) == 0 {
		for _, d := range g.served {
			if !g.replies[d.id] {
				g.say("RH466", int(g.links[d.link].line), "/message/content/"+itoa(int64(d.block)), "")
			}
		}
	}
}

// main reports a line of the thread that the file is about.
func (g *ledger) main(k *link) bool { return g.thread || !k.side }

// roots counts the lines that begin anew, boundaries left out, and finds the
// first of all lines.
func (g *ledger) roots() (n int, first int32) {
	first = -1
	for i := range g.links {
		k := &g.links[i]
		if !g.main(k) || k.kind == other {
			continue
		}
		if first < 0 {
			first = int32(i)
		}
		if k.root && !k.boundary {
			n++
		}
	}
	return n, first
}

// threads counts the lines of the thread, boundaries left out.
func (g *ledger) threads() (n int) {
	for i := range g.links {
		if k := &g.links[i]; g.main(k) && k.kind != other && !k.boundary {
			n++
		}
	}
	return n
}

// speaks reports a prompt, a result or an answer.
func (k *link) speaks() bool { return k.kind == user || k.kind == answers }

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
		k := &g.links[i]
		k.live = true
		if k.kind == answers && k.response != 0 {
			responses[k.response] = true
		}
		if k.root {
			break
		}
		if up, ok := g.at[k.parent]; ok && int(up) != i {
			i = int(up)
			continue
		}
		for i--; i >= 0 && (!g.main(&g.links[i]) || g.links[i].kind == other); i-- { // the line in front stands in
		}
	}
	for i := range g.links {
		k := &g.links[i]
		if k.live || !g.main(k) {
			continue
		}
		if k.kind == answers && responses[k.response] {
			k.live = true
		} else if up, ok := g.at[k.parent]; ok && k.result && g.links[up].live && g.links[up].kind == answers {
			k.live = true
		}
	}
}

// times asks whether time goes on. Of a client's own lines some have one time:
// that matters only where an older client looks for the last of them.
func (g *ledger) times() {
	last, latest := -1, int64(never)
	back := tallied{}
	before := int64(never)
	for i := range g.links {
		k := &g.links[i]
		if !g.main(k) || k.at == never {
			continue
		}
		if k.at <= before {
			back.add(int(k.line))
		}
		before = k.at
		if k.speaks() {
			if last >= 0 {
				latest = max(latest, g.links[last].at)
			}
			last = i
		}
	}
	if last >= 0 && g.links[last].at <= latest && !g.thread {
		g.say("RH355", int(g.links[last].line), "/timestamp", "")
	}
	if back.n > 0 {
		g.say("RH356", back.line, "/timestamp", back.String())
	}
}

// branches counts what the client passes over.
func (g *ledger) branches(all bool) {
	off := tallied{}
	compacted := false
	for i := len(g.links) - 1; i >= 0; i-- {
		k := &g.links[i]
		compacted = compacted || k.boundary && k.live
		if at := g.at[k.uuid]; int(at) == i && k.speaks() && g.main(k) && !k.live && !compacted {
			off.n++
			off.line = int(k.line)
		}
	}
	if off.n > 0 && !all {
		g.say("RH357", off.line, "", off.String())
	}
}
