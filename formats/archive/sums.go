package archive

import (
	"bytes"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"

	"rehome/formats/internal/digest"
	"rehome/formats/store"
)

// text is what was read or written of one set or file, or what the archive states of it.
type text struct {
	rows   int64
	bytes  int64
	digest store.Digest
}

// place is a file in the digests of its lines: a hash of its path in the archive, so that
// a line that was moved to another file is a different line. In version 1 it is a hash of
// the path below the table's folder, and 0 for the only file of a table and for a stream.
type place uint64

func placeOf(path string) place { return place(digest.Name(path)) }

// line returns the digest of a line, with its line end, in its place.
func (at place) line(line []byte) store.Digest {
	d := digest.Bytes(line)
	if at != 0 {
		var b [24]byte
		binary.BigEndian.PutUint64(b[:], d.Hi)
		binary.BigEndian.PutUint64(b[8:], d.Lo)
		binary.BigEndian.PutUint64(b[16:], uint64(at))
		d = digest.Bytes(b[:])
	}
	return d
}

// add counts a line, with its line end.
func (t *text) add(line []byte, at place) {
	t.rows++
	t.bytes += int64(len(line))
	t.digest.Add(at.line(line))
}

// join adds the counts of more lines.
func (t *text) join(o text) {
	t.rows += o.rows
	t.bytes += o.bytes
	t.digest.Add(o.digest)
}

// trailer is the last line of a file of rows, and of a table in a stream.
type trailer struct {
	Rows   int64  `json:"rows"`
	Digest string `json:"digest"`
}

func (t text) trailer() []byte {
	return fmt.Appendf(nil, "{\"rows\":%d,\"digest\":\"%s\"}\n", t.rows, t.digest)
}

// parseTrailer parses a line that text.trailer wrote.
func parseTrailer(line []byte) (t text, ok bool) {
	var said trailer
	if len(line) > 256 || json.Unmarshal(line, &said) != nil {
		return t, false
	}
	sum, err := store.ParseDigest(said.Digest)
	t = text{rows: said.Rows, digest: sum}
	return t, err == nil && said.Rows >= 0 && bytes.Equal(t.trailer(), line)
}

// differs returns an error if the lines are not those that a trailer states.
func (t text) differs(said text) error {
	switch {
	case t.rows != said.rows:
		return fmt.Errorf("found %d rows, but the last line of the file states %d", t.rows, said.rows)
	case t.digest != said.digest:
		return errors.New("text does not match the digest in its last line")
	}
	return nil
}

// A line of a common file ends in its own digest, as one more cell.
const (
	sealStart  = `,"`
	sealEnd    = `"]`
	sealLength = len(sealStart) + len("xxh3:") + 32 + len(sealEnd)
)

var errSeal = errors.New("line does not match its digest")

// seal replaces the end of a row's line, which starts at from, with its digest and the end.
func (at place) seal(dst []byte, from int) []byte {
	sum := at.line(dst[from:])
	dst = append(dst[:len(dst)-len("]\n")], sealStart...)
	dst = append(dst, sum.String()...)
	return append(dst, sealEnd+"\n"...)
}

// unseal returns the row of a line, both with their line ends, without its digest, which
// it verifies. The row is in the line's memory.
func (at place) unseal(line []byte) ([]byte, error) {
	n := len(line) - len("\n") - sealLength
	if n < 1 || string(line[n:n+len(sealStart)]) != sealStart || string(line[len(line)-len(sealEnd)-1:]) != sealEnd+"\n" {
		return nil, errSeal
	}
	var said [37]byte // the row overwrites its start
	copy(said[:], line[n+len(sealStart):])
	row := append(line[:n:len(line)], "]\n"...)
	if at.line(row).String() != string(said[:]) {
		return nil, errSeal
	}
	return row, nil
}

// companion returns the text of the file that states the digest of a plain file.
func (t text) companion() []byte { return fmt.Appendf(nil, "%s %d\n", t.digest, t.bytes) }

// parseCompanion parses what text.companion wrote.
func parseCompanion(b []byte) (t text, err error) {
	sum, size, _ := bytes.Cut(bytes.TrimSuffix(b, []byte("\n")), []byte(" "))
	if t.digest, err = store.ParseDigest(string(sum)); err != nil {
		return t, err
	}
	if _, err := fmt.Sscanf(string(size), "%d", &t.bytes); err != nil || t.bytes < 0 || !bytes.Equal(t.companion(), b) {
		return t, errors.New("not written the way rehome writes it")
	}
	return t, nil
}
