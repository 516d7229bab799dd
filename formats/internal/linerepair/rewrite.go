package linerepair

import (
	"bufio"
	"context"
	"errors"
	"io"
	"math"
	"os"

	"rehome/formats"
	"rehome/formats/internal/lines"
)

// MaxLine is the length at which a line is not held any more: the longest that any format
// reads. A longer one is copied or deleted as a whole.
const MaxLine = 512 << 20

// Writer writes the lines of a file.
type Writer struct {
	*bufio.Writer
	in io.ReaderAt
}

// Line writes a line and its end.
func (w Writer) Line(b []byte) {
	_, _ = w.Write(b) // bufio keeps the first error until Flush
	_ = w.WriteByte('\n')
}

// Copy writes a line as it was, however long it is.
func (w Writer) Copy(l *lines.Line) error {
	if l.Long {
		return w.copyLong(l.Offset)
	}
	_, _ = w.Write(l.Bytes)
	if l.Ended {
		_ = w.WriteByte('\n')
	}
	return nil
}

// copyLong copies a line and its end from the file, piece by piece.
func (w Writer) copyLong(from int64) error {
	in := bufio.NewReaderSize(io.NewSectionReader(w.in, from, math.MaxInt64-from), 1<<18)
	for {
		b, err := in.ReadSlice('\n')
		if _, werr := w.Write(b); werr != nil {
			return werr
		}
		if !errors.Is(err, bufio.ErrBufferFull) {
			if errors.Is(err, io.EOF) {
				return nil
			}
			return err
		}
	}
}

// Rewrite gives each line of a file to f, and replaces the file by what f writes. A byte
// order mark is not part of the first line, and stays. The file keeps its mode and time.
func Rewrite(ctx context.Context, path string, f func(w Writer, l *lines.Line) error) error {
	return rewrite(ctx, path, true, f)
}

func rewrite(ctx context.Context, path string, mark bool, f func(w Writer, l *lines.Line) error) (err error) {
	in, err := os.Open(path)
	if err != nil {
		return err
	}
	defer in.Close()
	info, err := in.Stat()
	if err != nil {
		return err
	}
	fresh := path + formats.StagingMark + "new"
	out, err := os.OpenFile(fresh, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return err
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, os.Remove(fresh))
		}
	}()
	if err = write(ctx, in, out, mark, f); err != nil {
		return errors.Join(err, out.Close())
	}
	if err = errors.Join(out.Chmod(info.Mode().Perm()), out.Close(), os.Chtimes(fresh, info.ModTime(), info.ModTime()), in.Close()); err != nil {
		return err
	}
	return os.Rename(fresh, path)
}

func write(ctx context.Context, in *os.File, out io.Writer, mark bool, f func(w Writer, l *lines.Line) error) error {
	w := Writer{bufio.NewWriterSize(out, 1<<18), in}
	for l, err := range lines.Each(ctx, in, MaxLine) {
		if mark && err == nil && l.Number == 1 && l.Offset > 0 {
			_, _ = w.WriteString("\ufeff")
		}
		if err == nil {
			err = f(w, &l)
		}
		if err != nil {
			return err
		}
	}
	return w.Flush()
}
