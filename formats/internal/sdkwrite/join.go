package sdkwrite

import (
	"bufio"
	"bytes"
	"cmp"
	"container/heap"
	"context"
	"errors"
	"io"
	"io/fs"
	"iter"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"rehome/formats"
	"rehome/formats/internal/sdkdoc"
	"rehome/formats/internal/sdkstore"
	"rehome/formats/internal/tally"
	"rehome/formats/store"
	"rehome/internal/rawjson"
)

// join opens drafts as the documents of one store. The lines of all drafts are in the
// order of their times, as in a store that one program wrote; those of a draft keep their
// order, and checkpoints, which have no times, are in the order of the agents.
func join(_ context.Context, drafts []string, v formats.View) (store.Reader, error) {
	r := &joined{schema: sdkdoc.Schema(), jobs: v.Jobs}
	// The SDK gives the transcripts of two agents one name if their ids are alike enough.
	// There the first one stays, until the SDK writes that of the agent that goes on.
	taken := map[string]bool{}
	for _, dir := range drafts {
		d := &draft{dir: dir}
		r.drafts = append(r.drafts, d)
		root := filepath.Join(dir, sdkdoc.Transcripts)
		err := filepath.WalkDir(root, func(p string, e fs.DirEntry, err error) error {
			if p == root && errors.Is(err, fs.ErrNotExist) || err == nil && e.IsDir() {
				return nil
			}
			name, _ := filepath.Rel(dir, p)
			if name = filepath.ToSlash(name); !taken[strings.ToLower(name)] {
				taken[strings.ToLower(name)] = true
				r.plain = append(r.plain, plain{name, p})
			}
			return err
		})
		if err != nil {
			return nil, err
		}
	}
	slices.SortStableFunc(r.plain, func(a, b plain) int { return strings.Compare(a.name, b.name) })
	for _, p := range r.plain {
		r.schema.Sets = append(r.schema.Sets, store.Set{File: p.name, Kind: store.Plain, Columns: []string{"bytes"}})
	}
	return r, nil
}

// joined reads many drafts.
type joined struct {
	schema  *store.Schema
	jobs    int
	drafts  []*draft
	plain   []plain
	summary store.Summary
}

// plain is a transcript: its path in the store, and that of its file.
type plain struct{ name, path string }

// draft is what is known of one.
type draft struct {
	dir, agent string
	created    int64
}

func (r *joined) Schema() *store.Schema  { return r.schema }
func (r *joined) Summary() store.Summary { return r.summary }
func (r *joined) Close() error           { return nil }

// Batches yields the lines of the four kinds, then the transcripts.
func (r *joined) Batches(ctx context.Context) iter.Seq2[*store.Batch, error] {
	return sdkstore.Ahead(ctx, r.jobs, r.scan)
}

func (r *joined) scan(ctx context.Context) iter.Seq2[*store.Batch, error] {
	return func(yield func(*store.Batch, error) bool) {
		r.summary = tally.Scan(len(r.schema.Sets), yield, func(t *tally.Tally) error {
			for k := range sdkdoc.Kind(sdkdoc.Kinds) {
				m := merge{ctx: ctx, tally: t, kind: k}
				err := errors.Join(m.run(r.drafts), m.close())
				if err != nil {
					return err
				}
			}
			for i, p := range r.plain {
				if err := pieces(ctx, t, sdkdoc.Kinds+i, p.path); err != nil {
					return err
				}
			}
			return ctx.Err()
		})
	}
}

// pieces gives a file in pieces.
func pieces(ctx context.Context, t *tally.Tally, set int, path string) error {
	f, err := os.Open(path)
	if err != nil {
		return err
	}
	defer f.Close()
	buffer := make([]byte, store.PieceBytes)
	for n := int64(0); ; n++ {
		got, err := io.ReadFull(f, buffer)
		if got > 0 {
			b := store.NewBatch(set, 1)
			b.Row(n)
			b.AddBytes(store.Blob, buffer[:got])
			if err := t.Give(b); err != nil {
				return err
			}
		}
		switch {
		case err == io.EOF || err == io.ErrUnexpectedEOF:
			return ctx.Err()
		case err != nil:
			return err
		}
	}
}

// merge gives the lines of one kind.
type merge struct {
	ctx   context.Context
	tally *tally.Tally
	kind  sdkdoc.Kind
	heap  []*cursor
	open  []*cursor // with an open file, the one used last at the end
	batch *store.Batch
	lines int64
}

// maxOpen is how many files are open at once: there may be more drafts than files that
// can be.
const maxOpen = 64

// cursor is a place in a file of a draft: in front of a line.
type cursor struct {
	*draft
	path  string
	at    int64
	time  int64 // of the line; never less than that of the line before
	file  *os.File
	r     *bufio.Reader
	line  []byte // with its end, while the file is open
	space []byte
}

func (m *merge) Len() int      { return len(m.heap) }
func (m *merge) Swap(i, j int) { m.heap[i], m.heap[j] = m.heap[j], m.heap[i] }
func (m *merge) Push(x any)    { m.heap = append(m.heap, x.(*cursor)) }
func (m *merge) Less(i, j int) bool {
	a, b := m.heap[i], m.heap[j]
	return cmp.Or(cmp.Compare(a.time, b.time), strings.Compare(a.agent, b.agent)) < 0
}

func (m *merge) Pop() any {
	last := m.heap[len(m.heap)-1]
	m.heap = m.heap[:len(m.heap)-1]
	return last
}

func (m *merge) run(drafts []*draft) error {
	for _, d := range drafts {
		c := &cursor{draft: d, path: filepath.Join(d.dir, m.kind.File())}
		some, err := m.next(c)
		if errors.Is(err, fs.ErrNotExist) && m.kind != sdkdoc.Agent {
			continue // created with its first line
		}
		if err != nil {
			return err
		}
		if m.kind == sdkdoc.Agent {
			d.agent, d.created = rawjson.TextAt(c.line, "agentId"), c.time
		}
		if some {
			m.heap = append(m.heap, c)
		}
	}
	heap.Init(m)
	for len(m.heap) > 0 {
		c := m.heap[0]
		if err := m.take(c); err != nil {
			return err
		}
		some, err := m.next(c)
		switch {
		case err != nil:
			return err
		case some:
			heap.Fix(m, 0)
		default:
			heap.Pop(m)
		}
	}
	return m.give()
}

// take adds the line of a cursor to the records, and moves the cursor behind it.
func (m *merge) take(c *cursor) error {
	if c.line == nil { // the file was closed meanwhile
		if err := m.read(c); err != nil {
			return err
		}
	}
	if m.batch == nil {
		m.batch = store.NewBatch(int(m.kind), 1)
	}
	m.lines++
	m.batch.Row(m.lines)
	m.batch.AddBytes(store.Text, c.line[:len(c.line)-1])
	c.at += int64(len(c.line))
	if m.batch.Full() {
		return m.give()
	}
	return nil
}

func (m *merge) give() error {
	b := m.batch
	m.batch = nil
	if err := m.tally.Give(b); err != nil {
		return err
	}
	return m.ctx.Err()
}

// next looks at the line at which a cursor is; false at the end of the file.
func (m *merge) next(c *cursor) (bool, error) {
	err := m.read(c)
	if errors.Is(err, io.EOF) {
		i := slices.Index(m.open, c)
		m.open = slices.Delete(m.open, i, i+1)
		return false, c.close()
	}
	if err != nil {
		return false, err
	}
	at := c.created
	if m.kind != sdkdoc.Checkpoint {
		at = sdkdoc.Millis(rawjson.Last(c.line, "createdAt"))
	}
	c.time = max(c.time, at)
	return true, nil
}

// read reads the line at which a cursor is.
func (m *merge) read(c *cursor) (err error) {
	if c.file == nil {
		if len(m.open) == maxOpen {
			if err := m.open[0].close(); err != nil {
				return err
			}
			m.open = slices.Delete(m.open, 0, 1)
		}
		if c.file, err = os.Open(c.path); err != nil {
			return err
		}
		m.open = append(m.open, c)
		if _, err := c.file.Seek(c.at, io.SeekStart); err != nil {
			return err
		}
		c.r = bufio.NewReaderSize(c.file, 64<<10)
	} else if i := slices.Index(m.open, c); i < len(m.open)-1 {
		m.open = append(slices.Delete(m.open, i, i+1), c)
	}
	line, err := c.r.ReadSlice('\n')
	if errors.Is(err, bufio.ErrBufferFull) {
		c.space = append(c.space[:0], line...)
		for errors.Is(err, bufio.ErrBufferFull) {
			line, err = c.r.ReadSlice('\n')
			c.space = append(c.space, line...)
		}
		line = c.space
	}
	if c.line = line; errors.Is(err, io.EOF) && len(bytes.TrimSpace(line)) > 0 {
		return io.ErrUnexpectedEOF
	}
	return err
}

// close closes the file of a cursor.
func (c *cursor) close() error {
	if c.file == nil {
		return nil
	}
	err := c.file.Close()
	c.file, c.r, c.line, c.space = nil, nil, nil, nil
	return err
}

// close lets go of what is left after an error.
func (m *merge) close() error {
	if m.batch != nil {
		m.batch.Release()
	}
	var errs []error
	for _, c := range m.open {
		errs = append(errs, c.close())
	}
	return errors.Join(errs...)
}
