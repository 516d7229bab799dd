package documents

import "io"

// Counter reports how much of a store was read.
type Counter struct {
	of       *Store
	progress func(done, of int64)
	done     int64
}

// Counter returns a counter of the bytes of the store. progress may be nil.
func (s *Store) Counter(progress func(done, of int64)) *Counter {
	return &Counter{of: s, progress: progress}
}

// Add counts bytes.
func (c *Counter) Add(n int) {
	if c.done += int64(n); c.progress != nil {
		c.progress(c.done, c.of.Bytes)
	}
}

// Reader counts what is read from r.
func (c *Counter) Reader(r io.Reader) io.Reader { return counted{r, c} }

type counted struct {
	io.Reader
	by *Counter
}

func (r counted) Read(b []byte) (int, error) {
	n, err := r.Reader.Read(b)
	r.by.Add(n)
	return n, err
}
