package sdkstore

import (
	"bytes"

	"rehome/formats/internal/sdkdoc"
	"rehome/formats/loss"
	"rehome/formats/store"
)

// lineSink numbers the lines of one set and packs them into batches. Lines
// that no row stands for are put in where they stood.
type lineSink struct {
	scan   *docScan
	set    int
	batch  *store.Batch
	n      int // lines so far
	wholes []*store.SidecarItem
	torn   []byte // the line before, if it had no line end, which only the last can lack
	open   bool   // it had none
}

func (l *lineSink) start(s *docScan, set int, wholes []*store.SidecarItem) {
	l.scan, l.set, l.n, l.wholes = s, set, 0, wholes
}

func (l *lineSink) due() error {
	for len(l.wholes) > 0 && l.wholes[0].At.Line <= l.n+1 {
		c := l.wholes[0].Row[0]
		l.wholes = l.wholes[1:]
		if err := l.add(c); err != nil {
			return err
		}
	}
	return l.next()
}

// next moves on to another line.
func (l *lineSink) next() (err error) {
	if l.open {
		l.open = false
		err = l.end(append(l.begin(), l.torn...))
	}
	l.n++
	return err
}

// add adds a finished line.
func (l *lineSink) add(c store.Cell) error {
	c, some := l.scan.bareLine(l.set, l.n+1, c)
	if !some {
		return nil
	}
	if err := l.next(); err != nil {
		return err
	}
	if c.Class == store.Blob {
		return l.tail(c.Bytes())
	}
	if !sdkdoc.Object(c.Bytes()) {
		at := store.Addr{File: sdkdoc.Kind(l.set).File(), Line: l.n}
		l.scan.note(loss.Loss{Code: loss.LineNotJSON, At: at})
	}
	return l.end(append(l.begin(), c.Bytes()...))
}

func (l *lineSink) number() int { return l.n }

func (l *lineSink) begin() []byte {
	if l.batch == nil {
		l.batch = store.NewBatch(l.set, 1)
	}
	l.batch.Row(int64(l.n))
	return l.batch.Begin()
}

func (l *lineSink) end(arena []byte) error {
	if l.scan.back.ends[l.set].next() {
		arena = append(arena, '\r')
	}
	l.batch.End(store.Text, arena)
	if l.batch.Full() {
		return l.hand()
	}
	return nil
}

func (l *lineSink) tail(line []byte) error {
	l.torn, l.open = bytes.Clone(line), true
	return nil
}

func (l *lineSink) leave(it store.SidecarItem) { l.scan.view.OnLeftover(it) }

func (l *lineSink) hand() error {
	b := l.batch
	l.batch = nil
	return l.scan.give(b)
}

// finish puts in what is left and gives the last batch away.
func (l *lineSink) finish() error {
	for _, it := range l.wholes {
		if err := l.add(it.Row[0]); err != nil {
			return err
		}
	}
	l.wholes = nil
	if l.open {
		l.open = false
		arena := append(l.begin(), l.torn...)
		l.batch.End(store.Blob, arena)
	}
	if l.batch == nil {
		return nil
	}
	return l.hand()
}

// drop lets go of what an error left.
func (l *lineSink) drop() {
	if l.batch != nil {
		l.batch.Release()
		l.batch = nil
	}
}
