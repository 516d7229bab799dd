package sdkstore

import (
	"strconv"

	"rehome/formats/internal/digest"
	"rehome/formats/internal/sdkdoc"
	"rehome/formats/store"
)

// admission knows which rows the SDK's databases take: its keys are unique,
// and a run belongs to an agent. Line stores know no such rules. Keys are kept
// as hashes; should two ever agree by chance, a line goes into the sidecar that
// need not.
type admission struct {
	agents map[string]int // number of each agent, by id
	keys   map[store.Digest]struct{}
	runs   map[string]*sequence // events by run
	twice  bool                 // the last row that was not admitted has a key that is taken
}

// sequence is the events of one run.
type sequence struct {
	sdkdoc.Numbers
	odd bool // an offset was not its number
}

func newAdmission() *admission {
	return &admission{agents: map[string]int{}, keys: map[store.Digest]struct{}{}, runs: map[string]*sequence{}}
}

// admit enters a row; false means that a database would not take it.
func (a *admission) admit(k sdkdoc.Kind, row []store.Cell) bool {
	a.twice = true
	switch k {
	case sdkdoc.Agent:
		id := string(row[sdkdoc.AgentID].Bytes())
		if _, there := a.agents[id]; there {
			return false
		}
		a.agents[id] = len(a.agents)
		return true
	case sdkdoc.Run:
		if _, there := a.agents[string(row[sdkdoc.RunAgent].Bytes())]; !there {
			a.twice = false
			return false
		}
		return a.all(key('r', row[sdkdoc.RunID]), key('t', row[sdkdoc.RunAgent], row[sdkdoc.RunTurn]))
	case sdkdoc.Event:
		return a.event(row)
	}
	return a.all(key('b', row[sdkdoc.BlobAgent], row[sdkdoc.BlobID]))
}

// all enters several keys, or none.
func (a *admission) all(keys ...store.Digest) bool {
	for _, k := range keys {
		if _, there := a.keys[k]; there {
			return false
		}
	}
	for _, k := range keys {
		a.keys[k] = struct{}{}
	}
	return true
}

func (a *admission) event(row []store.Cell) bool {
	s := a.runs[string(row[sdkdoc.EventRun].Bytes())]
	if s == nil {
		s = &sequence{}
		a.runs[string(row[sdkdoc.EventRun].Bytes())] = s
	}
	seq := row[sdkdoc.EventSeq].Int()
	if s.Has(seq) {
		return false
	}
	var keys []store.Digest
	if row[sdkdoc.EventKey].Class != store.Null {
		keys = append(keys, key('i', row[sdkdoc.EventRun], row[sdkdoc.EventKey]))
	}
	offset := row[sdkdoc.EventOffset]
	var space [24]byte
	plain := string(strconv.AppendInt(space[:0], seq, 10)) == string(offset.Bytes())
	if n, err := strconv.ParseInt(string(offset.Bytes()), 10, 64); !plain && err == nil && s.Has(n) {
		return false // most likely that event's offset; at worst it is kept in the sidecar
	}
	if !plain || s.odd {
		keys = append(keys, key('o', row[sdkdoc.EventRun], offset))
	}
	if !a.all(keys...) {
		return false
	}
	s.odd = s.odd || !plain
	s.Add(seq)
	return true
}

// key is the hash of a few cells.
func key(tag byte, cells ...store.Cell) store.Digest {
	var space [256]byte
	b := append(space[:0], tag)
	for _, c := range cells {
		b = appendCell(b, c)
	}
	return digest.Bytes(b)
}

// appendCell spells a cell so that no two lists of cells are spelled alike.
func appendCell(b []byte, c store.Cell) []byte {
	b = append(b, byte(c.Class))
	n := c.Bits()
	b = append(b, byte(n), byte(n>>8), byte(n>>16), byte(n>>24), byte(n>>32), byte(n>>40), byte(n>>48), byte(n>>56))
	return append(b, c.Bytes()...)
}
