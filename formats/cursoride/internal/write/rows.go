package write

import (
	"bufio"
	"bytes"
	"encoding/binary"
	"encoding/hex"
	"io"
	"os"

	"rehome/formats/cursoride/internal/lists"
)

// disk is the file of a draft with rows of cursorDiskKV. Each row is the length of its
// key, twice the length of its value and 1 if that is a BLOB, the key and the value.
type disk struct {
	file  *os.File
	w     *bufio.Writer
	size  int64
	err   error              // the first one
	known map[short]struct{} // blobs and content that were written
	added []short            // of these, since the mark; nil: there is no mark
	begin int64              // size of the file at the mark
	head  [2 * binary.MaxVarintLen64]byte
}

// short is the beginning of a blob's id: enough of a SHA-256 to tell blobs apart.
type short [16]byte

const bufferSize = 256 << 10

func newDisk(path string) (*disk, error) {
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	return &disk{file: f, w: bufio.NewWriterSize(f, bufferSize), known: map[short]struct{}{}}, err
}

// row writes a row. close returns its error.
func (d *disk) row(key string, value []byte, blob bool) {
	if d.err != nil {
		return
	}
	n := uint64(len(value)) << 1
	if blob {
		n |= 1
	}
	b := binary.AppendUvarint(binary.AppendUvarint(d.head[:0], uint64(len(key))), n)
	d.w.Write(b)
	d.w.WriteString(key)
	_, d.err = d.w.Write(value)
	d.size += int64(len(b) + len(key) + len(value))
}

// once reports whether a row with a shared key was not written before.
func (d *disk) once(row string) bool {
	key, _ := sharedKey([]byte(row))
	if _, there := d.known[key]; there {
		return false
	}
	d.known[key] = struct{}{}
	if d.added != nil {
		d.added = append(d.added, key)
	}
	return true
}

// sharedKey returns what tells a row of a blob or of content apart from others; false for
// any other row.
func sharedKey(row []byte) (key short, shared bool) {
	id, blob := bytes.CutPrefix(row, []byte(lists.BlobRow))
	if !blob {
		if id, shared = bytes.CutPrefix(row, []byte(lists.ContentRow)); !shared {
			return key, false
		}
	}
	hex.Decode(key[:], id[:2*len(key)])
	if !blob {
		key[0]++ // the same bytes can be a blob, too
	}
	return key, true
}

// mark begins a part that reset takes back.
func (d *disk) mark() { d.added, d.begin = []short{}, d.size }

func (d *disk) reset() error {
	for _, key := range d.added {
		delete(d.known, key)
	}
	d.added = nil
	if d.err != nil {
		return d.err
	}
	if d.err = d.w.Flush(); d.err == nil {
		d.err = d.file.Truncate(d.begin)
	}
	if d.err == nil {
		_, d.err = d.file.Seek(d.begin, io.SeekStart)
	}
	d.size = d.begin
	return d.err
}

func (d *disk) close() error {
	if err := d.w.Flush(); d.err == nil {
		d.err = err
	}
	if err := d.file.Close(); d.err == nil {
		d.err = err
	}
	return d.err
}

// row is one that is read again.
type row struct {
	key, value []byte
	blob       bool
}

// maxRow is the size of the largest row that is read.
const maxRow = 1 << 30

// readRow reads the next row into the space of the last one; io.EOF after the last.
func readRow(r *bufio.Reader, last row) (row, error) {
	key, err := binary.ReadUvarint(r)
	if err != nil {
		return last, err
	}
	n, err := binary.ReadUvarint(r)
	if err != nil || key > maxRow || n>>1 > maxRow {
		return last, io.ErrUnexpectedEOF
	}
	last.blob = n&1 != 0
	if last.key, err = fill(r, last.key, int(key)); err == nil {
		last.value, err = fill(r, last.value, int(n>>1))
	}
	return last, err
}

func fill(r io.Reader, space []byte, n int) ([]byte, error) {
	if cap(space) < n || cap(space) > 4<<20 {
		space = make([]byte, n)
	}
	_, err := io.ReadFull(r, space[:n])
	if err == io.EOF {
		err = io.ErrUnexpectedEOF
	}
	return space[:n], err
}

// space returns the size of a row in its file.
func (r *row) space() int64 {
	var b [2 * binary.MaxVarintLen64]byte
	head := binary.AppendUvarint(binary.AppendUvarint(b[:0], uint64(len(r.key))), uint64(len(r.value))<<1)
	return int64(len(head) + len(r.key) + len(r.value))
}
