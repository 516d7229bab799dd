package agentstate

import (
	"rehome/formats/internal/wire"
	"rehome/formats/loss"
	"rehome/formats/session"
)

// rootContext takes the ConversationTokenDetails.
func (s *State) rootContext(r *root, b []byte) {
	m := codecs().tokens.Decode(b)
	r.context = &session.Context{Used: int64(m.Used), Max: int64(m.Max)}
	if m.Snapshot != (ID{}) {
		s.gauges = append(s.gauges, m.Snapshot)
		codecs().tokens.Release(m, "promptContextUsageSnapshotBlobId") // the id is kept as an extra, too
	}
	for _, e := range s.keep(codecs().tokens.Message, &m.Unknown) {
		r.extras = append(r.extras, session.Extra{Name: "tokenDetails." + e.Name, Raw: e.Raw})
	}
}

// rootTimings takes the times of turns. Those that hold anything else stay unknown fields.
func (s *State) rootTimings(r *root, m *conversation) {
	var odd wire.List
	for b := range m.Timings.All() {
		if t := codecs().timing.Decode(b); len(t.Raw) > 0 {
			odd.Add(b)
		} else {
			r.timings = append(r.timings, timing{t.Millis, t.End})
		}
	}
	m.Timings = odd
	codecs().root.Release(m, "turnTimings")
}

func (s *State) rootRepo(r *root, b []byte) {
	m := codecs().repo.Decode(b)
	r.repos = append(r.repos, session.Repo{
		Path:   s.text(m.Path, "trackedGitRepoBranches.repoPath", &r.extras),
		Branch: s.text(m.Branch, "trackedGitRepoBranches.branchName", &r.extras),
	})
	for _, e := range s.keep(codecs().repo.Message, &m.Unknown) {
		r.extras = append(r.extras, session.Extra{Name: "trackedGitRepoBranches." + e.Name, Raw: e.Raw})
	}
}

// settleTimings sets the times of the turns if there is one for each. Otherwise nobody can
// tell which belongs to which, and they are kept as an extra.
func (s *State) settleTimings() {
	r := &s.root
	if len(r.timings) == len(r.turns) {
		for i, t := range r.timings {
			s.turns[i].end = stored(t.end)
			if t.end > t.millis && t.millis > 0 && s.turns[i].end.Known() && !s.turns[i].start.Known() {
				s.turns[i].start = session.Inferred(int64(t.end - t.millis))
			}
		}
		return
	}
	var list wire.List
	for _, t := range r.timings {
		list.Add(codecs().timing.Append(nil, &stepTiming{Millis: t.millis, End: t.end}))
	}
	c := codecs().root
	r.extras = append(r.extras, s.leftover(c.Message, c.Append(nil, &conversation{Timings: list}))...)
	s.ledger.took(-int64(len(r.timings))) // parseRoot counted them
	s.at = r.id
	if len(r.timings) > 0 && len(r.turns) > 0 {
		s.note(loss.TimingsMismatch)
	}
}
