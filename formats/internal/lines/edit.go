package lines

import (
	"bufio"
	"context"
	"errors"
	"io"
	"os"
)

// Edit puts a text in the place of some bytes of a line.
type Edit struct {
	From, To int // within the line
	Text     []byte
}

// CopyFile copies a file to a new one with edits of its lines, which are in order. All other
// bytes stay as they are.
func CopyFile(ctx context.Context, from, to string, most int, edits func(Line) []Edit) (err error) {
	in, err := os.Open(from)
	if err != nil {
		return err
	}
	defer in.Close()
	out, err := os.OpenFile(to, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, out.Close()) }()
	rest, at := io.NewSectionReader(in, 0, 1<<62), int64(0) // what was not copied yet, and where that begins
	w := bufio.NewWriterSize(out, 1<<18)
	for l, err := range Each(ctx, in, most) {
		if err != nil {
			return err
		}
		for _, e := range edits(l) {
			if _, err := io.CopyN(w, rest, l.Offset+int64(e.From)-at); err != nil {
				return err
			}
			if _, err := w.Write(e.Text); err != nil {
				return err
			}
			if at, err = rest.Seek(l.Offset+int64(e.To), io.SeekStart); err != nil {
				return err
			}
		}
	}
	if _, err := io.Copy(w, rest); err != nil {
		return err
	}
	return w.Flush()
}
