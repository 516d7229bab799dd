package write

import (
	"bufio"
	"bytes"
	"cmp"
	"context"
	"crypto/sha256"
	"errors"
	"io"
	"os"
	"path/filepath"
	"slices"
	"time"

	"rehome/formats/loss"
	"rehome/formats/session"
)

// grafts are the abandoned branches of a session. The client continues from the last
// message of a file, older ones from the latest, and the Agent SDK from a line
// without children. So a branch comes before the live branch's continuation, in the
// file and in time, and never starts at the end of it. Sessions give it after the
// live branch, so the lines are first written to a draft.
type grafts struct {
	draft  *os.File
	forks  map[string]*fork  // by the message at which a branch starts; nil until that is written
	from   map[string]string // ids of these messages, by the names of the branches
	due    []string          // those that are written, but wait for results
	unit   fork              // the start of the last message on the live branch
	live   int64             // size of the live branch
	copied int64             // bytes of it, copied for branches that start at its end
	start  int64             // the time before that of the first line
	done   []graft
	reader *bufio.Reader // reads many lines of the draft
	peek   *bufio.Reader // reads one
	err    error
}

// maxCopied is how many more bytes than those of the live branch are copied.
const maxCopied = 1 << 20

// fork is a place between lines of the live branch.
type fork struct {
	at     int64  // in the draft
	parent string // uuid of the previous line
	time   int64  // of that line
}

// graft is a branch in the draft, and the place before which it is inserted.
type graft struct {
	at, from, to, lines int64
}

// grafted writes a session with its branches.
func (e *encoder) grafted(ctx context.Context) (err error) {
	draft, err := os.CreateTemp(filepath.Dir(e.b.Path), "draft-")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, draft.Close(), os.Remove(draft.Name())) }()
	out := e.w
	e.w = bufio.NewWriterSize(draft, 256<<10)
	e.grafts = &grafts{draft: draft, forks: map[string]*fork{}, from: map[string]string{}, start: e.last}
	for _, b := range e.s.Branches {
		if e.grafts.forks[b.From] = nil; e.grafts.from[b.Name] == "" {
			e.grafts.from[b.Name] = b.From
		}
	}
	if err = e.session(ctx); err != nil {
		return err
	}
	e.leave()
	if err = errors.Join(e.grafts.err, e.w.Flush()); err != nil {
		return err
	}
	e.w = out
	return e.assemble(ctx)
}

// graft switches to the branch of the next message; false if it has no place.
func (e *encoder) graft(branch string, id string) bool {
	g := e.grafts
	if g == nil || branch == "" && e.branch != "" {
		return branch == ""
	}
	if branch != e.branch {
		e.close()
	}
	if !e.begun && branch != "" && e.branch == "" {
		return false // the client would continue it
	}
	e.forks()
	if branch != e.branch {
		e.leave()
		e.enter(branch)
	}
	if _, wanted := g.forks[id]; wanted && id != "" {
		g.due = append(g.due, id)
	}
	return true
}

// forks marks the places after messages, once all their calls have results.
func (e *encoder) forks() {
	if e.step != nil {
		return
	}
	for _, id := range e.grafts.due {
		f := &fork{at: e.size, parent: e.parent, time: e.last}
		if e.branch != "" { // a branch of a branch comes after that
			f.at = e.grafts.done[len(e.grafts.done)-1].at
		}
		e.grafts.forks[id] = f
	}
	e.grafts.due = e.grafts.due[:0]
}

// unit marks the start of lines that belong together: a prompt, or a response with
// the results of its calls.
func (e *encoder) unit() {
	if g := e.grafts; g != nil && e.branch == "" {
		g.unit = fork{at: e.size, parent: e.parent, time: e.last}
	}
}

// leave ends the current branch.
func (e *encoder) leave() {
	g := e.grafts
	if e.branch == "" {
		g.live = e.size
		return
	}
	last := &g.done[len(g.done)-1]
	last.to, last.lines = e.size, e.lines-last.lines
}

// enter begins a branch.
func (e *encoder) enter(branch string) {
	g := e.grafts
	f := &fork{time: g.start} // a root of its own
	if at := g.forks[g.from[branch]]; at != nil {
		f = at
	}
	if !e.own {
		e.note(loss.BranchHidden)
	}
	e.unrecorded()
	e.branch = branch
	made := graft{at: f.at, from: e.size, lines: e.lines}
	g.done = append(g.done, made)
	e.parent, e.last = f.parent, f.time
	if end := f.at; end > g.unit.at { // no message follows
		e.parent, e.last = g.unit.parent, g.unit.time
		g.done[len(g.done)-1].at = g.unit.at
		e.again(end)
		if g.copied += end - g.unit.at; g.copied > g.live+maxCopied {
			*f = fork{at: g.unit.at, parent: e.parent, time: e.last} // the next ones start at this copy
		}
	}
	e.begun = e.parent != ""
}

// assemble writes the lines of the draft in the order of the file.
func (e *encoder) assemble(ctx context.Context) error {
	g := e.grafts
	g.reader, g.peek = bufio.NewReaderSize(nil, 256<<10), bufio.NewReaderSize(nil, 1<<10)
	e.lines, e.size, e.last = 0, 0, g.start
	e.sum = sha256.New()
	slices.SortStableFunc(g.done, func(a, b graft) int { return cmp.Compare(a.at, b.at) })
	from := int64(0)
	for i := 0; i < len(g.done); {
		at, lines, end := g.done[i].at, int64(0), i
		for end < len(g.done) && g.done[end].at == at {
			lines += g.done[end].lines
			end++
		}
		if err := e.pour(ctx, from, at, nil); err != nil {
			return err
		}
		next, err := g.time(at)
		if err != nil {
			return err
		}
		for ; i < end; i++ {
			err := e.pour(ctx, g.done[i].from, g.done[i].to, func() int64 { lines--; return next - lines - 1 })
			if err != nil {
				return err
			}
		}
		from = at
	}
	return e.pour(ctx, from, g.live, nil)
}

// pour writes lines of the draft with increasing times, below the ceiling if there
// is one and it leaves room.
func (e *encoder) pour(ctx context.Context, from, to int64, ceiling func() int64) error {
	r := e.grafts.reader
	r.Reset(io.NewSectionReader(e.grafts.draft, from, to-from))
	for {
		line, err := r.ReadBytes('\n')
		if errors.Is(err, io.EOF) && len(line) == 0 {
			return nil
		}
		if err == nil {
			err = ctx.Err()
		}
		if err != nil {
			return err
		}
		at, spelled, err := moment(line)
		if err != nil {
			return err
		}
		if ceiling != nil {
			at = min(at, ceiling())
		}
		copy(spelled, e.tick(session.Stored(at)))
		e.put(line[:len(line)-1])
	}
}

// time returns the time of the line at a place in the draft.
func (g *grafts) time(at int64) (int64, error) {
	g.peek.Reset(io.NewSectionReader(g.draft, at, g.live-at))
	line, err := g.peek.ReadBytes('\n')
	if err != nil {
		return 0, err
	}
	ms, _, err := moment(line)
	return ms, err
}

// moment returns the time of a line that we wrote, and its bytes in the line. No
// later member contains an object.
func moment(line []byte) (ms int64, spelled []byte, err error) {
	const name, long = `,"timestamp":"`, len(session.StampLayout)
	i := bytes.LastIndex(line, []byte(name))
	if i < 0 || len(line) < i+len(name)+long {
		return 0, nil, errors.New("line of the draft has no timestamp")
	}
	spelled = line[i+len(name):][:long]
	t, err := time.Parse(session.StampLayout, string(spelled))
	return t.UnixMilli(), spelled, err
}
