package formatstest

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"

	"rehome/formats"
	"rehome/formats/loss"
	"rehome/formats/session"
)

// Shape builds a store that is expensive in one way, with n of the expensive
// thing.
type Shape struct {
	Name string
	Make func(t *testing.T, dir string, n int) (path string)
}

// Cost is what some work needed, in units that do not depend on the machine.
type Cost struct {
	Steps  int64 // how often it asked its context whether to go on
	Read   int64 // bytes of files, where the system counts them
	Allocs int64
	Bytes  int64 // allocated
}

// Measure returns the cost of work. It also counts what runs at the same time, so
// it cannot be used in parallel tests. Work that neither reads nor allocates is
// measured by how often it checks its context, as every unbounded loop must.
func Measure(work func(ctx context.Context)) Cost {
	ctx := &asked{Context: context.Background()}
	var before, after runtime.MemStats
	read := bytesRead()
	runtime.ReadMemStats(&before)
	work(ctx)
	runtime.ReadMemStats(&after)
	return Cost{Steps: ctx.n.Load(), Read: bytesRead() - read, Allocs: int64(after.Mallocs - before.Mallocs), Bytes: int64(after.TotalAlloc - before.TotalAlloc)}
}

// asked is a context that counts how often it is checked.
type asked struct {
	context.Context
	n atomic.Int64
}

func (a *asked) Err() error {
	a.n.Add(1)
	return nil
}

// bytesRead returns how much this process has read, or 0 if the system does not count.
func bytesRead() int64 {
	data, _ := os.ReadFile("/proc/self/io")
	for line := range bytes.Lines(data) {
		if rest, ok := bytes.CutPrefix(line, []byte("rchar: ")); ok {
			n, _ := strconv.ParseInt(string(bytes.TrimSpace(rest)), 10, 64)
			return n
		}
	}
	return 0
}

// exceeds names the costs that grew by more than the work did, which is eight
// times as much.
func (c Cost) exceeds(one Cost) string {
	for _, m := range []struct {
		name         string
		n, eightfold int64
		most         int64 // below it nobody minds
	}{{"steps", one.Steps, c.Steps, 20_000}, {"bytes read", one.Read, c.Read, 8 << 20}, {"allocations", one.Allocs, c.Allocs, 60_000}, {"bytes allocated", one.Bytes, c.Bytes, 16 << 20}} {
		if m.eightfold > m.most && m.eightfold > 14*m.n {
			return fmt.Sprintf("%d %s, and %d for eight times as much", m.n, m.name, m.eightfold)
		}
	}
	return ""
}

// Work is an operation on the store at a path. Whether it fails is not measured
// here.
type Work struct {
	Name string
	Do   func(ctx context.Context, path, scratch string)
}

// Grows fails the test unless the cost of listing, decoding and writing a store,
// and of more work, is proportional to its size: it is measured with n, and with
// eight times n.
func Grows(t *testing.T, reg *formats.Registry, f *formats.Format, n int, shapes []Shape, more ...Work) {
	for _, shape := range shapes {
		t.Run(shape.Name, func(t *testing.T) {
			small, large := shape.Make(t, t.TempDir(), n), shape.Make(t, t.TempDir(), 8*n)
			for _, w := range append(works(reg, f), more...) {
				t.Run(w.Name, func(t *testing.T) {
					dirs := [...]string{t.TempDir(), t.TempDir(), t.TempDir()}
					w.Do(context.Background(), small, dirs[0]) // what is made once is there then
					one := Measure(func(ctx context.Context) { w.Do(ctx, small, dirs[1]) })
					eight := Measure(func(ctx context.Context) { w.Do(ctx, large, dirs[2]) })
					t.Logf("%+v, then %+v", one, eight)
					if bad := eight.exceeds(one); bad != "" {
						t.Errorf("%s: %s", w.Name, bad)
					}
				})
			}
		})
	}
}

// works returns the operations that are measured for every format.
func works(reg *formats.Registry, f *formats.Format) (out []Work) {
	view := formats.View{OnLoss: func(loss.Loss) {}, OnNotice: func(string) {}, Jobs: 1, Secrets: formats.WithholdSecrets}
	if f.Sessions != nil && f.Sessions.Heads != nil {
		out = append(out, Work{"list", func(ctx context.Context, path, _ string) {
			if l, err := formats.Locate(path); err == nil {
				for _, err := range f.Sessions.Heads(ctx, l, view) {
					if err != nil {
						return
					}
				}
			}
		}})
	}
	for _, to := range []*formats.Format{nil, reg.Lookup("canonical"), reg.Lookup("claude-code"), reg.Lookup("cursor-chat"), reg.Lookup("cursor-ndjson")} {
		for _, history := range []bool{false, true} {
			if to != nil && strings.HasPrefix(to.Name, "cursor-") && (history || f.Name != "canonical") {
				continue // they write no branches, and what they write does not depend on where it is from
			}
			name := "decode"
			if to != nil {
				name = "to " + to.Name
			}
			if history {
				name += " with its history"
			}
			out = append(out, Work{name, func(ctx context.Context, path, scratch string) {
				carry(ctx, f, to, path, scratch, view, session.Selection{History: history, Inner: true})
			}})
		}
	}
	return out
}

// carry decodes all sessions of a store and writes them in a format.
func carry(ctx context.Context, f, to *formats.Format, path, scratch string, view formats.View, sel session.Selection) {
	l, err := formats.Locate(path)
	if err != nil {
		return
	}
	n := 0
	for s, err := range f.Sessions.Decode(ctx, l, view, sel) {
		switch {
		case s == nil:
			return
		case err != nil:
			continue
		case to != nil:
			n++
			file := filepath.Join(scratch, strconv.Itoa(n))
			writeStore(ctx, s, to, file, view)
			os.RemoveAll(file)
		default:
			drainSession(s)
		}
	}
}

// writeStore writes a session at a path, verifies it, and makes a store of it if the format
// joins sessions.
func writeStore(ctx context.Context, s *session.Session, to *formats.Format, path string, view formats.View) {
	sink := to.Writer.New()
	d, err := sink.Put(ctx, s, formats.SessionBuild{Path: path, OnLoss: view.OnLoss})
	if family, ok := sink.(formats.FamilySink); ok && err == nil {
		err = family.Finish(ctx)
	}
	if err != nil || d.Verify(ctx) != nil || to.Writer.Join == nil {
		return
	}
	r, err := to.Writer.Join(ctx, []string{path}, view)
	if err != nil {
		return
	}
	defer r.Close()
	w, err := to.Records.Create(ctx, formats.Build{Path: path + " joined", Schema: r.Schema(), Jobs: 1, OnLoss: view.OnLoss})
	if err != nil {
		return
	}
	defer w.Close()
	for b, err := range r.Batches(ctx) {
		if err != nil || w.Put(ctx, b) != nil {
			return
		}
	}
	w.Finish(ctx)
}

func drainSession(s *session.Session) {
	if s.Messages != nil {
		for _, err := range s.Messages {
			if err != nil {
				return
			}
		}
	}
	if s.Files != nil {
		for _, err := range s.Files {
			if err != nil {
				return
			}
		}
	}
}
