package cursorndjson

import (
	"cmp"
	"context"
	"crypto/sha256"
	"errors"
	"io"
	"path/filepath"
	"slices"

	"rehome/formats"
	"rehome/formats/internal/agentstate"
	"rehome/formats/internal/blobs"
	"rehome/formats/internal/linecheck"
	"rehome/formats/internal/sdkdoc"
	"rehome/formats/internal/storecheck"
	"rehome/formats/rule"
	"rehome/formats/store"
	"rehome/internal/rawjson"
)

// blobChecker checks the checkpoints of all agents. It holds where each line is, to be read
// again.
type blobChecker struct {
	*checker
	lines  []blobLine
	agents map[string]*owned
	order  []string
	buffer []byte
	data   []byte
	parser sdkdoc.Parser
	last   *owned
}

// blobLine is where a checkpoint lies: 16 bytes.
type blobLine struct {
	offset int64
	size   uint32
	number uint32
}

func inOrder(a, b blobLine) int { return cmp.Compare(a.offset, b.offset) }

// owned is the checkpoints of one agent.
type owned struct {
	agent string
	index agentstate.Index
	first store.Addr
	seen  map[agentstate.ID]struct{}
}

func newBlobChecker(c *checker) *blobChecker {
	return &blobChecker{checker: c, agents: map[string]*owned{}}
}

// line enters a line of checkpoints.ndjson.
func (s *blobChecker) line(l *linecheck.Line) {
	if !s.q.Enabled(rule.References | rule.Meaning | rule.Schema) {
		return
	}
	agent := l.Member("agentId")
	if len(agent) == 0 || agent[0] != '"' || len(l.Bytes) > 1<<31-1 {
		return // which the schema says
	}
	data, ok := s.parser.Data(s.data[:0], l.Member("dataBase64"))
	s.data = data
	id, named, _ := blobs.ParseID(rawjson.Text(l.Member("blobId")))
	switch {
	case !named && l.Member("blobId") != nil:
		s.breach("RH302", "/blobId", "")
	case !ok && l.Member("dataBase64") != nil:
		s.breach("RH302", "/dataBase64", "not base64")
	}
	if !named || !ok {
		s.gap = true
		return
	}
	s.enter(rawjson.Text(l.Member("agentId")), id, l, data)
}

func (s *blobChecker) enter(agent string, id agentstate.ID, l *linecheck.Line, data []byte) {
	h := s.last
	if h == nil || h.agent != agent {
		if h = s.agents[agent]; h == nil {
			h = &owned{agent: agent, first: s.at, seen: map[agentstate.ID]struct{}{}}
			s.agents[agent] = h
			s.order = append(s.order, agent)
		}
		s.last = h
	}
	add := h.index.Add
	if s.q.Enabled(rule.References) {
		if sum := agentstate.ID(sha256.Sum256(data)); sum != id {
			s.breach("RH301", "/dataBase64", "bytes hash to %s", sum.String()[:12])
			add = h.index.AddFalse
		}
	}
	if _, twice := h.seen[id]; twice {
		s.breach("RH327", "/blobId", "")
		return
	}
	h.seen[id] = struct{}{}
	add(id, uint64(len(s.lines)), data)
	s.lines = append(s.lines, blobLine{s.start + l.Offset, uint32(len(l.Bytes)), uint32(l.Number)})
}

// finish walks the states of all agents.
func (s *blobChecker) finish(ctx context.Context) error {
	if !s.q.Enabled(rule.References|rule.Meaning|rule.Schema) || s.gap {
		return nil // what is missing may be on a line that cannot be read
	}
	for _, a := range s.catalog.Agents() {
		var g *storecheck.Graph
		if h := s.agents[a.ID]; h != nil {
			g = storecheck.NewGraph(s.q.OwnedBy(a.ID), &h.index, s.read, s.where)
		}
		if err := s.catalog.Walk(ctx, a.ID, g); err != nil {
			return err
		}
		if g != nil && !s.catalog.Gaps.Runs && !s.catalog.Gaps.Agents { // or what leads to a blob may not be known
			g.Finish(store.Addr{File: sdkdoc.Checkpoint.File()})
		}
	}
	if s.catalog.Gaps.Agents {
		return nil
	}
	for _, id := range s.order {
		if h := s.agents[id]; !s.catalog.Known(id) {
			s.q.OwnedBy(id).Report(rule.Finding{Rule: "RH328", At: h.first, Pointer: "/agentId", Message: "%s of %q", Args: []any{rule.Count(int64(h.index.Len()), "blob"), rule.Clip(id)}})
		}
	}
	return nil
}

// read gives a checkpoint's bytes again.
func (s *blobChecker) read(_ context.Context, place uint64) ([]byte, error) {
	l := s.lines[place]
	s.buffer = slices.Grow(s.buffer[:0], int(l.size))[:l.size]
	if _, err := s.places.ReadAt(s.buffer, l.offset); err != nil && !errors.Is(err, io.EOF) {
		return nil, s.moved(l, err)
	}
	data, ok := s.parser.Data(s.data[:0], sdkdoc.BlobMember(s.buffer))
	if s.data = data; !ok {
		return nil, s.moved(l, nil)
	}
	return data, nil
}

// moved is the error of a line that is not there any more.
func (s *blobChecker) moved(l blobLine, err error) error {
	at := filepath.Join(s.dir, s.places.at(l.offset, 0).File)
	if err == nil {
		return formats.Changed(name, at)
	}
	return &formats.Error{Format: name, At: at, Err: err}
}

func (s *blobChecker) where(place uint64) store.Addr {
	l := s.lines[place]
	return s.places.at(l.offset, int(l.number))
}
