package linecheck

import (
	"bytes"
	"context"
	"errors"
	"io"
	"io/fs"
	"os"

	"rehome/formats"
	"rehome/formats/internal/packed"
)

// file reads a file as far as it is long now.
func (c *checker) file(ctx context.Context, f *os.File, v formats.View, yield func(Line, error) bool) error {
	was, err := f.Stat()
	if err != nil {
		return err
	}
	head := make([]byte, 16)
	n, err := f.ReadAt(head, 0)
	if err != nil && !errors.Is(err, io.EOF) {
		return err
	}
	what := kind(head[:n])
	c.packed = c.o.Packed && (what == "gzip" || what == "zstd")
	if what != "" && !c.packed {
		c.breach(foreign, 0, "", "it is "+what)
		c.odd(0)
		return nil
	}
	var r io.Reader = io.NewSectionReader(f, 0, was.Size())
	err = nil
	if c.packed {
		var z io.ReadCloser
		if z, err = packed.NewReader(r, v.Jobs); err == nil {
			defer z.Close()
			r = z
		}
	}
	if err == nil {
		err = c.lines(ctx, r, yield)
	}
	if c.over {
		return nil
	}
	if c.packed && err != nil && c.unpacking(ctx, err) {
		return nil
	}
	if err != nil {
		return err
	}
	is, err := f.Stat()
	if err != nil {
		return err
	}
	if is.Size() < was.Size() || is.Size() == was.Size() && !is.ModTime().Equal(was.ModTime()) {
		return formats.Changed("", c.name)
	}
	c.end(is.Size() > was.Size())
	return nil
}

// unpacking reports what is wrong with a compressed stream; false if reading it
// failed for another reason.
func (c *checker) unpacking(ctx context.Context, err error) bool {
	var path *fs.PathError
	switch {
	case ctx.Err() != nil || errors.As(err, &path):
		return false
	case errors.Is(err, packed.ErrBomb):
		c.breach(bomb, 0, "", "")
	default:
		c.breach(damaged, 0, "", err.Error())
	}
	return true
}

// kind is what a file is that is no text, by its first bytes.
func kind(head []byte) string {
	for _, k := range []struct{ magic, name string }{
		{"\xff\xfe", "UTF-16"}, {"\xfe\xff", "UTF-16"}, {"{\x00", "UTF-16"}, {"\x00{", "UTF-16"}, {"\x1f\x8b", "gzip"},
		{"\x28\xb5\x2f\xfd", "zstd"}, {"SQLite format 3\x00", "a SQLite database"}, {"PK\x03\x04", "a zip archive"},
	} {
		if bytes.HasPrefix(head, []byte(k.magic)) {
			return k.name
		}
	}
	return ""
}
