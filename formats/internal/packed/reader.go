package packed

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"runtime"
	"sync/atomic"

	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zstd"
)

// ErrBomb: a packed stream stands for far more than it should. See Bombs.
var ErrBomb = errors.New("expands to more than 1040 times its size")

const (
	bombFloor = 64 << 20 // what any stream may give
	bombRatio = 1040     // and what for each byte beyond that
	maxWindow = 8 << 20

	bufferSize = 64 << 10
)

// NewReader recognizes gzip and zstd by their first bytes and unpacks them;
// anything else passes through. Frames that follow one another are one stream.
// A stream that ends within a frame, and bytes behind the last one, are
// errors; a stream cut exactly between two frames cannot be told from a whole
// one. Close does not close r.
func NewReader(r io.Reader, jobs int) (io.ReadCloser, error) {
	if jobs <= 0 {
		jobs = runtime.GOMAXPROCS(0)
	}
	k, r, err := sniff(r)
	if err != nil {
		return nil, err
	}
	count := &counter{r: r}
	switch k {
	case Gzip:
		z, err := gzip.NewReader(bufio.NewReaderSize(count, bufferSize))
		if err != nil {
			return nil, unpacking(k, err)
		}
		return &reader{kind: k, in: count, out: z, close: func() { z.Close() }}, nil
	case Zstd:
		// MaxMemory is a second bound on the window: frames that are one
		// segment state a size instead of a window.
		z, err := zstd.NewReader(bufio.NewReaderSize(count, bufferSize), zstd.WithDecoderConcurrency(jobs), zstd.WithDecoderMaxWindow(maxWindow), zstd.WithDecoderMaxMemory(maxWindow))
		if err != nil {
			return nil, unpacking(k, err)
		}
		return &reader{kind: k, in: count, out: z, close: z.Close}, nil
	}
	return io.NopCloser(r), nil
}

// sniff looks at the first bytes and returns a reader that still has them. A
// zstd stream may begin with frames to skip. What is not packed is not buffered
// either: the many small files of a store come this way.
func sniff(r io.Reader) (Kind, io.Reader, error) {
	head := make([]byte, 4)
	n, err := io.ReadFull(r, head)
	if err != nil && err != io.EOF && err != io.ErrUnexpectedEOF {
		return None, nil, err
	}
	r = io.MultiReader(bytes.NewReader(head[:n]), r)
	switch {
	case n >= 2 && head[0] == 0x1f && head[1] == 0x8b:
		return Gzip, r, nil
	case n < 4:
		return None, r, nil
	case head[0] == 0x28 && head[1] == 0xb5 && head[2] == 0x2f && head[3] == 0xfd,
		head[0]&0xf0 == skippable[0] && head[1] == skippable[1] && head[2] == skippable[2] && head[3] == skippable[3]:
		return Zstd, r, nil
	}
	return None, r, nil
}

// counter counts what is read, also from the decoder's goroutines.
type counter struct {
	r io.Reader
	n atomic.Int64
}

func (c *counter) Read(p []byte) (int, error) {
	n, err := c.r.Read(p)
	c.n.Add(int64(n))
	if errors.Is(err, io.ErrUnexpectedEOF) {
		err = fmt.Errorf("source: %w", err) // or a decoder takes it for its own, proper end
	}
	return n, err
}

// reader unpacks, and watches the ratio.
type reader struct {
	kind  Kind
	in    *counter
	out   io.Reader
	given int64
	err   error
	close func()
}

func (r *reader) Read(p []byte) (int, error) {
	if r.err != nil {
		return 0, r.err
	}
	n, err := r.out.Read(p)
	r.given += int64(n)
	if r.given > bombFloor && r.given/bombRatio > r.in.n.Load() {
		r.err = ErrBomb
		return 0, r.err
	}
	r.err = unpacking(r.kind, err)
	return n, r.err
}

func (r *reader) Close() error {
	if r.close != nil {
		r.close()
		r.close = nil
		if r.err == nil {
			r.err = errors.New("packed: read after Close")
		}
	}
	return nil
}

// unpacking names the kind in an error.
func unpacking(k Kind, err error) error {
	if err == nil || errors.Is(err, io.EOF) {
		return err
	}
	return fmt.Errorf("%s: %w", k, err)
}
