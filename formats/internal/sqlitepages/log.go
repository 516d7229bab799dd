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
	var head [LogHeader]byte
	if size < LogHeader {
		return l, nil
	}
	if _, err := r.ReadAt(head[:], 0); err != nil {
		return nil, unlessEnd(err)
	}
	order := byteOrderOf(head[:])
	sum := [2]uint32{}
	if order == nil || word(head[:], 4) != logVersion {
		return l, nil
	}
	if sum = add(sum, head[:24], order); sum != [2]uint32{word(head[:], 24), word(head[:], 28)} {
		return l, nil
	}
	l.Head, l.Sum = head, sum
	if page := l.Page(); page < 512 || page > 65536 || page&(page-1) != 0 {
		return &Log{}, nil
	}
	if err := l.resume(r, before); err != nil {
		return nil, err
	}
	return l, l.read(r, size, order)
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

func (l *Log) read(r io.ReaderAt, size int64, order binary.ByteOrder) error {
	from, sum := l.At(len(l.Frames))-frameHead, l.Sum
	in := bufio.NewReaderSize(io.NewSectionReader(r, from, size-from), 64<<10)
	frame := make([]byte, frameHead+l.Page())
	frames := l.Frames
	for {
		if _, err := io.ReadFull(in, frame); err != nil {
			return unlessEnd(err)
		}
		if string(frame[8:16]) != string(l.Head[16:24]) || word(frame, 0) == 0 {
			return nil
		}
		sum = add(add(sum, frame[:8], order), frame[frameHead:], order)
		if sum != [2]uint32{word(frame, 16), word(frame, 20)} {
			return nil
		}
		frames = append(frames, word(frame, 0))
		if word(frame, 4) != 0 { // a commit
			l.Frames, l.Pages, l.Sum = frames, word(frame, 4), sum
		}
	}
}

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
