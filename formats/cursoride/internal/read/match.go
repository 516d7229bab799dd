package read

import (
	"slices"
	"strings"

	"rehome/formats/internal/agentstate"
	"rehome/internal/rawjson"
)

// turnIndex finds turns of the agent's state by what bubbles state about theirs. The
// lists hold the numbers of turns, ascending.
type turnIndex struct {
	requests map[string][]int
	calls    map[string][]int
	prompts  map[string][]int // by how they begin
	lengths  []int            // of those
}

func indexTurns(turns []agentstate.Turn) turnIndex {
	x := turnIndex{requests: map[string][]int{}, calls: map[string][]int{}, prompts: map[string][]int{}}
	lengths := map[int]bool{}
	for i, t := range turns {
		if t.RequestID != "" {
			x.requests[t.RequestID] = append(x.requests[t.RequestID], i)
		}
		for _, id := range t.Calls {
			x.calls[id] = append(x.calls[id], i)
		}
		if p := strings.TrimSpace(t.Prompt); p != "" {
			x.prompts[p] = append(x.prompts[p], i)
			lengths[len(p)] = true
		}
	}
	for n := range lengths {
		x.lengths = append(x.lengths, n)
	}
	return x
}

// match returns the turn of the agent's state that bubbles belong to: by its request,
// a call, or the prompt. Earlier turns than the last one are not found again.
func (a *agent) match(b *batch) int {
	var request, text string
	best := -1
	see := func(turns []int) {
		if i, _ := slices.BinarySearch(turns, a.past); i < len(turns) && (best < 0 || turns[i] < best) {
			best = turns[i]
		}
	}
	for _, bub := range b.bubbles {
		if request == "" {
			request = rawjson.Text(bub.f.Raw(bubRequest))
		}
		if bub.user && text == "" {
			text = rawjson.Text(bub.f.Raw(bubText))
		}
		if id := rawjson.TextAt(bub.f.Raw(bubTool), "toolCallId"); id != "" {
			see(a.known.calls[id])
		}
	}
	if see(a.known.requests[request]); best >= 0 {
		return best
	}
	text = strings.TrimSpace(text)
	for _, n := range a.known.lengths {
		if n <= len(text) {
			see(a.known.prompts[text[:n]])
		}
	}
	return best
}
