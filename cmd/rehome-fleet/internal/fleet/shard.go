package fleet

import (
	"bufio"
	"bytes"
	"cmp"
	"container/heap"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"io"
	"os"
	"slices"

	"rehome/formats"
)

// maxLine is the max length of a line of a plan: a unit of maxMembers long names.
const maxLine = 1 << 30

// planFile is a plan whose digest has been checked.
type planFile struct {
	*os.File
	header Header
	total  Total
	units  []unitAt
}

// unitAt is where a unit is in a plan.
type unitAt struct {
	at, size int64
	seconds  float64
}

// openPlan reads a plan and checks it.
func openPlan(ctx context.Context, path string) (_ *planFile, err error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, &formats.Error{At: path, Err: formats.Cause(err), Hint: "make one with `rehome-fleet plan SRC`"}
	}
	p := &planFile{File: f}
	defer func() {
		if err != nil {
			f.Close()
		}
	}()
	sum := sha256.New()
	in := bufio.NewReaderSize(f, 1<<20)
	var at, units, others int64
	for p.total.Type == "" {
		line, err := readLine(in)
		if err = errors.Join(err, ctx.Err()); err != nil {
			if errors.Is(err, io.EOF) {
				err = damaged(path, "its last line is missing")
			}
			return nil, err
		}
		switch {
		case at == 0:
			err = json.Unmarshal(line, &p.header)
			if err != nil || p.header.Type != "plan" || p.header.Schema != planSchema || verbNamed(p.header.Recipe.Verb) == nil {
				return nil, damaged(path, "its first line is not that of a plan of version %d", planSchema)
			}
		case bytes.HasPrefix(line, []byte(`{"type":"unit"`)):
			var u struct {
				Seconds float64 `json:"core_seconds"`
			}
			err = json.Unmarshal(line, &u)
			p.units = append(p.units, unitAt{at, int64(len(line)), u.Seconds})
			units++
		case bytes.HasPrefix(line, []byte(`{"type":"other"`)):
			others++
		case bytes.HasPrefix(line, []byte(`{"type":"total"`)):
			err = json.Unmarshal(line, &p.total)
		}
		if err != nil {
			return nil, damaged(path, "invalid line at byte %d", at)
		}
		if p.total.Type == "" {
			sum.Write(line)
		}
		at += int64(len(line))
	}
	if p.total.Digest != hex.EncodeToString(sum.Sum(nil)) || p.total.Units != units || p.total.Others != others {
		return nil, damaged(path, "its digest does not match")
	}
	if _, err := in.ReadByte(); !errors.Is(err, io.EOF) { // such as another plan
		return nil, damaged(path, "it goes on after its last line")
	}
	return p, nil
}

// readLine reads a line with its end.
func readLine(in *bufio.Reader) ([]byte, error) {
	var line []byte
	for {
		piece, err := in.ReadSlice('\n')
		line = append(line, piece...)
		switch {
		case err == nil:
			return line, nil
		case len(line) > maxLine:
			return nil, errors.New("line too long")
		case !errors.Is(err, bufio.ErrBufferFull):
			return nil, err
		}
	}
}

// unit reads a unit.
func (p *planFile) unit(u unitAt) (*Unit, error) {
	line := make([]byte, u.size)
	if _, err := p.ReadAt(line, u.at); err != nil {
		return nil, err
	}
	var out Unit
	if err := json.Unmarshal(line, &out); err != nil || out.ID != out.id(p.header.Recipe) {
		return nil, damaged(p.Name(), "the unit at byte %d does not match its id", u.at)
	}
	return &out, nil
}

// shard returns the units of one shard of n: each goes, the longest first, to the shard with
// the least to do. It depends on nothing but the plan and n.
func (p *planFile) shard(i, n int) []unitAt {
	order := slices.Clone(p.units)
	slices.SortStableFunc(order, func(a, b unitAt) int {
		return cmp.Or(cmp.Compare(b.seconds, a.seconds), cmp.Compare(a.at, b.at))
	})
	loads := make(loads, n)
	for k := range loads {
		loads[k].shard = k
	}
	var out []unitAt
	for _, u := range order {
		if loads[0].shard == i {
			out = append(out, u)
		}
		loads[0].seconds += u.seconds + unitSeconds
		heap.Fix(&loads, 0)
	}
	return out
}

// unitSeconds are the core-seconds that a unit takes besides its stores.
const unitSeconds = 0.05

// loads is a heap of shards by what they have to do.
type loads []struct {
	shard   int
	seconds float64
}

func (l loads) Len() int { return len(l) }
func (l loads) Less(a, b int) bool {
	return cmp.Or(cmp.Compare(l[a].seconds, l[b].seconds), cmp.Compare(l[a].shard, l[b].shard)) < 0
}
func (l loads) Swap(a, b int) { l[a], l[b] = l[b], l[a] }
func (l *loads) Push(any)     {}
func (l *loads) Pop() any     { return nil }
