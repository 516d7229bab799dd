package all_test

import (
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"rehome/convert"
	"rehome/formats/all"
	"rehome/formats/formatstest/idegen"
	"rehome/formats/session"
)

// TestPick: of a store of many sessions only those come that were asked for, by
// name, by folder, by time; and a choice that none meets is an error.
func TestPick(t *testing.T) {
	p := idegen.New(7, 60)
	dir := filepath.Join(t.TempDir(), "User")
	if err := p.Write(t.Context(), dir); err != nil {
		t.Fatal(err)
	}
	folder := ""
	for _, s := range p.Sessions {
		folder = max(folder, s.Workspace)
	}
	since := p.Sessions[len(p.Sessions)/2].Updated.Millis()
	for name, c := range map[string]struct {
		o    convert.Options
		want func(s *session.Session) bool
	}{
		"session":   {convert.Options{Sessions: []string{p.Sessions[3].ID, p.Sessions[5].ID}}, func(s *session.Session) bool { return s.ID == p.Sessions[3].ID || s.ID == p.Sessions[5].ID }},
		"workspace": {convert.Options{Workspace: folder}, func(s *session.Session) bool { return s.Workspace == folder }},
		"above":     {convert.Options{Workspace: "/work space"}, func(s *session.Session) bool { return s.Workspace != "" }},
		"since":     {convert.Options{Since: since}, func(s *session.Session) bool { return s.Updated.Millis() >= since }},
		"both":      {convert.Options{Since: since, Workspace: folder}, func(s *session.Session) bool { return s.Updated.Millis() >= since && s.Workspace == folder }},
		"none":      {convert.Options{Sessions: []string{"nobody"}}, func(*session.Session) bool { return false }},
		"nowhere":   {convert.Options{Workspace: "/nowhere"}, func(*session.Session) bool { return false }},
	} {
		t.Run(name, func(t *testing.T) {
			c.o.To = "canonical"
			var want, got []string
			for _, s := range p.Sessions {
				if c.want(&s.Session) {
					want = append(want, s.ID)
				}
			}
			rep, err := convert.Convert(t.Context(), all.Registry(), dir, filepath.Join(t.TempDir(), "out"), c.o)
			for _, st := range rep.Stores {
				for _, s := range st.Sessions {
					got = append(got, s.ID)
				}
			}
			slices.Sort(want)
			slices.Sort(got)
			if !slices.Equal(got, want) {
				t.Errorf("%d sessions, want %d", len(got), len(want))
			}
			if (err != nil) != (len(want) == 0) || err != nil && !strings.Contains(err.Error(), "no session matches") {
				t.Errorf("error %v for %d sessions", err, len(want))
			}
		})
	}
}
