package cursorndjson

import (
	"cmp"
	"context"
	"encoding/base64"
	"hash/maphash"
	"slices"

	"rehome/formats/internal/agentstate"
	"rehome/formats/internal/members"
	"rehome/formats/internal/rawjson"
	"rehome/formats/internal/sdkdoc"
	"rehome/formats/internal/sdksession"
	"rehome/formats/loss"
	"rehome/formats/session"
	"rehome/formats/store"
)

// shelf is where the checkpoints of one agent lie.
type shelf struct {
	d      *decoder
	seed   maphash.Seed
	agent  string
	extra  []session.Extra // members that no checkpoint of the SDK's has
	room   int             // what they take
	list   []mark          // in the order of lines; by name once it is opened
	tally  session.Account
	buffer []byte // a line
	data   []byte // its bytes
	plain  []byte // base64 that is not quite standard
}

// mark is one checkpoint: 24 bytes. The line tells whether it is the one.
type mark struct {
	name   uint64 // a hash of it
	offset int64
	len    uint32
	line   uint32
}

// mostExtras bounds what rides along of members that nobody has described.
const mostExtras = 64 << 10

// checkpoint notes where a checkpoint lies. false: it is none.
func (d *decoder) checkpoint(line []byte, p sdksession.Place) bool {
	b, _, err := rawjson.Line(line)
	if err != nil {
		return false
	}
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
	if !quoted(agent) || !quoted(blob) || !quoted(data) {
		return false
	}
	if id := rawjson.Text(agent); d.last == nil || d.last.agent != id {
		if d.last = d.shelves[id]; d.last == nil {
			d.last = &shelf{d: d, seed: maphash.MakeSeed(), agent: id}
			d.shelves[id] = d.last
			d.order = append(d.order, id)
		}
	}
	s := d.last
	id, ok := agentstate.ParseID(rawjson.Text(blob))
	if !ok {
		s.tally.Read++
		s.tally.CarriedRaw++
		d.note(loss.Loss{Code: loss.CheckpointMisnamed, At: d.At(sdkdoc.Checkpoint, p)})
		return true
	}
	s.tally.Members += 3
	s.tally.MembersConverted += 3
	for _, e := range extras {
		if s.room += len(e.Name) + len(e.Raw); s.room > mostExtras {
			d.note(loss.Loss{Code: loss.CheckpointMember, At: d.At(sdkdoc.Checkpoint, p)})
			continue
		}
		s.tally.Members++
		s.tally.MembersRaw++
		s.extra = append(s.extra, e)
	}
	s.list = append(s.list, mark{id.Hash(s.seed), p.Offset, p.Len, uint32(p.Row)})
	return true
}

func quoted(raw []byte) bool { return len(raw) > 1 && raw[0] == '"' }

// shelf opens the checkpoints of an agent, nil if there are none.
func (d *decoder) shelf(_ context.Context, agent string) (*sdksession.Shelf, error) {
	s := d.shelves[agent]
	if s == nil {
		return nil, nil
	}
	slices.SortFunc(s.list, func(a, b mark) int { return cmp.Or(cmp.Compare(a.name, b.name), cmp.Compare(a.offset, b.offset)) })
	return &sdksession.Shelf{
		Blobs: s, All: s.all, At: s.at, Count: int64(len(s.list)), Account: s.tally, Extra: s.extra,
		Close: func() error {
			s.buffer, s.data, s.plain = nil, nil, nil
			return nil
		},
	}, nil
}

// Blob reads a checkpoint; of two lines of one name the first counts.
func (s *shelf) Blob(ctx context.Context, id agentstate.ID) ([]byte, error) {
	for i, there := s.find(id); there && i < len(s.list) && s.list[i].name == id.Hash(s.seed); i++ {
		line, err := s.line(ctx, s.list[i])
		if err != nil {
			return nil, err
		}
		if named, ok := agentstate.ParseID(rawjson.Text(rawjson.Last(line, "blobId"))); ok && named == id {
			return s.decode(rawjson.Last(line, "dataBase64")), nil
		}
	}
	return nil, nil
}

func (s *shelf) find(id agentstate.ID) (i int, there bool) {
	return slices.BinarySearchFunc(s.list, id.Hash(s.seed), func(m mark, name uint64) int { return cmp.Compare(m.name, name) })
}

func (s *shelf) line(ctx context.Context, m mark) (line []byte, err error) {
	line, s.buffer, err = s.d.line(ctx, sdkdoc.Checkpoint, sdksession.Place{Offset: m.offset, Len: m.len}, s.buffer)
	return line, err
}

// decode takes base64 as the SDK does: padded or not, in either alphabet. What
// is none has no bytes, which will be found not to be what its name says.
func (s *shelf) decode(raw []byte) []byte {
	if len(raw) < 2 {
		return []byte{}
	}
	text := raw[1 : len(raw)-1]
	s.data = slices.Grow(s.data[:0], base64.StdEncoding.DecodedLen(len(text))+3)[:0]
	if n, err := base64.StdEncoding.Decode(s.data[:cap(s.data)], text); err == nil {
		return s.data[:n]
	}
	s.plain = rawjson.AppendText(s.plain[:0], raw)
	n := 0
	for _, c := range s.plain {
		switch c {
		case '-':
			c = '+'
		case '_':
			c = '/'
		case '=':
			continue
		}
		s.plain[n] = c
		n++
	}
	n, err := base64.RawStdEncoding.Decode(s.data[:cap(s.data)], s.plain[:n])
	if err != nil {
		return []byte{}
	}
	return s.data[:n]
}

// at is where a checkpoint lies.
func (s *shelf) at(id agentstate.ID) store.Addr {
	a := store.Addr{File: sdkdoc.Checkpoint.File(), Key: store.TextCell([]byte(id.String()[:16]))}
	if i, there := s.find(id); there {
		a.Line = int(s.list[i].line)
	}
	return a
}

// all yields the names of all checkpoints in the order of their lines.
func (s *shelf) all(yield func(agentstate.ID, error) bool) {
	order := slices.Clone(s.list)
	slices.SortFunc(order, func(a, b mark) int { return cmp.Compare(a.offset, b.offset) })
	for _, m := range order {
		line, err := s.line(context.Background(), m)
		if err != nil {
			yield(agentstate.ID{}, err)
			return
		}
		if id, ok := agentstate.ParseID(rawjson.Text(rawjson.Last(line, "blobId"))); ok && !yield(id, nil) {
			return
		}
	}
}
