package packed

import (
	"errors"
	"io"
	"runtime"
)

// NewWriter returns a writer that compresses to w with Gzip or Zstd, up to jobs frames at
// a time; 0 means one per CPU. Close writes what is left and does not close w. No
// goroutine outlives a frame, so a writer that is dropped leaks nothing.
func NewWriter(w io.Writer, k Kind, jobs int) io.WriteCloser {
	if jobs <= 0 {
		jobs = runtime.GOMAXPROCS(0)
	}
	return &writer{w: w, kind: k, jobs: jobs, idle: make(chan framer, jobs)}
}

var errClosed = errors.New("packed: write after Close")

// writer fills one frame while others are being packed. The caller's own
// goroutine writes finished frames, in order, when there is no room for more.
type writer struct {
	w      io.Writer
	kind   Kind
	jobs   int
	idle   chan framer // framers at rest: they are costly to make
	input  []byte      // of the frame being filled
	spare  [][]byte    // inputs of frames that are written
	queue  []packing   // frames under way, in order
	frames int
	err    error
}

// packing is a frame under way.
type packing struct {
	input []byte
	done  chan result
}

type result struct {
	out []byte
	err error
}

func (w *writer) Write(p []byte) (n int, err error) {
	for len(p) > 0 && w.err == nil {
		m := min(FrameSize-len(w.input), len(p))
		w.input = append(w.input, p[:m]...)
		n += m
		p = p[m:]
		if len(w.input) == FrameSize {
			w.pack()
		}
	}
	return n, w.err
}

// Close writes the last frames. A second Close says the same as the first.
func (w *writer) Close() error {
	if errors.Is(w.err, errClosed) {
		return nil
	}
	if w.err == nil && (len(w.input) > 0 || w.frames == 0) {
		w.pack()
	}
	for len(w.queue) > 0 {
		w.await()
	}
	if w.err != nil {
		return w.err
	}
	w.err = errClosed
	w.input, w.spare = nil, nil
	return nil
}

// pack sends the filled input on its way, after making room for it.
func (w *writer) pack() {
	for len(w.queue) >= w.jobs {
		w.await()
	}
	if w.err != nil {
		return
	}
	p := packing{w.input, make(chan result, 1)}
	w.queue = append(w.queue, p)
	w.frames++
	w.input = nil
	if n := len(w.spare); n > 0 {
		w.input, w.spare = w.spare[n-1][:0], w.spare[:n-1]
	}
	kind, idle := w.kind, w.idle
	go func() {
		out, err := packOne(kind, idle, p.input)
		p.done <- result{out, err}
	}()
}

// packOne makes one frame with a framer at rest, or a new one.
func packOne(kind Kind, idle chan framer, input []byte) ([]byte, error) {
	var f framer
	select {
	case f = <-idle:
	default:
		var err error
		if f, err = newFramer(kind); err != nil {
			return nil, err
		}
	}
	out, err := f.frame(input)
	select {
	case idle <- f:
	default:
	}
	return out, err
}

// await writes the first frame of the queue as soon as it is made.
func (w *writer) await() {
	p := w.queue[0]
	w.queue = w.queue[1:]
	r := <-p.done
	w.spare = append(w.spare, p.input)
	if w.err == nil {
		w.err = r.err
	}
	if w.err == nil {
		_, w.err = w.w.Write(r.out)
	}
}
