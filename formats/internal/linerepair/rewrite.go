package linerepair

import (
	"bufio"
	"context"
	"errors"
	"io"
	"os"

	"rehome/formats"
	"rehome/formats/internal/lines"
)

// MaxLine is the length at which a line is not read any more, where the format does not
// say otherwise.
const MaxLine = 64 << 20

// Writer writes the lines of a file.
type Writer struct {
	*bufio.Writer
}

// Line writes a line and its end.
func (w Writer) Line(b []byte) {
	_, _ = w.Write(b) // bufio keeps the first error until Flush
	_ = w.WriteByte('\n')
}

// Copy writes a line as it was.
func (w Writer) Copy(l *lines.Line) {
	_, _ = w.Write(l.Bytes)
	if l.Ended {
		_ = w.WriteByte('\n')
	}
}

// Rewrite gives each line of a file to f, and replaces the file by what f writes. A byte
// order mark is not part of the first line. The file keeps its mode and time.
func Rewrite(ctx context.Context, path string, f func(w Writer, l *lines.Line) error) (err error) {
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
	if err = write(ctx, in, out, f); err != nil {
		return errors.Join(err, out.Close())
	}
	if err = errors.Join(out.Chmod(info.Mode().Perm()), out.Close(), os.Chtimes(fresh, info.ModTime(), info.ModTime()), in.Close()); err != nil {
		return err
	}
	return os.Rename(fresh, path)
}

func write(ctx context.Context, in io.Reader, out io.Writer, f func(w Writer, l *lines.Line) error) error {
	w := Writer{bufio.NewWriterSize(out, 1<<18)}
	for l, err := range lines.Each(ctx, in, MaxLine) {
		if err == nil {
			err = f(w, &l)
		}
		if err != nil {
			return err
		}
	}
	return w.Flush()
}
