package read

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"rehome/formats/internal/agentstate"
)

// TestMatch: turns that are looked up are those that looking at each would find.
func TestMatch(t *testing.T) {
	for seed := range uint64(300) {
		r := rand.New(rand.NewPCG(seed, 1))
		some := func(prefix string) string {
			if r.IntN(3) == 0 {
				return ""
			}
			return fmt.Sprintf("%s%d", prefix, r.IntN(8))
		}
		var turns []agentstate.Turn
		for range r.IntN(12) {
			turns = append(turns, agentstate.Turn{RequestID: some("r"), Prompt: " " + some("p") + strings.Repeat("x", r.IntN(3)), Calls: []string{some("c"), some("c")}})
		}
		a := &agent{turns: turns, known: indexTurns(turns), past: r.IntN(4)}
		request, text, call := some("r"), some("p")+"xx and more ", some("c")
		b := &batch{}
		for _, body := range []string{
			fmt.Sprintf(`{"type":1,"requestId":%q,"text":%q}`, request, text),
			fmt.Sprintf(`{"type":2,"toolFormerData":{"toolCallId":%q}}`, call),
		} {
			bub := &bubble{header: header{user: len(b.bubbles) == 0}, body: []byte(body)}
			bub.f.SplitBy(bub.body, "", bubbleTable())
			b.bubbles = append(b.bubbles, bub)
		}
		want := -1
		for i := a.past; i < len(turns) && want < 0; i++ {
			if request != "" && turns[i].RequestID == request || call != "" && slices.Contains(turns[i].Calls, call) {
				want = i
			}
		}
		for i := a.past; i < len(turns) && want < 0; i++ {
			if p := strings.TrimSpace(turns[i].Prompt); p != "" && strings.HasPrefix(strings.TrimSpace(text), p) {
				want = i
			}
		}
		if got := a.match(b); got != want {
			t.Fatalf("seed %d: turn %d, want %d, of %+v", seed, got, want, turns)
		}
	}
}
