package cursorndjson

import (
	"context"
	"slices"

	"rehome/formats/internal/agentstate"
	"rehome/formats/internal/blobs"
	"rehome/formats/internal/members"
	"rehome/formats/internal/sdkdoc"
	"rehome/formats/internal/sdksession"
	"rehome/formats/internal/sdkstore"
	"rehome/formats/loss"
	"rehome/formats/session"
	"rehome/formats/store"
	"rehome/internal/rawjson"
)

// checkpoints is where the checkpoints of one agent lie.
type checkpoints struct {
	d      *decoder
	agent  string
	extra  []session.Extra // members that no checkpoint of the SDK's has
	room   int             // what they take
	index  *blobs.Index[blobLine]
	tally  session.Account
	window sdkstore.Window // on a line
	data   []byte          // its bytes
	parser sdkdoc.Parser
}

// mostExtras bounds what rides along of members that nobody has described.
const mostExtras = 64 << 10

// checkpoint notes where a checkpoint lies. false: it is none.
func (d *decoder) checkpoint(b []byte, p sdksession.Place) bool {
	var agent, blob, data []byte
	var extras []session.Extra
	for name, value := range rawjson.Members(b) {
		switch string(name) {
		case "agentId":
			agent = value
		case "blobId":
			blob = value
		case "dataBase64":
			data = value
		default:
			if raw := members.Bare(string(name), value); raw != nil {
				extras = append(extras, session.Extra{Name: d.At(sdkdoc.Checkpoint, p).String() + "." + string(name), Raw: raw})
			}
		}
	}
	if !rawjson.IsText(agent) || !rawjson.IsText(blob) || !rawjson.IsText(data) {
		return false
	}
	if id := rawjson.Text(agent); d.last == nil || d.last.agent != id {
		if d.last = d.agents[id]; d.last == nil {
			d.last = &checkpoints{d: d, agent: id, index: blobs.New(inOrder)}
			d.agents[id] = d.last
			d.CheckpointAgents = append(d.CheckpointAgents, id)
		}
	}
	s := d.last
	id, exact, ok := blobs.ParseID(rawjson.Text(blob))
	if !ok {
		s.tally.Read++
		s.tally.CarriedRaw++
		d.Note(loss.Loss{Code: loss.CheckpointMisnamed, At: d.At(sdkdoc.Checkpoint, p)})
		return true
	}
	s.tally.Members += 3
	s.tally.MembersConverted += 3
	for _, e := range extras {
		if s.room += len(e.Name) + len(e.Raw); s.room > mostExtras {
			d.Note(loss.Loss{Code: loss.CheckpointMember, At: d.At(sdkdoc.Checkpoint, p)})
			continue
		}
		s.tally.Members++
		s.tally.MembersRaw++
		s.extra = append(s.extra, e)
	}
	s.index.Add(id, exact, blobLine{p.Offset, p.Len, uint32(p.Row)})
	return true
}

// checkpoints opens the checkpoints of an agent, nil if there are none.
func (d *decoder) checkpoints(_ context.Context, agent string) (*sdksession.Checkpoints, error) {
	s := d.agents[agent]
	if s == nil {
		return nil, nil
	}
	s.data = []byte{} // of a blob without bytes, too
	return &sdksession.Checkpoints{
		Blobs: s, All: s.all, At: s.at, Count: int64(s.index.Len()), Account: s.tally, Extra: s.extra,
		Close: func() error {
			s.window, s.data = sdkstore.Window{}, nil
			return nil
		},
	}, nil
}

// Blob reads a checkpoint; of two lines of one name the first counts. What is
// not base64 has no bytes, which will be found not to be what its name says.
func (s *checkpoints) Blob(ctx context.Context, id agentstate.ID) (data []byte, err error) {
	_, ok := s.index.Find(id, func(l blobLine) bool {
		line, named, fault := s.line(ctx, l)
		if err = fault; err == nil && named == id {
			s.data, _ = s.parser.Data(s.data[:0], sdkdoc.BlobMember(line))
		}
		return err != nil || named == id
	})
	if !ok || err != nil {
		return nil, err
	}
	return s.data, nil
}

// line reads a checkpoint again, and whose it is.
func (s *checkpoints) line(ctx context.Context, l blobLine) (line []byte, id agentstate.ID, err error) {
	line, err = s.d.line(ctx, sdkdoc.Checkpoint, &s.window, sdksession.Place{Offset: l.offset, Len: l.size})
	if err == nil {
		id, _, _ = blobs.ParseID(rawjson.TextAt(line, "blobId"))
	}
	return line, id, err
}

// at is where a checkpoint lies.
func (s *checkpoints) at(id agentstate.ID) store.Addr {
	a := store.Addr{File: sdkdoc.Checkpoint.File()}
	if l, ok := s.index.Find(id, nil); ok {
		a = s.d.files[sdkdoc.Checkpoint].at(l.offset, int(l.number))
	}
	a.Key = store.TextCell([]byte(id.String()[:16]))
	return a
}

// all yields the names of all checkpoints in the order of their lines.
func (s *checkpoints) all(yield func(agentstate.ID, error) bool) {
	for _, l := range slices.SortedFunc(s.index.Places(), inOrder) {
		if _, id, err := s.line(context.Background(), l); !yield(id, err) || err != nil {
			return
		}
	}
}
