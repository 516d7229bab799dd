package sqlitepages

import (
	"context"
	"errors"
	"fmt"
	"io"

	"rehome/formats"
	"rehome/formats/store"
)

// File reads a database by its pages. A small file is held whole, of a large
// one the pieces that were wanted last. It belongs to one goroutine.
type File struct {
	Head   [HeaderBytes]byte
	Page   int    // bytes a page
	Usable int    // bytes of a page that SQLite uses
	Pages  uint32 // of the database
	Bytes  int64  // of the file; what lies after Pages belongs to nobody

	Reader io.ReaderAt
	Failed func(err error) error // explains an error of reading
	Whole  []byte                // the file, if that is small
	Span   int64                 // bytes a piece
	Pieces map[int64][]byte
	recent []int64
	Row    Row // of the walk at hand
}

// How large files are held.
const (
	Piece     = 256 << 10
	maxPieces = 32
)

// Pragmas are the settings in the file's header.
func (p *File) Pragmas() store.Pragmas { return Header(p.Head[:]).Pragmas() }

// UTF8 reports whether texts are kept as UTF-8.
func (p *File) UTF8() bool { return Header(p.Head[:]).encoding() == "UTF-8" }

// View is a page, valid until the next one is asked for; of a small file as
// long as the image is open.
func (p *File) View(n uint32) ([]byte, error) {
	if n == 0 || n > p.Pages {
		return nil, fmt.Errorf("page %d does not exist; the file has %d", n, p.Pages)
	}
	from := int64(n-1) * int64(p.Page)
	if p.Whole != nil {
		if from+int64(p.Page) > int64(len(p.Whole)) {
			return nil, fmt.Errorf("page %d is truncated", n)
		}
		return p.Whole[from : from+int64(p.Page) : from+int64(p.Page)], nil
	}
	b, err := p.piece(from / p.Span)
	if err != nil {
		return nil, err
	}
	at := from % p.Span
	if at+int64(p.Page) > int64(len(b)) {
		return nil, fmt.Errorf("page %d is truncated", n)
	}
	return b[at : at+int64(p.Page) : at+int64(p.Page)], nil
}

// stable reports whether a view stays what it is.
func (p *File) stable() bool { return p.Whole != nil }

// piece is a part of a large file. A page never lies across two.
func (p *File) piece(n int64) ([]byte, error) {
	if b, ok := p.Pieces[n]; ok {
		return b, nil
	}
	var b []byte
	if len(p.recent) == maxPieces {
		old := p.recent[0]
		p.recent = append(p.recent[:0], p.recent[1:]...)
		b = p.Pieces[old]
		delete(p.Pieces, old)
	} else {
		b = make([]byte, p.Span)
	}
	got, err := p.Reader.ReadAt(b[:p.Span], n*p.Span)
	if err != nil && err != io.EOF {
		return nil, p.Failed(err)
	}
	b = b[:got]
	p.Pieces[n], p.recent = b, append(p.recent, n)
	return b, nil
}

// gone reports an error that is not the file's: the system's, or the end of the
// context.
func gone(err error) bool {
	e := (*formats.Error)(nil)
	return errors.As(err, &e) || errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded)
}

// text is a text of any encoding.
func (p *File) text(c store.Cell) string {
	if o := ByteOrder(Header(p.Head[:]).encoding()); o != nil && c.Class == store.Text {
		if b, err := AppendWTF8(nil, c.Bytes(), o); err == nil {
			return string(b)
		}
	}
	return string(c.Bytes())
}
