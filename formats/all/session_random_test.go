package all_test

import (
	"flag"
	"fmt"
	"slices"
	"strings"
	"testing"

	"rehome/formats/formatstest/graphgen"
	"rehome/formats/loss"
	"rehome/formats/session"
	"rehome/golden"
)

// go test ./formats/all -run Sessions -seeds 500
var seeds = flag.Int("seeds", 16, "how many random sessions of each shape the tests of decoding make")

// TestRandomSessions: a plan, written as a chat, as a state root and as lines,
// decodes to the session that the plan says.
func TestRandomSessions(t *testing.T) {
	for shape := range graphgen.Shapes {
		for seed := range uint64(few(*seeds)) {
			t.Run(fmt.Sprintf("%v/%d", shape, seed), func(t *testing.T) {
				p := graphgen.New(seed, shape)
				g := p.Graph()
				t.Run("cursor-chat", func(t *testing.T) {
					judge(t, decodeStore(t, "cursor-chat", chatStore(t, p, g, graphgen.Odd{}), session.Selection{}), p, g, graphgen.Chat)
				})
				var sdk *outcome
				t.Run("cursor-sdk", func(t *testing.T) {
					sdk = decodeStore(t, "cursor-sdk", sdkStore(t, p, g, graphgen.Odd{}).Project, session.Selection{})
					judge(t, sdk, p, g, graphgen.SDK)
				})
				t.Run("cursor-ndjson", func(t *testing.T) {
					lines := decodeStore(t, "cursor-ndjson", lineStore(t, p, g), session.Selection{})
					judge(t, lines, p, g, graphgen.SDK)
					if sdk != nil {
						sameSessions(t, sdk, lines)
					}
				})
			})
		}
	}
}

// judge holds what came out against what the plan says.
func judge(t *testing.T, got *outcome, p *graphgen.Plan, g *graphgen.Graph, in graphgen.Container) {
	t.Helper()
	sound(t, got, p)
	want := p.Expected(in)
	for _, n := range got.notes {
		t.Logf("%v %v: %s", n.Kind(), n.At, strings.Join(append([]string{string(n.Code)}, n.Args...), " "))
	}
	alone := 0 // left behind, with words that are nowhere else
	for _, n := range got.notes {
		if n.Code == loss.StrayBlob {
			alone++
		}
	}
	if n := got.tally.Superseded + int64(alone); n != int64(g.Dead) {
		t.Errorf("%d records superseded or alone, want %d", n, g.Dead)
	}
	strays := slices.DeleteFunc(slices.Clone(got.notes), func(n loss.Loss) bool { return n.Code != loss.StraySkipped })
	if len(strays) != 1 || !strings.Contains(strays[0].At.String(), g.Stray[:12]) {
		t.Errorf("a message that nobody refers to is told as %v", strays)
	}
	if len(got.sessions) != len(want) {
		t.Fatalf("%d sessions, want %d", len(got.sessions), len(want))
	}
	for i := range want {
		s := &got.sessions[i]
		if gh, wh := normalHead(&s.Session.Session), normalHead(&want[i].Session); gh != wh {
			t.Errorf("head of session %d\n got %s\nwant %s", i, gh, wh)
		}
		compareLines(t, fmt.Sprintf("session %d", i), s.normal, expectedLines(want[i]))
	}
	for _, m := range lostMarks(g.Live(), opened(got)) {
		t.Errorf("lost in silence: %s", around(g.Live(), m))
	}
}

// normalHead is the head without what no plan says.
func normalHead(s *session.Session) string {
	h := *s
	h.Extras, h.Missing, h.Branches = nil, nil, slices.Clone(h.Branches)
	for i := range h.Branches {
		h.Branches[i].From = ""
	}
	if h.Parent != nil {
		h.Parent = &session.Link{Session: h.Parent.Session, Call: h.Parent.Call}
	}
	if h.Mode == "default" { // the database says so, where the state says agent
		h.Mode = "agent"
	}
	h.Created, h.Updated = stated(h.Created), stated(h.Updated)
	return string(session.AppendHead(nil, &h))
}

// sameSessions: the two stores of the SDK are one session each, down to the
// ids of the messages; only the records they name differ.
func sameSessions(t *testing.T, a, b *outcome) {
	t.Helper()
	for i := range min(len(a.sessions), len(b.sessions)) {
		compareLines(t, "cursor-ndjson like cursor-sdk", b.sessions[i].normal, a.sessions[i].normal)
	}
}

// few is how many of n random stores are made.
func few(n int) int { return n / golden.Every() }
