package all_test

import (
	"fmt"
	"path/filepath"
	"testing"

	"rehome/formats/formatstest/graphgen"
	"rehome/formats/formatstest/idegen"
	"rehome/formats/session"
)

// TestRandomIDE: stores of all generations at once decode to the sessions that
// their plans say, and nothing that was written is lost in silence.
func TestRandomIDE(t *testing.T) {
	for seed := range uint64(*seeds) {
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
			for _, m := range lostMarks(p.Live, got.text()) {
				t.Errorf("lost in silence: %s", around(p.Live, m))
			}
		})
	}
}
