package postgres

import (
	"bufio"
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math"
)

// The binary form of COPY: no value is spelled as text, and none is held but the current one.
const signature = "PGCOPY\n\xff\r\n\x00\x00\x00\x00\x00\x00\x00\x00\x00"

var errStopped = errors.New("the server stopped reading")

// tuples writes rows in the binary form.
type tuples struct{ *bufio.Writer }

func newTuples(w io.Writer) tuples {
	t := tuples{bufio.NewWriterSize(w, 256<<10)}
	t.WriteString(signature)
	return t
}

func (t tuples) row(fields int) { t.Write(binary.BigEndian.AppendUint16(nil, uint16(fields))) }

func (t tuples) bytes(b []byte) {
	if b == nil {
		t.Write([]byte{0xff, 0xff, 0xff, 0xff})
		return
	}
	var n [4]byte
	binary.BigEndian.PutUint32(n[:], uint32(len(b)))
	t.Write(n[:])
	t.Write(b)
}

func (t tuples) int(n int64) {
	var b [12]byte
	b[3] = 8
	binary.BigEndian.PutUint64(b[4:], uint64(n))
	t.Write(b[:])
}

func (t tuples) float(f float64, ok bool) {
	if !ok {
		t.bytes(nil)
		return
	}
	t.int(int64(math.Float64bits(f)))
}

// failed returns the first error of all writes.
func (t tuples) failed() error {
	_, err := t.Write(nil)
	return err
}

// end ends the rows. It returns the first error of all writes.
func (t tuples) end() error {
	t.Write([]byte{0xff, 0xff})
	return t.Flush()
}

// copyIn runs a COPY FROM STDIN of what fill writes.
func (c *conn) copyIn(ctx context.Context, sql string, fill func(w io.Writer) error) error {
	r, w := io.Pipe()
	filled := make(chan error, 1)
	go func() {
		err := fill(w)
		w.CloseWithError(err)
		filled <- err
	}()
	_, err := c.CopyFrom(ctx, r, sql)
	r.CloseWithError(errStopped)
	// The server only repeats why fill failed.
	if e := <-filled; e != nil && !errors.Is(e, errStopped) {
		return e
	}
	return err
}

// copyOut runs a COPY TO STDOUT and calls row for each row. Its fields are valid until it
// returns; nil is null.
func (c *conn) copyOut(ctx context.Context, sql string, row func(fields [][]byte) error) error {
	r, w := io.Pipe()
	read := make(chan error, 1)
	go func() {
		err := readTuples(r, row)
		if err != nil {
			r.CloseWithError(err)
		}
		read <- err
	}()
	out := bufio.NewWriterSize(w, 256<<10)
	_, err := c.CopyTo(ctx, out, sql)
	if err == nil {
		err = out.Flush()
	}
	if err != nil {
		w.CloseWithError(err)
	} else {
		w.Close()
	}
	// What the row says comes first: the writer only repeats it.
	if e := <-read; err == nil || e != nil && !errors.Is(e, err) {
		return e
	}
	return err
}

func readTuples(r io.Reader, row func([][]byte) error) error {
	in := bufio.NewReaderSize(r, 256<<10)
	head := make([]byte, len(signature))
	if _, err := io.ReadFull(in, head); err != nil {
		return err
	}
	if string(head) != signature {
		return errors.New("unknown form of COPY")
	}
	var arena bytes.Buffer
	var lengths []int
	var fields [][]byte
	var b [4]byte
	for {
		if _, err := io.ReadFull(in, b[:2]); err != nil {
			return err
		}
		n := int(int16(binary.BigEndian.Uint16(b[:2])))
		if n == -1 {
			_, err := io.Copy(io.Discard, in)
			return err
		}
		if n < 0 || n > 16 {
			return fmt.Errorf("a row of %d columns", n)
		}
		if arena.Reset(); arena.Cap() > 4<<20 {
			arena = bytes.Buffer{}
		}
		lengths, fields = lengths[:0], fields[:0]
		for range n {
			if _, err := io.ReadFull(in, b[:]); err != nil {
				return err
			}
			size := int(int32(binary.BigEndian.Uint32(b[:])))
			lengths = append(lengths, size)
			// Grows with what arrives, whatever the length says.
			if _, err := io.CopyN(&arena, in, int64(max(size, 0))); err != nil {
				return err
			}
		}
		rest := arena.Bytes()
		for _, size := range lengths {
			if size < 0 {
				fields = append(fields, nil)
				continue
			}
			fields = append(fields, rest[:size:size])
			rest = rest[size:]
		}
		if err := row(fields); err != nil {
			return err
		}
	}
}
