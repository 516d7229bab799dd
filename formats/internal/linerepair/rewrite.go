package linerepair

import (
	"bufio"
	"bytes"
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
	out  *bufio.Writer
	in   io.ReaderAt
	line int  // how many lines were begun
	open bool // the last one has no end yet
}

// write writes bytes and counts their lines.
func (w *Writer) write(b []byte) {
	_, _ = w.out.Write(b) // bufio keeps the first error until Flush
	for line := range bytes.Lines(b) {
		if !w.open {
			w.line++
		}
		w.open = line[len(line)-1] != '\n'
	}
}

// Line writes a line and its end.
func (w *Writer) Line(b []byte) {
	w.write(b)
	w.write([]byte{'\n'})
}

// Copy writes a line as it was, however long it is.
func (w *Writer) Copy(l *lines.Line) error {
	if l.Long {
		return w.copyLong(l.Offset)
	}
	w.write(l.Bytes)
	if l.Ended {
		w.write([]byte{'\n'})
	}
	return nil
}

// copyLong copies a line and its end from the file, piece by piece.
func (w *Writer) copyLong(from int64) error {
	in := bufio.NewReaderSize(io.NewSectionReader(w.in, from, math.MaxInt64-from), 1<<18)
	for {
		b, err := in.ReadSlice('\n')
		w.write(b)
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
// The repair is told where the lines were before.
func Rewrite(ctx context.Context, path string, r *formats.Repair, f func(w *Writer, l *lines.Line) error) error {
	return rewrite(ctx, path, r, true, f)
}

func rewrite(ctx context.Context, path string, r *formats.Repair, mark bool, f func(w *Writer, l *lines.Line) error) (err error) {
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
	from, err := write(ctx, in, out, mark, f)
	if err != nil {
		return errors.Join(err, out.Close())
	}
	if err = errors.Join(out.Chmod(info.Mode().Perm()), out.Close(), os.Chtimes(fresh, info.ModTime(), info.ModTime()), in.Close()); err != nil {
		return err
	}
	if r.Moved != nil && len(from) > 0 {
		r.Moved(path, from)
	}
	return os.Rename(fresh, path)
}

// write writes the lines that f makes of those of a file, and returns where they came from.
func write(ctx context.Context, in *os.File, out io.Writer, mark bool, f func(w *Writer, l *lines.Line) error) ([]formats.Origin, error) {
	w := &Writer{out: bufio.NewWriterSize(out, 1<<18), in: in}
	moved, from := 0, []formats.Origin(nil)
	for l, err := range lines.Each(ctx, in, MaxLine) {
		if mark && err == nil && l.Number == 1 && l.Offset > 0 {
			_, _ = w.out.WriteString("\ufeff")
		}
		before := w.line
		if err == nil {
			err = f(w, &l)
		}
		if err != nil {
			return nil, err
		}
		for n := before + 1; n <= w.line; n++ {
			if by := l.Number - n; by != moved {
				moved, from = by, append(from, formats.Origin{Line: n, Was: l.Number})
			}
		}
	}
	return from, w.out.Flush()
}
