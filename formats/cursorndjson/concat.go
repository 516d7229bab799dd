package cursorndjson

import (
	"io"
	"os"
	"sort"

	"rehome/formats/internal/sdkdoc"
	"rehome/formats/store"
)

// concat is the files of one kind, of all parts one after another, to be read where a
// line lies. One of the files is open at a time.
type concat struct {
	reader *reader
	kind   sdkdoc.Kind
	starts []int64 // of each part's file
	end    int64
	file   *os.File
	is     int // the part whose file that is
}

// enter opens the file of the next part; nil if it has none.
func (c *concat) enter() (f *os.File, start int64, err error) {
	i := len(c.starts)
	c.starts = append(c.starts, c.end)
	if err := c.Close(); err != nil {
		return nil, 0, err
	}
	if c.file, err = c.reader.file(c.reader.parts[i].file(c.kind)); err != nil || c.file == nil {
		return nil, 0, err
	}
	c.is = i
	start = c.end
	c.end += c.reader.was[c.reader.parts[i].file(c.kind)].Size()
	return c.file, start, nil
}

// part returns the part in whose file an offset is.
func (c *concat) part(offset int64) int {
	return sort.Search(len(c.starts), func(i int) bool { return c.starts[i] > offset }) - 1
}

// at is the address of a line.
func (c *concat) at(offset int64, line int) store.Addr {
	return inPart(c.reader.parts[max(c.part(offset), 0)], store.Addr{File: c.kind.File(), Line: line})
}

// ReadAt reads from the file in which the offset is, and not beyond.
func (c *concat) ReadAt(b []byte, offset int64) (int, error) {
	i := c.part(offset)
	if i < 0 {
		return 0, io.EOF
	}
	if c.file == nil || c.is != i {
		if err := c.Close(); err != nil {
			return 0, err
		}
		var err error
		if c.file, err = c.reader.file(c.reader.parts[i].file(c.kind)); err != nil {
			return 0, err
		}
		if c.is = i; c.file == nil {
			return 0, io.EOF
		}
	}
	return c.file.ReadAt(b, offset-c.starts[i])
}

// Close closes the file that is open.
func (c *concat) Close() error {
	if c.file == nil {
		return nil
	}
	f := c.file
	c.file = nil
	return f.Close()
}
