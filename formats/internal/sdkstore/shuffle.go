package sdkstore

import (
	"encoding/binary"
	"strconv"

	"rehome/formats/loss"
	"rehome/formats/store"
)

// run is so many lines of one group in a row: of one agent, or with one kind of line end.
type run struct{ group, lines int }

// runs reads the order in which the lines of several agents once stood: "0:3
// 1:2 0:1" is three of the first agent, two of the second, one of the first.
// nil means agent by agent.
func (p *putBack) runs(groups int) []run {
	if p.order == nil {
		return nil
	}
	return parseRuns(p.order.Row[0].Bytes(), groups)
}

// parseRuns is nil where the text is no list of runs of so many groups.
func parseRuns(text []byte, groups int) (out []run) {
	for len(text) > 0 {
		var r run
		var ok bool
		if r.group, text, ok = number(text, ':'); !ok || r.group >= groups {
			return nil
		}
		if r.lines, text, ok = number(text, ' '); !ok || r.lines == 0 {
			return nil
		}
		out = append(out, r)
	}
	return out
}

func number(b []byte, end byte) (n int, rest []byte, ok bool) {
	i := 0
	for ; i < len(b) && i < 12 && b[i] != end; i++ {
		if b[i] < '0' || b[i] > '9' {
			return 0, nil, false
		}
		n = n*10 + int(b[i]-'0')
	}
	if i == 0 || i == 12 {
		return 0, nil, false
	}
	return n, b[min(i+1, len(b)):], true
}

func appendRun(dst []byte, r run) []byte {
	if len(dst) > 0 {
		dst = append(dst, ' ')
	}
	dst = append(strconv.AppendInt(dst, int64(r.group), 10), ':')
	return strconv.AppendInt(dst, int64(r.lines), 10)
}

// shuffle is a sink that puts lines down agent by agent and deals them out in
// the order in which they once stood. Blobs are large: they wait in a file.
type shuffle struct {
	scan  *docScan
	runs  []run
	lines Spool
	group int
	count []int   // lines by agent
	from  []int64 // of the first, in the spool
	line  []byte
	left  map[[2]int][]store.SidecarItem // leftovers by agent and line
}

func newShuffle(s *docScan, runs []run) *shuffle {
	return &shuffle{scan: s, runs: runs, group: -1, left: map[[2]int][]store.SidecarItem{}}
}

func (s *shuffle) due() error {
	for len(s.count) <= s.group {
		s.count, s.from = append(s.count, 0), append(s.from, s.lines.Size)
	}
	s.count[s.group]++
	return nil
}

func (s *shuffle) number() int { return s.count[s.group] }

func (s *shuffle) begin() []byte { return s.line[:0] }

func (s *shuffle) end(line []byte) error { return s.put(line, store.Text) }

func (s *shuffle) tail(line []byte) error { return s.put(line, store.Blob) }

func (s *shuffle) leave(it store.SidecarItem) {
	at := [2]int{s.group, s.count[s.group]}
	s.left[at] = append(s.left[at], it)
}

// put writes a line: its class, its length, its bytes.
func (s *shuffle) put(line []byte, class store.Class) error {
	s.line = line
	_, err := s.lines.Add(binary.LittleEndian.AppendUint64([]byte{byte(class)}, uint64(len(line))))
	if err == nil {
		_, err = s.lines.Add(line)
	}
	return err
}

// deal hands the lines on. Where they are not as many as they were, agent by
// agent is as good an order as any.
func (s *shuffle) deal() error {
	need := make([]int, max(len(s.count), 1))
	fits := true
	for _, r := range s.runs {
		if fits = fits && r.group < len(s.count); fits {
			need[r.group] += r.lines
		}
	}
	for i, n := range s.count {
		fits = fits && need[i] == n
	}
	if !fits {
		s.scan.note(loss.Loss{Code: loss.StaleOrder, At: s.scan.back.order.At})
		s.runs = s.runs[:0]
		for i, n := range s.count {
			s.runs = append(s.runs, run{i, n})
		}
	}
	dealt := make([]int, len(s.count))
	for _, r := range s.runs {
		for range r.lines {
			if err := s.one(r.group, dealt); err != nil {
				return err
			}
		}
	}
	return nil
}

func (s *shuffle) one(group int, dealt []int) error {
	head, err := s.lines.Read(s.from[group], 9)
	if err != nil {
		return err
	}
	class, n := store.Class(head[0]), int(binary.LittleEndian.Uint64(head[1:]))
	line, err := s.lines.Read(s.from[group]+9, n)
	if err != nil {
		return err
	}
	s.from[group] += int64(9 + n)
	dealt[group]++
	out := &s.scan.lines
	if err := out.due(); err != nil {
		return err
	}
	for _, it := range s.left[[2]int{group, dealt[group]}] {
		it.At.Line = out.number()
		out.leave(it)
	}
	if class == store.Blob {
		return out.tail(line)
	}
	return out.end(append(out.begin(), line...))
}
