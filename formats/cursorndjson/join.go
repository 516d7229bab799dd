package cursorndjson

import (
	"bytes"
	"container/heap"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"

	"rehome/formats/internal/digest"
	"rehome/formats/internal/lines"
	"rehome/formats/internal/sdkdoc"
	"rehome/formats/loss"
	"rehome/formats/store"
)

// Joined, the lines of all parts stand in the order of their times, as in a store
// that was never split. The lines of each part stay in their order: one that is older
// than the line before it is placed with that.

// cursor is a place in a file of a part.
type cursor struct {
	scan   *scan
	part   *part
	kind   sdkdoc.Kind
	at     int64 // in the file, of what was not read yet
	size   int64
	file   *os.File // while it is open
	buffer []byte
	from   int // of the rest of the buffer
	line   []byte
	number int
	class  store.Class
	stamp  stamp
	items  []store.SidecarItem // of lines not reached yet, by line
	here   []store.SidecarItem // of this line
}

// joinBuffers is what the buffers of all cursors take together, at least a few
// kilobytes each. A cursor whose lines are wanted gets maxBuffer, if so much is left:
// few agents are active at one time.
const (
	joinBuffers = 16 << 20
	maxBuffer   = 256 << 10
)

// cursors is a heap.
type cursors []*cursor

func (c cursors) Len() int      { return len(c) }
func (c cursors) Swap(i, j int) { c[i], c[j] = c[j], c[i] }
func (c *cursors) Push(x any)   { *c = append(*c, x.(*cursor)) }
func (c cursors) Less(i, j int) bool {
	return comparePlaces(c[i].stamp, c[i].part.name, c[j].stamp, c[j].part.name) < 0
}

func (c *cursors) Pop() any {
	last := (*c)[len(*c)-1]
	*c = (*c)[:len(*c)-1]
	return last
}

// join reads the files of one kind.
func (s *scan) join(k sdkdoc.Kind) error {
	var open cursors
	some := false
	for _, p := range s.parts {
		c := &cursor{scan: s, part: p, kind: k, items: p.items[k]}
		if p.lacks[k.File()] {
			s.stale(c.items)
			continue
		}
		f, err := s.reader.file(p.file(k))
		if err != nil {
			return s.fail(p.file(k), err)
		}
		if f == nil {
			s.stale(c.items)
			continue
		}
		some = true
		c.size, c.file = s.was[p.file(k)].Size(), f
		more, err := c.next()
		f.Close()
		c.file = nil
		if err != nil {
			return err
		}
		if more {
			open = append(open, c)
		} else {
			s.stale(c.items)
		}
	}
	heap.Init(&open)
	for len(open) > 0 {
		c := open[0]
		if err := s.take(c, len(open) == 1); err != nil {
			return err
		}
		more, err := c.next()
		switch {
		case err != nil:
			return err
		case more:
			heap.Fix(&open, 0)
		default:
			heap.Pop(&open)
			s.stale(c.items)
		}
	}
	if s.n == 0 && some {
		if err := s.add(int(k), store.Blob, nil); err != nil {
			return err
		}
	}
	return s.give()
}

// take adds a cursor's line to the records. Only the last of all lines can lack its
// end: another one that was cut short is lost to the SDK, too.
func (s *scan) take(c *cursor, last bool) error {
	s.part, s.local = c.part, c.number
	if c.class == store.Blob && !last {
		if !sdkdoc.Object(c.line) {
			s.note(loss.Loss{Code: loss.LineTorn, At: s.place(int(c.kind))})
			return nil
		}
		c.class = store.Text
	}
	for _, it := range c.here {
		it.Part, it.At.Line = "", int(s.n)+1
		s.resolved = append(s.resolved, it)
	}
	return s.add(int(c.kind), c.class, c.line)
}

// next moves on to the next line; false at the end of the file.
func (c *cursor) next() (bool, error) {
	for {
		rest := c.buffer[c.from:]
		if end := bytes.IndexByte(rest, '\n'); end >= 0 {
			c.from += end + 1
			return true, c.reach(rest[:end], store.Text)
		}
		if c.at == c.size {
			if c.from = len(c.buffer); len(rest) == 0 {
				c.scan.joined -= cap(c.buffer)
				c.buffer = nil
				return false, nil
			}
			return true, c.reach(rest, store.Blob)
		}
		if len(rest) > sdkdoc.MaxLine {
			return false, c.fail(fmt.Errorf("line %d is longer than %d MB", c.number+1, sdkdoc.MaxLine>>20))
		}
		if err := c.fill(rest); err != nil {
			return false, c.fail(err)
		}
	}
}

func (c *cursor) fail(err error) error { return c.scan.fail(c.part.file(c.kind), err) }

// fill reads on. The file is opened each time: there may be more agents than files
// that can be open at once.
func (c *cursor) fill(rest []byte) error {
	if err := c.scan.ctx.Err(); err != nil {
		return err
	}
	n := max(min(joinBuffers/len(c.scan.parts), maxBuffer), 4<<10, len(rest))
	if c.at > 0 && c.scan.joined+maxBuffer <= 2*joinBuffers {
		n = max(n, maxBuffer)
	}
	n = int(min(int64(n), c.size-c.at))
	buffer := append(make([]byte, 0, len(rest)+n), rest...)
	f, err := c.file, error(nil)
	if f == nil {
		if f, err = c.scan.reader.file(c.part.file(c.kind)); err == nil && f == nil {
			err = errors.New("the file has vanished")
		}
		if err != nil {
			return err
		}
		defer f.Close()
	}
	got, err := f.ReadAt(buffer[len(rest):len(rest)+n], c.at)
	if got < n && err != nil && !errors.Is(err, io.EOF) {
		return err
	}
	if got < n {
		return errors.New("the file has shrunk while it was read")
	}
	c.scan.joined += cap(buffer) - cap(c.buffer)
	c.buffer, c.from, c.at = buffer[:len(rest)+n], 0, c.at+int64(n)
	return nil
}

// reach takes a line and finds its place.
func (c *cursor) reach(line []byte, class store.Class) error {
	c.number++
	c.line, c.class, c.here = line, class, c.here[:0]
	if lines.Conflict(line) {
		return c.fail(errConflict(c.number))
	}
	if c.kind == sdkdoc.Agent {
		c.line = sdkdoc.CutSummary(line)
	}
	m := claimsOf(c.kind, c.line)
	to := c.part.natural(c.kind, &m)
	for _, it := range c.told() {
		if it.At.Set == placeSet {
			to = stamp{it.Row[0].Int(), it.Row[1].Int()}
		} else {
			c.here = append(c.here, it)
		}
	}
	if c.stamp.compare(to) < 0 {
		c.stamp = to
	}
	if c.kind == sdkdoc.Agent && c.number == 1 && c.part.name != unowned {
		c.part.first = c.stamp
	}
	return nil
}

// told takes the items that are about this line. A merge can have put lines in front
// of it, so an item is about the first line from its own on that has its digest; one
// without a digest is about its own line.
func (c *cursor) told() (out []store.SidecarItem) {
	var sum store.Digest
	for i := 0; i < len(c.items) && c.items[i].At.Line <= c.number; {
		it := c.items[i]
		if sum == (store.Digest{}) {
			sum = lineDigest(c.class, c.line)
		}
		if it.Digest != sum && (it.Digest != store.Digest{} || it.At.Line != c.number) {
			i++
			continue
		}
		out = append(out, it)
		c.items = slices.Delete(c.items, i, i+1)
	}
	return out
}

// lineDigest is the digest of a line as items have it, without its end.
func lineDigest(class store.Class, b []byte) store.Digest {
	if class == store.Blob {
		return digest.Cell(store.BlobCell(b))
	}
	return digest.Cell(store.TextCell(bytes.TrimSuffix(b, []byte("\r"))))
}

// errConflict is the error of such a line.
type errConflict int

func (e errConflict) Error() string { return fmt.Sprintf("line %d: unresolved merge conflict", int(e)) }
