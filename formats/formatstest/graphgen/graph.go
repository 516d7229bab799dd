package graphgen

import (
	"crypto/sha256"
	"encoding/hex"
	"slices"
)

// Graph is a state as the blobs that it consists of.
type Graph struct {
	Blobs []Blob
	Root  string // the id of the state
	Dead  int    // blobs that only older states refer to
	Stray string // the id of a message that nobody refers to
	at    map[string]int
	odd   stranger
	live  []Blob
}

// Blob is bytes under the name that their digest gives.
type Blob struct {
	ID   string
	Data []byte
}

// Put adds a blob, and gives its id as references hold it.
func (g *Graph) Put(data []byte) []byte {
	sum := sha256.Sum256(data)
	id := hex.EncodeToString(sum[:])
	if _, ok := g.at[id]; !ok {
		g.at[id] = len(g.Blobs)
		g.Blobs = append(g.Blobs, Blob{id, data})
	}
	return sum[:]
}

// Graph writes the plan down.
func (p *Plan) Graph() *Graph { return p.graph(false) }

// Strangers are the marks of all that was put in besides, so far.
func (g *Graph) Strangers() (out []string) {
	for n := range g.odd.marks {
		out = append(out, strangeMark(n+1))
	}
	return out
}

// StrangeGraph writes it down with an unknown field in every message, and an
// unknown member in every object.
func (p *Plan) StrangeGraph() *Graph { return p.graph(true) }

func (g *Graph) wire(m message) []byte { return g.odd.message(m).wire() }

// graph writes the blobs in the order in which a client would: first what it
// leaves behind, one of which nobody knows any more and the state before the
// last turn, then what is new in the newest state, its root last.
func (p *Plan) graph(strange bool) *Graph {
	live := &Graph{at: map[string]int{}, odd: stranger{on: strange}}
	root := live.Put(live.wire(p.state(live)))
	old := &Graph{at: map[string]int{}}
	stray := old.Put([]byte(jsonText("role", `"user"`, "content", quote("nobody refers to this"))))
	if len(p.turns) > 0 && !strange {
		before := *p
		before.turns, before.archives, before.pending, before.plan = p.turns[:len(p.turns)-1], nil, nil, ""
		old.Put(old.wire(before.state(old)))
	}
	g := &Graph{at: map[string]int{}, odd: live.odd, Root: hex.EncodeToString(root), Stray: hex.EncodeToString(stray)}
	for _, b := range append(old.Blobs, live.Blobs...) {
		g.Put(b.Data)
	}
	g.live = live.Blobs
	g.Dead = len(g.Blobs) - len(live.Blobs) - 1
	return g
}

// WentBack is Graph, and a state in which the last turn is a short one of another plan: the user
// went back on it.
func (p *Plan) WentBack(other *Plan) *Graph {
	g, left, old := p.Graph(), *p, &Graph{at: map[string]int{}}
	last := *other.turns[0]
	last.responses = []*response{{text: other.plan + "!", spoken: [2]int64{last.start + 1, last.start + 2}}}
	left.turns = append(slices.Clone(p.turns[:len(p.turns)-1]), &last)
	old.Put(old.wire(left.state(old)))
	for _, b := range old.Blobs {
		g.Put(b.Data)
	}
	return g
}

// Reached reports whether the newest state leads to a blob.
func (g *Graph) Reached(n int) bool {
	return slices.ContainsFunc(g.live, func(b Blob) bool { return b.ID == g.Blobs[n].ID })
}

// Live is all that the newest state reaches, one blob after the other.
func (g *Graph) Live() (out []byte) {
	for _, b := range g.live {
		out = append(append(out, b.Data...), '\n')
	}
	return out
}

func (p *Plan) state(g *Graph) message {
	var m message
	var prompts, turns, archives list
	json := func(text string) []byte { return g.Put([]byte(g.odd.json(text))) }
	waiting := list{}
	if p.Shape != SpineOnly {
		prompts = append(prompts, json(p.systemPrompt()))
		waiting = append(waiting, json(p.contextPrompt()))
	}
	for i, t := range p.turns {
		for _, a := range p.archives {
			if a.upTo == i {
				summary := json(summaryPrompt(a))
				body := message{{1, "", waiting}, {2, "", a.summary}, {3, "", a.tail}, {4, "", summary}}
				archives = append(archives, g.Put(g.wire(body)))
				waiting = list{summary}
			}
		}
		if t.run.lost {
			continue
		}
		if p.Shape != SpineOnly {
			for _, text := range p.turnPrompts(t) {
				waiting = append(waiting, json(text))
			}
		}
		if p.spine() {
			turns = append(turns, p.turn(g, t))
		}
	}
	prompts = append(prompts, waiting...)
	if p.Shape == PromptsOnly {
		return message{{1, "", prompts}}
	}
	m = append(m, field{1, "", prompts})
	m = append(m, field{8, "", turns})
	if len(archives) == 1 && p.used[0]%2 == 0 {
		m = append(m, field{11, "", archives[0]})
	} else {
		m = append(m, field{13, "", archives})
	}
	if p.pending != nil {
		m = append(m, field{4, "", p.assistantPrompt(p.pending)})
	}
	return append(m, p.rest(g)...)
}

// rest is the state apart from the conversation.
func (p *Plan) rest(g *Graph) message {
	var todos, repos, timings list
	var files, refs, inline, runs entries
	for _, t := range p.todos {
		needs := list{}
		for _, n := range t.needs {
			needs = append(needs, n)
		}
		todos = append(todos, g.Put(g.wire(message{{1, "", t.id}, {2, "", t.content}, {3, "", uint32(t.status)}, {4, "", t.created}, {5, "", t.updated}, {6, "", needs}})))
	}
	for _, t := range p.turns {
		if !t.run.lost {
			timings = append(timings, message{{1, "", uint64(t.end - t.start)}, {2, "", uint64(t.end)}})
		}
	}
	for _, f := range p.files {
		m := message{{1, "", g.Put(f.after)}}
		if f.before != nil {
			m = append(m, field{2, "", g.Put(f.before)})
		}
		files = append(files, entry{f.path, m})
	}
	for _, r := range p.repos {
		repos = append(repos, message{{1, "", r[0]}, {2, "", r[1]}})
	}
	for _, c := range p.children {
		kind := message{{4, "", message{}}}
		if c.custom != "" {
			kind = message{{3, "", message{{1, "", c.custom}}}}
		}
		state := message{{1, "", c.Plan.state(g)}, {2, "", uint64(c.created)}, {3, "", uint64(c.used)}, {4, "", kind}, {5, "", c.Model}}
		if c.inline {
			inline = append(inline, entry{c.ID, state})
		} else {
			refs = append(refs, entry{c.ID, g.Put(g.wire(state))})
		}
		runs = append(runs, entry{c.call, message{{1, "", c.call}, {2, "", c.ID}, {4, "", uint32(3)}, {5, "", c.title}}})
	}
	m := message{{3, "", todos}, {5, "", message{{1, "", p.used[0]}, {2, "", p.used[1]}}}, {9, "", list{fileURI(p.Cwd)}}, {10, "", uint32(1)}, {14, "", timings}, {15, "", files}, {16, "", inline},
		{19, "", p.branch}, {21, "", repos}, {26, "", uint64(p.created)}, {30, "", runs}, {31, "", refs}}
	if p.plan != "" {
		m = append(m, field{7, "", g.Put(g.wire(message{{1, "", p.plan}}))})
	}
	return m
}

func fileURI(path string) string {
	out := "file://"
	for i := 0; i < len(path); i++ {
		if path[i] == ' ' {
			out += "%20"
		} else {
			out += path[i : i+1]
		}
	}
	return out
}

func (p *Plan) turn(g *Graph, t *turn) []byte {
	if t.shell != nil {
		command := g.Put(g.wire(message{{1, "", t.shell.command}}))
		output := g.Put(g.wire(message{{1, "", t.shell.out}, {2, "", t.shell.err}, {3, "", t.shell.code}}))
		return g.Put(g.wire(message{{2, "", message{{1, "", command}, {2, "", output}}}}))
	}
	user := message{{1, "", t.prompt}, {2, "", t.messageID}}
	var context message
	if t.image != nil {
		image := message{{8, "", t.image}}
		if t.image[2]%2 == 0 {
			image = message{{1, "", g.Put(t.image)}}
		}
		context = append(context, field{1, "", append(image, field{2, "", t.messageID}, field{7, "", "image/jpeg"})})
	}
	if t.attached != nil {
		context = append(context, field{4, "", message{{1, "", t.attached.content}, {2, "", t.attached.path}}})
	}
	if context != nil {
		user = append(user, field{3, "", context})
	}
	user = append(user, field{4, "", uint32(1)}, field{25, "", uint64(t.start)})
	var steps list
	for _, r := range t.responses {
		for _, step := range r.steps() {
			steps = append(steps, g.Put(g.wire(step)))
		}
	}
	return g.Put(g.wire(message{{1, "", message{{1, "", g.Put(g.wire(user))}, {2, "", steps}, {3, "", t.request}, {7, "", t.display}, {10, "", t.messageID}}}}))
}

func (r *response) steps() (out []message) {
	if r.thinking != "" {
		out = append(out, message{{3, "", message{{1, "", r.thinking}, {2, "", r.took}, {3, "", uint64(r.thought[0])}, {4, "", uint64(r.thought[1])}}}})
	}
	if r.text != "" {
		out = append(out, message{{1, "", message{{1, "", r.text}, {2, "", uint64(r.spoken[0])}, {3, "", uint64(r.spoken[1])}}}})
	}
	for _, c := range r.calls {
		m := message{{c.num, "", message{{1, "", c.args}, {2, "", c.result}}}}
		if c.hook != "" {
			m = append(m, field{54, "", message{{1, "", "PostToolUse"}, {2, "", c.hook}}})
		}
		m = append(m, field{57, "", c.id}, field{59, "", uint64(c.start)}, field{60, "", uint64(c.end)})
		out = append(out, message{{2, "", m}})
	}
	return out
}
