package all_test

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"rehome/formats/formatstest/graphgen"
	"rehome/formats/formatstest/idegen"
	"rehome/formats/loss"
	"rehome/formats/session"
)

// TestRandomIDE: stores of all generations at once decode to the sessions that
// their plans say, and nothing that was written is lost in silence.
func TestRandomIDE(t *testing.T) {
	for seed := range uint64(few(*seeds)) {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			p := idegen.New(seed, 40)
			dir := filepath.Join(t.TempDir(), "User")
			if err := p.Write(t.Context(), dir); err != nil {
				t.Fatal(err)
			}
			got := decodeStore(t, "cursor-ide", dir, session.Selection{})
			for _, err := range got.errs {
				t.Error(err)
			}
			if !got.tally.Balanced() || got.tally.Read == 0 {
				t.Errorf("the books do not balance: %+v", got.tally)
			}
			byID := map[string]*decoded{}
			for i := range got.sessions {
				byID[got.sessions[i].ID] = &got.sessions[i]
			}
			if len(byID) != len(p.Sessions) {
				t.Errorf("%d sessions, want %d", len(byID), len(p.Sessions))
			}
			for _, want := range p.Sessions {
				g := byID[want.ID]
				if g == nil {
					t.Errorf("no session %s", want.ID)
					continue
				}
				if g.Title != want.Title || g.Workspace != want.Workspace || g.Created != want.Created || g.Updated != want.Updated {
					t.Errorf("head %+v, want %+v", g.Head, want.Head)
				}
				compareLines(t, want.ID, g.normal, expectedLines(&graphgen.Session{Session: want.Session, List: want.List}))
			}
			abandonedIDE(t, dir, p, got)
			for _, m := range lostMarks(p.Live, got.text()) {
				t.Errorf("lost in silence: %s", around(p.Live, m))
			}
		})
	}
}

// abandonedIDE: with their history the sessions have each bubble that no list
// names once, in a branch of its session, and else what they had.
func abandonedIDE(t *testing.T, dir string, p *idegen.Plan, without *outcome) {
	t.Helper()
	with := decodeStore(t, "cursor-ide", dir, session.Selection{History: true})
	if !with.tally.Balanced() || with.tally.Read != without.tally.Read || without.tally.Unreadable-with.tally.Unreadable != int64(p.Orphans) {
		t.Errorf("%d orphans; books with history %+v, without %+v", p.Orphans, with.tally, without.tally)
	}
	if left := slices.ContainsFunc(without.notes, func(n loss.Loss) bool { return n.Code == loss.TurnAbandoned }); left != (p.Orphans > 0) {
		t.Errorf("%d orphans; %v", p.Orphans, without.notes)
	}
	orphans := 0
	for i, s := range with.sessions {
		var live []string
		for _, l := range s.lines[1:] {
			if strings.Contains(l, `"branch":"branch-`) {
				orphans += strings.Count(l, `"text":"orphan `)
			} else {
				live = append(live, l)
			}
		}
		if !slices.Equal(live, without.sessions[i].lines[1:]) {
			t.Errorf("%s: what the user did not go back on is not the same", s.ID)
		}
	}
	if orphans != p.Orphans {
		t.Errorf("%d of %d orphans are in a branch", orphans, p.Orphans)
	}
}
