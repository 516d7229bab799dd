package documents

import (
	"bufio"
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"io"
	"math"
)

type splitter struct {
	set     Set
	emit    Emit
	longest int                   // lines beyond are raw
	seen    map[[16]byte]struct{} // digests of keys: 16 bytes a document
	runs    map[string]*span      // of events that follow each other, which need no digest each
	run     *span                 // of the last event
	runID   []byte
	ord     int64
	raw     []byte // lines that are no documents, from rawOrd on
	from    int64
	data    []byte // of the current checkpoint
}

func (s *splitter) file(r io.Reader) error {
	in, line := bufio.NewReaderSize(r, 256<<10), []byte(nil)
	for {
		piece, err := in.ReadSlice('\n')
		if err != nil && !errors.Is(err, io.EOF) && !errors.Is(err, bufio.ErrBufferFull) {
			return err
		}
		if errors.Is(err, bufio.ErrBufferFull) || len(line) > 0 {
			line = append(line, piece...)
			piece = line
		}
		if errors.Is(err, bufio.ErrBufferFull) {
			if len(line) > s.longest {
				if err := s.giant(in, line); err != nil {
					return err
				}
				line = nil
			}
			continue
		}
		if len(piece) > 0 {
			s.ord++
			if err := s.line(piece); err != nil {
				return err
			}
		}
		if line = line[:0]; cap(line) > maxPart {
			line = nil
		}
		if err == io.EOF {
			return s.flush()
		}
	}
}

// giant passes a line on that is too long for a row and starts with head.
func (s *splitter) giant(in *bufio.Reader, head []byte) error {
	if err := s.flush(); err != nil {
		return err
	}
	s.ord++
	part := 0
	put := func(b []byte) error {
		for ; len(b) > 0; part++ {
			n := min(len(b), maxPart)
			if err := s.emit(&Item{Kind: Raw, Ord: s.ord, Part: part, Raw: b[:n]}); err != nil {
				return err
			}
			b = b[n:]
		}
		return nil
	}
	for piece, err := head, bufio.ErrBufferFull; ; piece, err = in.ReadSlice('\n') {
		if err != nil && !errors.Is(err, io.EOF) && !errors.Is(err, bufio.ErrBufferFull) {
			return err
		}
		if e := put(piece); e != nil {
			return e
		}
		if !errors.Is(err, bufio.ErrBufferFull) {
			return nil
		}
	}
}

// line passes a line on, with its line feed if it has one.
func (s *splitter) line(line []byte) error {
	text, whole := bytes.CutSuffix(line, []byte("\n"))
	row, spelled, ok := parse(s.set, text, &s.data)
	if !ok || !s.fresh(&row) {
		return s.rest(line, whole)
	}
	if err := s.flush(); err != nil {
		return err
	}
	if spelled {
		if err := s.parts(Spelled, s.ord, text); err != nil {
			return err
		}
	}
	err := s.emit(&Item{Kind: Document, Ord: s.ord, Row: row})
	if err == nil && !whole {
		err = s.emit(&Item{Kind: Bare, Ord: s.ord})
	}
	return err
}

// rest keeps a line that is no document.
func (s *splitter) rest(line []byte, whole bool) error {
	if !whole {
		if err := s.flush(); err != nil {
			return err
		}
		return s.parts(Tail, s.ord, line)
	}
	if len(s.raw) == 0 {
		s.from = s.ord
	}
	s.raw = append(s.raw, line...)
	if len(s.raw) >= maxPart {
		return s.flush()
	}
	return nil
}

func (s *splitter) flush() error {
	raw := s.raw
	s.raw = s.raw[:0]
	return s.parts(Raw, s.from, raw)
}

func (s *splitter) parts(kind Kind, ord int64, b []byte) error {
	for part := 0; len(b) > 0; part++ {
		n := min(len(b), maxPart)
		if err := s.emit(&Item{Kind: kind, Ord: ord, Part: part, Raw: b[:n]}); err != nil {
			return err
		}
		b = b[n:]
	}
	return nil
}

// fresh reports whether no earlier row has a key of this one. A second idempotency key is
// only left out of its column: the first event is the one that it finds.
func (s *splitter) fresh(r *Row) bool {
	keys := make([][16]byte, 1, 2)
	switch s.set {
	case Agents:
		keys[0] = short('a', r.Agent, nil)
	case Runs:
		keys[0] = short('r', r.Agent, r.Run)
		if r.HasNumber {
			keys = append(keys, short('t', r.Agent, binary.BigEndian.AppendUint64(nil, math.Float64bits(r.Number))))
		}
	case Events:
		switch s.follows(r) {
		case before:
			return false
		case next:
			keys = keys[:0]
		default:
			keys[0] = eventKey(r)
		}
	case Checkpoints:
		keys[0] = short('c', r.Agent, r.Blob)
	}
	for _, k := range keys {
		if _, ok := s.seen[k]; ok {
			return false
		}
	}
	for _, k := range keys {
		s.seen[k] = struct{}{}
	}
	if r.Idem != nil {
		k := short('i', r.Run, r.Idem)
		if _, ok := s.seen[k]; ok {
			r.Idem = nil
		}
		s.seen[k] = struct{}{}
	}
	return true
}

// span are the numbers of events of a run, from one to another.
type span struct{ from, to int64 }

// place is where an event is in the order of its run.
type place int

const (
	elsewhere place = iota
	before
	next
)

// follows returns whether an event is one of those of its run that follow each other, or the
// next of them.
func (s *splitter) follows(r *Row) place {
	if s.run == nil || !bytes.Equal(s.runID, r.Run) {
		s.runID = append(s.runID[:0], r.Run...)
		if s.run = s.runs[string(r.Run)]; s.run == nil {
			s.run = &span{r.Seq, r.Seq - 1}
			s.runs[string(r.Run)] = s.run
		}
	}
	switch {
	case r.Seq >= s.run.from && r.Seq <= s.run.to:
		return before
	case r.Seq != s.run.to+1:
		return elsewhere
	}
	if len(s.seen) > 0 {
		if _, ok := s.seen[eventKey(r)]; ok {
			return before
		}
	}
	s.run.to++
	return next
}

// eventKey returns the key of an event.
func eventKey(r *Row) [16]byte {
	return short('e', r.Run, binary.BigEndian.AppendUint64(nil, uint64(r.Seq)))
}

// short returns the beginning of the digest of a key.
func short(tag byte, a, b []byte) [16]byte {
	k := make([]byte, 0, 128)
	k = append(binary.AppendUvarint(append(k, tag), uint64(len(a))), a...)
	sum := sha256.Sum256(append(k, b...))
	return [16]byte(sum[:16])
}
