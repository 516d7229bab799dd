package sidecar

import (
	"bufio"
	"bytes"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"hash/crc64"
	"io"
	"os"
	"strconv"
	"strings"
	"unicode/utf8"

	"rehome/formats"
	"rehome/formats/store"
)

// A sidecar is text: a header, then one item a line. Others may have edited it,
// so it is read strictly: a line that differs from how rehome would write it is
// an error. This leaves no room for duplicate members, odd numbers or
// ambiguity.

const (
	Header    = `{"rehome":"sidecar","version":1}` + "\n"
	OldHeader = `{"rehome":"residue","version":1}` + "\n" // read, never written
	MaxSize   = 64 << 20                                  // bytes of a file, which bounds memory, too
)

type itemLine struct {
	Store   string       `json:"store,omitempty"`
	At      addrLine     `json:"at"`
	Column  int          `json:"column,omitempty"`
	Row     []*cellLine  `json:"row,omitempty"`
	Inserts []insertLine `json:"inserts,omitempty"`
	Digest  string       `json:"digest,omitempty"`
	Sum     string       `json:"sum,omitempty"` // checksum of the line without it; early versions wrote none
}

type addrLine struct {
	File  string    `json:"file"`
	Set   string    `json:"set"`
	RowID *int64    `json:"rowid,omitempty"`
	Key   *cellLine `json:"key,omitempty"`
	Line  int       `json:"line,omitempty"`
}

// cellLine has one member, the storage class; nil is NULL.
type cellLine struct {
	Int      *string `json:"int,omitempty"`
	Real     *string `json:"real,omitempty"`
	Text     *string `json:"text,omitempty"`
	Text64   *string `json:"text64,omitempty"`
	Blob64   *string `json:"blob64,omitempty"`
	Withheld bool    `json:"withheld,omitempty"`
}

type insertLine struct {
	Offset int    `json:"offset"`
	Text   string `json:"text"`
}

// Open opens a sidecar, which must be a regular file.
func Open(path string) (*os.File, error) {
	info, err := os.Stat(path)
	switch {
	case err != nil:
		return nil, &formats.Error{At: path, Err: formats.Cause(err)}
	case !info.Mode().IsRegular():
		return nil, &formats.Error{At: path, Err: errors.New("a sidecar must be a regular file"), Hint: "move it away, or use --sidecar none"}
	}
	f, err := os.Open(path)
	if err != nil {
		return nil, &formats.Error{At: path, Err: formats.Cause(err), Hint: "make it readable, or use --sidecar none to leave it out"}
	}
	return f, nil
}

// Read reads a sidecar and returns its items by store.
func Read(r io.Reader, name string) (map[string][]store.SidecarItem, error) {
	refuse := func(line int, err error) error {
		return &formats.Error{At: fmt.Sprintf("%s:%d", name, line), Err: err, Hint: "restore the sidecar as it was written, or use --sidecar none to leave it out"}
	}
	in := bufio.NewReader(io.LimitReader(r, MaxSize+1))
	out := map[string][]store.SidecarItem{}
	read := 0
	for n := 1; ; n++ {
		line, err := in.ReadBytes('\n')
		if read += len(line); read > MaxSize {
			return nil, refuse(n, fmt.Errorf("the sidecar exceeds %d MB", MaxSize>>20))
		}
		switch {
		case errors.Is(err, io.EOF) && len(line) == 0 && n > 1:
			return out, nil
		case errors.Is(err, io.EOF):
			return nil, refuse(n, errors.New("the last line is incomplete"))
		case err != nil:
			return nil, refuse(n, formats.Cause(err))
		case n == 1 && isHeader(bytes.Replace(line, []byte("\r\n"), []byte("\n"), 1)) && !isHeader(line):
			return nil, &formats.Error{At: name + ":1", Err: errors.New("the sidecar's lines end in CRLF"),
				Hint: "git converted them: add `*" + suffixOf(name) + " -text` to .gitattributes and check the file out again"}
		case bytes.HasPrefix(line, []byte("<<<<<<< ")):
			return nil, &formats.Error{At: fmt.Sprintf("%s:%d", name, n), Err: errors.New("unresolved merge conflict"), Hint: "run `rehome merge --finish` in the repository, or check out one side of the store"}
		case n == 1 && !isHeader(line):
			return nil, refuse(n, errors.New("not a sidecar, or of an unsupported version"))
		case n == 1:
			continue
		}
		key, it, err := parseItem(line)
		if err != nil {
			return nil, refuse(n, err)
		}
		out[key] = append(out[key], it)
	}
}

func isHeader(line []byte) bool { return string(line) == Header || string(line) == OldHeader }

func suffixOf(name string) string {
	if strings.HasSuffix(name, formats.OldSidecarSuffix) {
		return formats.OldSidecarSuffix
	}
	return formats.SidecarSuffix
}

func parseItem(line []byte) (string, store.SidecarItem, error) {
	var l itemLine
	if err := json.Unmarshal(line, &l); err != nil {
		return "", store.SidecarItem{}, errors.New("not a sidecar item") // json's messages quote the content
	}
	it, err := l.item()
	if err != nil {
		return "", it, err
	}
	same, err := plainItem(l.Store, it)
	if l.Sum != "" {
		if same = withChecksum(same); err == nil && !bytes.Equal(same, line) && len(same) == len(line) {
			err = errors.New("checksum mismatch: the line was edited")
		}
	}
	if err == nil && !bytes.Equal(same, line) {
		err = errors.New("not in the form that rehome writes")
	}
	return l.Store, it, err
}

// withChecksum adds a checksum to a line, against accidents. Each line has its
// own, so that git can merge lines of two people.
func withChecksum(line []byte) []byte {
	sum := crc64.Checksum(line, crc64.MakeTable(crc64.ECMA))
	return fmt.Appendf(bytes.TrimSuffix(line, []byte("}\n")), `,"sum":"%016x"}`+"\n", sum)
}

func (l *itemLine) item() (it store.SidecarItem, err error) {
	it.At = store.Addr{File: l.At.File, Set: l.At.Set, Line: l.At.Line}
	if l.At.RowID != nil {
		it.At.RowID, it.At.HasID = *l.At.RowID, true
	}
	if it.At.Key, err = l.At.Key.cell(); err != nil {
		return it, err
	}
	it.Column = l.Column
	for _, c := range l.Row {
		cell, err := c.cell()
		if err != nil {
			return it, err
		}
		it.Row = append(it.Row, cell)
	}
	last := 0
	for _, in := range l.Inserts {
		if in.Offset < last {
			return it, errors.New("inserts are out of order")
		}
		last = in.Offset
		it.Inserts = append(it.Inserts, store.Insert{Offset: in.Offset, Text: in.Text})
	}
	if l.Column < 0 || l.At.Line < 0 || (len(l.Row) == 0) == (len(l.Inserts) == 0) {
		return it, errors.New("an item is either a row or inserts of one cell")
	}
	if l.Digest != "" {
		it.Digest, err = store.ParseDigest(l.Digest)
	}
	return it, err
}

func (c *cellLine) cell() (store.Cell, error) {
	switch {
	case c == nil:
		return store.NullCell(), nil
	case c.Int != nil:
		v, err := strconv.ParseInt(*c.Int, 10, 64)
		return store.IntCell(v), cellError(err, "int")
	case c.Real != nil:
		v, err := strconv.ParseFloat(*c.Real, 64)
		return store.RealCell(v), cellError(err, "real")
	case c.Text != nil:
		return store.TextCell([]byte(*c.Text)), nil
	case c.Text64 != nil:
		b, err := base64.StdEncoding.DecodeString(*c.Text64)
		return store.TextCell(b), cellError(err, "text64")
	case c.Blob64 != nil:
		b, err := base64.StdEncoding.DecodeString(*c.Blob64)
		return store.BlobCell(b), cellError(err, "blob64")
	case c.Withheld:
		return store.WithheldCell(), nil
	}
	return store.Cell{}, errors.New("a cell without a storage class")
}

// cellError drops the parser's message, which quotes the value.
func cellError(err error, what string) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf("not a cell of class %s", what)
}

// appendItem appends the item's line. The same item gives the same bytes.
func appendItem(out []byte, key string, it store.SidecarItem) ([]byte, error) {
	line, err := plainItem(key, it)
	if err != nil {
		return nil, err
	}
	return append(out, withChecksum(line)...), nil
}

// plainItem returns the item's line without its checksum.
func plainItem(key string, it store.SidecarItem) ([]byte, error) {
	for _, s := range []string{key, it.At.File, it.At.Set} {
		if !utf8.ValidString(s) {
			return nil, errors.New("a name that is not UTF-8 cannot be kept in a sidecar")
		}
	}
	l := itemLine{Store: key, At: addrLine{File: it.At.File, Set: it.At.Set, Line: it.At.Line}, Column: it.Column}
	if it.At.HasID {
		l.At.RowID = &it.At.RowID
	}
	var err error
	if l.At.Key, err = newCellLine(it.At.Key); err != nil {
		return nil, err
	}
	for _, c := range it.Row {
		cell, err := newCellLine(c)
		if err != nil {
			return nil, err
		}
		l.Row = append(l.Row, cell)
	}
	for _, in := range it.Inserts {
		if !utf8.ValidString(in.Text) {
			return nil, errors.New("text that is not UTF-8 cannot be kept in a sidecar")
		}
		l.Inserts = append(l.Inserts, insertLine{in.Offset, in.Text})
	}
	if it.Digest != (store.Digest{}) {
		l.Digest = it.Digest.String()
	}
	w := new(bytes.Buffer)
	enc := json.NewEncoder(w)
	enc.SetEscapeHTML(false)
	err = enc.Encode(&l)
	return w.Bytes(), err
}

func newCellLine(c store.Cell) (*cellLine, error) {
	word := func(s string) *string { return &s }
	switch c.Class {
	case store.Null:
		return nil, nil
	case store.Int:
		return &cellLine{Int: word(strconv.FormatInt(c.Int(), 10))}, nil
	case store.Real:
		if v := c.Real(); v != v {
			return nil, errors.New("SQLite cannot store NaN")
		}
		return &cellLine{Real: word(strconv.FormatFloat(c.Real(), 'x', -1, 64))}, nil
	case store.Text:
		if utf8.Valid(c.Bytes()) {
			return &cellLine{Text: word(string(c.Bytes()))}, nil
		}
		return &cellLine{Text64: word(base64.StdEncoding.EncodeToString(c.Bytes()))}, nil
	case store.Blob:
		return &cellLine{Blob64: word(base64.StdEncoding.EncodeToString(c.Bytes()))}, nil
	case store.Withheld:
		return &cellLine{Withheld: true}, nil
	}
	return nil, fmt.Errorf("a cell of class %v cannot be kept in a sidecar", c.Class)
}
