package fleet

import (
	"bufio"
	"encoding/binary"
	"errors"
	"io"
	"iter"

	"rehome/cmd/rehome-fleet/internal/bucket"
	"rehome/internal/scratch"
)

// spool keeps a listing in a file, in its order: which objects make a store is known only
// after all of them have been seen.
type spool struct {
	file *scratch.File
	out  *bufio.Writer
	b    []byte
}

func newSpool() (*spool, error) {
	f, err := scratch.NewFile("plan")
	if err != nil {
		return nil, err
	}
	return &spool{file: f, out: bufio.NewWriterSize(f, 1<<20)}, nil
}

func (s *spool) put(o bucket.Object) error {
	s.b = binary.AppendVarint(s.b[:0], o.Size)
	for _, text := range [...]string{o.Key, o.Tag, o.Bad} {
		s.b = append(binary.AppendUvarint(s.b, uint64(len(text))), text...)
	}
	_, err := s.out.Write(s.b)
	return err
}

// all yields what was put.
func (s *spool) all() iter.Seq2[bucket.Object, error] {
	return func(yield func(bucket.Object, error) bool) {
		err := s.out.Flush()
		if err == nil {
			_, err = s.file.Seek(0, io.SeekStart)
		}
		in := bufio.NewReaderSize(s.file, 1<<20)
		for err == nil {
			var o bucket.Object
			if o.Size, err = binary.ReadVarint(in); err != nil {
				break
			}
			for _, text := range [...]*string{&o.Key, &o.Tag, &o.Bad} {
				var n uint64
				if n, err = binary.ReadUvarint(in); err == nil {
					b := make([]byte, n)
					_, err = io.ReadFull(in, b)
					*text = string(b)
				}
				if err != nil {
					err = errors.Join(io.ErrUnexpectedEOF, err)
					break
				}
			}
			if err == nil && !yield(o, nil) {
				return
			}
		}
		if !errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
			yield(bucket.Object{}, err)
		}
	}
}

func (s *spool) Close() error { return s.file.Close() }
