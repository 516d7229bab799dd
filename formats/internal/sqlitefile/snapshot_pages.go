package sqlitefile

import (
	"context"
	"errors"
	"io"
	"sync"
	"sync/atomic"
)

// span is how many bytes of a database are read at once when all of it is.
const span = 1 << 20

// EachPage calls f with every page, from several goroutines and in no order.
func (s *Snapshot) EachPage(ctx context.Context, workers int, f func(n uint32, page []byte)) error {
	per := uint32(span / s.Page)
	spans := (int64(s.Pages) + int64(per) - 1) / int64(per)
	var next, read atomic.Int64
	errs := make([]error, workers)
	var all sync.WaitGroup
	for i := range errs {
		all.Go(func() {
			buffer := make([]byte, span)
			for errs[i] == nil {
				n := next.Add(1) - 1
				if n >= spans {
					return
				}
				if errs[i] = ctx.Err(); errs[i] != nil {
					return
				}
				from := uint32(n)*per + 1
				errs[i] = s.someOf(from, min(per, s.Pages-from+1), buffer, &read, f)
			}
		})
	}
	all.Wait()
	s.Read += read.Load()
	return errors.Join(errs...)
}

// someOf reads pages that follow each other.
func (s *Snapshot) someOf(from, count uint32, buffer []byte, read *atomic.Int64, f func(n uint32, page []byte)) error {
	b := buffer[:int(count)*s.Page]
	got, err := s.main.ReadAt(b, int64(from-1)*int64(s.Page))
	read.Add(int64(got))
	if err != nil && err != io.EOF {
		return s.Failed(err)
	}
	for i := range count {
		page := b[int(i)*s.Page:][:s.Page]
		if frame, ok := s.latest[from+i]; ok {
			n, err := s.log.ReadAt(page, s.Log.At(frame))
			read.Add(int64(n))
			if err != nil {
				return s.Failed(err)
			}
		} else if int(i+1)*s.Page > got {
			clear(page[max(got-int(i)*s.Page, 0):]) // an unused page that nobody wrote
		}
		f(from+i, page)
	}
	return nil
}
