package archive

import (
	"slices"
	"strings"

	"rehome/formats/archive/internal/rowtext"
	"rehome/formats/internal/packed"
	"rehome/formats/store"
)

const maxLine = 128 << 20

// job is a batch that is being encoded as text. Jobs are reused.
type job struct {
	batch *store.Batch
	done  chan struct{}

	shards []string // of each row
	rows   []int    // in the order they are written
	text   []byte
	parts  []part
	wrote  text
	err    error
}

// part is a sequence of lines of one shard.
type part struct {
	shard    string
	path     string // of its file, below the table's folder; "" is the single file
	at       place
	from, to int
}

const keepText = 16 << 20 // a larger text buffer is not kept for the next job

// encode encodes the batch as text. It runs in a worker.
func (j *job) encode(w *writer) {
	b := j.batch
	set := &w.schema.Sets[b.Set]
	j.parts, j.wrote, j.err = j.parts[:0], text{}, nil
	if j.text = j.text[:0]; cap(j.text) > keepText {
		j.text = nil
	}
	if set.Kind != store.Table {
		return // the sink writes the bytes of a plain file
	}
	j.text = slices.Grow(j.text, b.Size()+b.Size()/8+64*b.Rows())
	for _, i := range j.order(w, set) {
		from := len(j.text)
		if len(b.Span(i)) <= maxLine { // else its line is too long anyway
			j.text = append(rowtext.Append(j.text, b, i, set.RowIDs), '\n')
		}
		line := j.text[from:]
		if len(line) == 0 || len(line) > maxLine {
			j.err = lineTooLong(set, b.RowID(i))
			return
		}
		j.wrote.add(line, j.place(j.shards[i], from, len(j.text)))
	}
}

// order returns the rows in the order of their shards. In a compressed stream, which has
// no shards, they keep their order.
func (j *job) order(w *writer, set *store.Set) []int {
	n := j.batch.Rows()
	j.shards, j.rows = slices.Grow(j.shards[:0], n)[:n], j.rows[:0]
	for i := range n {
		j.shards[i] = ""
		if w.shard != nil && w.pack == packed.None && j.batch.Width() > 0 {
			j.shards[i] = w.shard(set, j.batch.Record(i)).Name
		}
		j.rows = append(j.rows, i)
	}
	slices.SortStableFunc(j.rows, func(x, y int) int { return strings.Compare(j.shards[x], j.shards[y]) })
	return j.rows
}

// place adds a line to the part of its shard.
func (j *job) place(shard string, from, to int) place {
	if n := len(j.parts); n > 0 && j.parts[n-1].shard == shard {
		j.parts[n-1].to = to
		return j.parts[n-1].at
	}
	p := part{shard: shard, from: from, to: to}
	if shard != "" {
		p.path = shardPath(shard)
		p.at = placeOf(p.path)
	}
	j.parts = append(j.parts, p)
	return p.at
}
