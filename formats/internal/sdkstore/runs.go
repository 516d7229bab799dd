package sdkstore

import (
	"cmp"
	"slices"

	"rehome/formats/internal/sdkdoc"
	"rehome/formats/store"
	"rehome/internal/rawjson"
)

// heldRuns are the lines of runs, held until all are there. Two people who continued
// one agent have both numbered their turns from where it was: joined, the runs of such
// an agent are numbered by the times at which they were made.
type heldRuns struct {
	rows   Spool
	lines  []heldRun
	agents map[string][]turn
	seen   map[string]bool // runs
	number map[int]int64   // new numbers, by line
}

type heldRun struct {
	n     int
	class store.Class
	at    int64
	size  int
}

type turn struct {
	line            int
	number, created int64
}

// hold takes a line.
func (h *heldRuns) hold(_ sdkdoc.Kind, n int, c store.Cell) error {
	at, err := h.rows.Add(c.Bytes())
	h.lines = append(h.lines, heldRun{n, c.Class, at, len(c.Bytes())})
	if err != nil {
		return err
	}
	var run, agent string
	t := turn{line: n}
	numbered := false
	for name, value := range rawjson.Members(c.Bytes()) {
		switch string(name) {
		case "runId":
			run = rawjson.Text(value)
		case "agentId":
			agent = rawjson.Text(value)
		case "turnNumber":
			t.number, numbered = sdkdoc.Whole(value)
		case "createdAt":
			t.created = sdkdoc.Millis(value)
		}
	}
	if h.seen[run] || !numbered {
		return nil // it will be refused
	}
	if h.agents == nil {
		h.agents, h.seen, h.number = map[string][]turn{}, map[string]bool{}, map[int]int64{}
	}
	h.seen[run] = true
	h.agents[agent] = append(h.agents[agent], t)
	return nil
}

// release numbers the runs and gives the lines on.
func (h *heldRuns) release(line func(sdkdoc.Kind, int, store.Cell) error) error {
	for _, turns := range h.agents {
		taken := map[int64]bool{}
		twice := slices.ContainsFunc(turns, func(t turn) bool {
			was := taken[t.number]
			taken[t.number] = true
			return was
		})
		if !twice {
			continue
		}
		slices.SortStableFunc(turns, func(a, b turn) int { return cmp.Compare(a.created, b.created) })
		for i, t := range turns {
			if i > 0 {
				turns[i].number = max(t.number, turns[i-1].number+1)
			}
			if turns[i].number != t.number {
				h.number[t.line] = turns[i].number
			}
		}
	}
	h.agents, h.seen = nil, nil
	for _, l := range h.lines {
		b, err := h.rows.Read(l.at, l.size)
		if err != nil {
			return err
		}
		c := store.TextCell(b)
		if l.class == store.Blob {
			c = store.BlobCell(b)
		}
		if err := line(sdkdoc.Run, l.n, c); err != nil {
			return err
		}
	}
	h.lines = nil
	return h.rows.Close()
}

// renumber gives a run its new number, if it has one.
func (h *heldRuns) renumber(line int, number *store.Cell) bool {
	n, ok := h.number[line]
	if ok {
		*number = store.IntCell(n)
	}
	return ok
}
