package agentstate

import (
	"rehome/formats/internal/wire"
	"rehome/formats/loss"
	"rehome/formats/session"
)

func (s *State) rootContext(r *root, b []byte) {
	r.context = &session.Context{}
	rest, _ := s.fields(b, func(f *wire.Reader) bool {
		switch {
		case f.Is(1, wire.Varint):
			r.context.Used = int64(f.Uint)
		case f.Is(2, wire.Varint):
			r.context.Max = int64(f.Uint)
		case f.Is(5, wire.Bytes): // what the gauge was drawn from
			if id, ok := asID(f.Body); ok {
				s.gauges = append(s.gauges, id)
			}
			return false
		default:
			return false
		}
		return true
	})
	for _, e := range s.leftover("ConversationTokenDetails", rest) {
		r.extras = append(r.extras, session.Extra{Name: "tokenDetails." + e.Name, Raw: e.Raw})
	}
}

func (s *State) rootTiming(r *root, f *wire.Reader) bool {
	t := timing{raw: f.Raw}
	t2 := wire.Read(f.Body)
	for t2.Next() {
		switch {
		case t2.Is(1, wire.Varint):
			t.millis = t2.Uint
		case t2.Is(2, wire.Varint):
			t.end = t2.Uint
		default:
			return false
		}
	}
	if len(t2.Rest()) > 0 {
		return false
	}
	r.timings = append(r.timings, t)
	return true
}

func (s *State) rootRepo(r *root, b []byte) {
	var repo session.Repo
	rest, _ := s.fields(b, func(f *wire.Reader) bool {
		switch {
		case f.Is(1, wire.Bytes):
			repo.Path = s.text(f.Body, "trackedGitRepoBranches.repoPath", &r.extras)
		case f.Is(2, wire.Bytes):
			repo.Branch = s.text(f.Body, "trackedGitRepoBranches.branchName", &r.extras)
		default:
			return false
		}
		return true
	})
	r.repos = append(r.repos, repo)
	for _, e := range s.leftover("TrackedGitRepo", rest) {
		r.extras = append(r.extras, session.Extra{Name: "trackedGitRepoBranches." + e.Name, Raw: e.Raw})
	}
}

// settleTimings gives the turns their times where there is one for each; else
// nobody can say which is whose, and they ride along.
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
	var raw []byte
	for _, t := range r.timings {
		raw = append(raw, t.raw...)
	}
	r.extras = append(r.extras, s.leftover(rootDescriptor, raw)...)
	s.ledger.took(-int64(len(r.timings))) // parseRoot had counted them
	s.at = r.id
	if len(r.timings) > 0 && len(r.turns) > 0 {
		s.note(loss.TimingsMismatch)
	}
}
