package archive

import (
	"path"
	"slices"
	"strings"

	"rehome/formats"
	"rehome/formats/archive/internal/rowtext"
	"rehome/formats/internal/entries"
	"rehome/formats/internal/packed"
	"rehome/formats/store"
)

const maxLine = 128 << 20

// job is a batch that is being encoded as text. Jobs are reused.
type job struct {
	batch *store.Batch
	done  chan struct{}

	shards []formats.Shard // of each row
	rows   []int           // in the order they are written
	text   []byte
	parts  []part
	err    error
}

// part is a sequence of lines of one shard.
type part struct {
	shard    formats.Shard
	path     string // of its file
	at       place
	wrote    text
	from, to int
}

const keepText = 16 << 20 // a larger text buffer is not kept for the next job

// encode encodes the batch as text. It runs in a worker.
func (j *job) encode(w *writer) {
	b := j.batch
	set := &w.schema.Sets[b.Set]
	j.parts, j.err = j.parts[:0], nil
	if j.text = j.text[:0]; cap(j.text) > keepText {
		j.text = nil
	}
	if set.Kind != store.Table {
		return // the sink writes the bytes of a plain file
	}
	j.text = slices.Grow(j.text, b.Size()+b.Size()/8+64*b.Rows())
	var lists []splitList
	for _, i := range j.order(w, set) {
		from := len(j.text)
		if len(b.Span(i)) <= maxLine { // else its line is too long anyway
			frame, key, list := splitRow(w.lists[b.Set], b, i)
			if list == nil {
				j.text = rowtext.Append(j.text, b, i, set.RowIDs)
			} else {
				lists = append(lists, splitList{key, list})
				j.text = rowtext.AppendWith(j.text, b, i, set.RowIDs, valueCell, frame)
			}
			j.text = append(j.text, '\n')
		}
		if n := len(j.text) - from; n == 0 || n > maxLine-sealLength {
			j.err = lineTooLong(set, b.RowID(i))
			return
		}
		p := j.part(w, set, j.shards[i], from)
		if p.shard.Common {
			j.text = p.at.seal(j.text, from)
		} else {
			p.wrote.add(j.text[from:], p.at)
		}
		p.to = len(j.text)
	}
	for _, l := range lists {
		for i := range l.entries {
			from := len(j.text)
			j.text = appendEntry(j.text, l.key, &l.entries[i])
			p := part{shard: formats.Shard{Name: l.entries[i].ID}, from: from, to: len(j.text)}
			p.path = path.Join(tablePath(set.File, set.Name), entryPath(l.key, &l.entries[i]))
			p.wrote.add(j.text[from:], placeOf(p.path))
			j.parts = append(j.parts, p)
		}
	}
}

// splitList is the entries of the lists in one value.
type splitList struct {
	key     string
	entries []entries.Entry
}

// order returns the rows in the order of their shards. In a compressed stream, which has
// no shards, they keep their order.
func (j *job) order(w *writer, set *store.Set) []int {
	n := j.batch.Rows()
	j.shards, j.rows = slices.Grow(j.shards[:0], n)[:n], j.rows[:0]
	for i := range n {
		j.shards[i] = formats.Shard{}
		if w.shard != nil && w.pack == packed.None && j.batch.Width() > 0 {
			s := w.shard(set, j.batch.Record(i))
			s.Common = s.Common && s.Name != "" && w.keyed[j.batch.Set]
			j.shards[i] = s
		}
		j.rows = append(j.rows, i)
	}
	slices.SortStableFunc(j.rows, func(x, y int) int { return compareShards(j.shards[x], j.shards[y]) })
	return j.rows
}

// part returns the part of a shard for one more line.
func (j *job) part(w *writer, set *store.Set, shard formats.Shard, from int) *part {
	if n := len(j.parts); n > 0 && j.parts[n-1].shard == shard {
		return &j.parts[n-1]
	}
	p := part{shard: shard, from: from, path: tablePath(set.File, set.Name) + ".ndjson"}
	switch {
	case w.pack != packed.None:
		p.path = streamPath(set.File) + w.pack.Ext()
	case shard.Name != "":
		p.path = path.Join(tablePath(set.File, set.Name), shardPath(shard))
	}
	p.at = placeOf(p.path)
	j.parts = append(j.parts, p)
	return &j.parts[len(j.parts)-1]
}

func compareShards(a, b formats.Shard) int {
	switch {
	case a.Name != b.Name || a.Common == b.Common:
		return strings.Compare(a.Name, b.Name)
	case b.Common:
		return -1
	}
	return 1
}
