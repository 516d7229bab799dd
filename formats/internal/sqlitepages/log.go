package sqlitepages

import (
	"bufio"
	"encoding/binary"
	"errors"
	"io"
)

// Log is what a write-ahead log holds: the pages that its committed transactions
// wrote. A client appends to it, until everything in it is in the database; then it
// starts again, with other salts in the header.
type Log struct {
	Head   [LogHeader]byte // zero without a valid log
	Frames []uint32        // the page in each committed frame
	Pages  uint32          // of the database after the last commit
	Sum    [2]uint32       // checksum up to the last commit, which covers all before it
	Known  int             // frames that were in the log that it was compared with
}

// Sizes of parts of a log.
const (
	LogHeader  = 32
	frameHead  = 24
	logVersion = 3007000
)

// ReadLog reads a log of so many bytes up to its last commit. If it continues one
// that was read before, only what is new is read. What is not valid ends the log, as
// it does for SQLite.
func ReadLog(r io.ReaderAt, size int64, before *Log) (*Log, error) {
	l := &Log{}
	if size < LogHeader {
		return l, nil
	}
	if _, err := r.ReadAt(l.Head[:], 0); err != nil {
		return nil, unlessEnd(err)
	}
	f, problem := NewFrames(l.Head[:])
	if problem != "" || word(l.Head[:], 4) != logVersion {
		return &Log{}, nil
	}
	l.Sum = f.sum
	if err := l.resume(r, before); err != nil {
		return nil, err
	}
	return l, l.read(r, size, f)
}

// Continues reports whether the log is the one that it was compared with, with more
// frames or not.
func (l *Log) Continues(before *Log) bool {
	return l.Head != [LogHeader]byte{} && l.Head == before.Head && l.Known == len(before.Frames)
}

// Page is how many bytes a page has.
func (l *Log) Page() int { return int(word(l.Head[:], 8)) }

// At is where the page of a frame begins.
func (l *Log) At(frame int) int64 {
	return LogHeader + int64(frame)*int64(frameHead+l.Page()) + frameHead
}

// resume takes over the frames that were read before, if they are still there: a
// frame's checksum covers all frames before it.
func (l *Log) resume(r io.ReaderAt, before *Log) error {
	if before == nil || before.Head != l.Head || len(before.Frames) == 0 {
		return nil
	}
	var last [frameHead]byte
	if _, err := r.ReadAt(last[:], l.At(len(before.Frames)-1)-frameHead); err != nil {
		return unlessEnd(err)
	}
	if string(last[8:16]) == string(l.Head[16:24]) && before.Sum == [2]uint32{word(last[:], 16), word(last[:], 20)} {
		l.Frames, l.Pages, l.Sum, l.Known = append(l.Frames, before.Frames...), before.Pages, before.Sum, len(before.Frames)
	}
	return nil
}

func (l *Log) read(r io.ReaderAt, size int64, f *Frames) error {
	from := l.At(len(l.Frames)) - frameHead
	in := bufio.NewReaderSize(io.NewSectionReader(r, from, size-from), 64<<10)
	f.sum = l.Sum
	frames := l.Frames
	for {
		if err := f.Next(in); err != nil {
			return unlessEnd(err)
		}
		if !f.Current() || f.page() == 0 || !f.Valid() {
			return nil
		}
		frames = append(frames, f.page())
		if f.Commits() {
			l.Frames, l.Pages, l.Sum = frames, word(f.frame, 4), f.sum
		}
	}
}

// Frames reads the frames of a log one by one.
type Frames struct {
	order binary.ByteOrder // in which the words of a checksum are added
	salts string
	sum   [2]uint32 // checksum of the header and the frames up to the last Valid one
	frame []byte
}

// NewFrames takes the header of a log. It returns what is wrong with the header, "" if
// nothing is.
func NewFrames(head []byte) (f *Frames, problem string) {
	page := word(head, 8)
	f = &Frames{order: byteOrderOf(head), salts: string(head[16:24])}
	if f.order == nil || page < 512 || page > 65536 || page&(page-1) != 0 {
		return nil, "invalid header"
	}
	if f.sum = add(f.sum, head[:24], f.order); f.sum != [2]uint32{word(head, 24), word(head, 28)} {
		return nil, "wrong header checksum"
	}
	f.frame = make([]byte, frameHead+page)
	return f, ""
}

// Next reads the next frame.
func (f *Frames) Next(r io.Reader) error {
	_, err := io.ReadFull(r, f.frame)
	return err
}

// Current reports whether the frame was written since the log was last started again.
func (f *Frames) Current() bool { return string(f.frame[8:16]) == f.salts }

// Commits reports whether the frame ends a transaction.
func (f *Frames) Commits() bool { return word(f.frame, 4) != 0 }

// Valid reports whether the frame has the right checksum, which covers all before it.
// It must be asked once for each frame.
func (f *Frames) Valid() bool {
	f.sum = add(add(f.sum, f.frame[:8], f.order), f.frame[frameHead:], f.order)
	return f.sum == [2]uint32{word(f.frame, 16), word(f.frame, 20)}
}

func (f *Frames) page() uint32 { return word(f.frame, 0) }

func word(b []byte, at int) uint32 { return binary.BigEndian.Uint32(b[at:]) }

// byteOrderOf is in which order the words of pages are added; nil if this is not
// the header of a log.
func byteOrderOf(head []byte) binary.ByteOrder {
	switch word(head, 0) {
	case 0x377f0682:
		return binary.LittleEndian
	case 0x377f0683:
		return binary.BigEndian
	}
	return nil
}

// add continues a checksum.
func add(sum [2]uint32, b []byte, order binary.ByteOrder) [2]uint32 {
	s0, s1 := sum[0], sum[1]
	if order == binary.LittleEndian {
		for ; len(b) >= 8; b = b[8:] {
			s0 += binary.LittleEndian.Uint32(b) + s1
			s1 += binary.LittleEndian.Uint32(b[4:]) + s0
		}
	} else {
		for ; len(b) >= 8; b = b[8:] {
			s0 += binary.BigEndian.Uint32(b) + s1
			s1 += binary.BigEndian.Uint32(b[4:]) + s0
		}
	}
	return [2]uint32{s0, s1}
}

// unlessEnd is nil for the end of a file: a log that became shorter has ended.
func unlessEnd(err error) error {
	if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
		return nil
	}
	return err
}
