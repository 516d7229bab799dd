package rowtext

import (
	"bytes"
	"encoding/base64"
	"encoding/hex"
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"
	"unicode/utf8"

	"rehome/formats/store"
	"rehome/internal/rawjson"
)

var (
	errShape     = errors.New("not a row of cells")
	errCanonical = errors.New("value is not in canonical form")
)

// Parse adds the record of a line, without its line end, to the batch. The
// batch is useless after an error.
func Parse(b *store.Batch, line []byte, rowids bool) error {
	p := parser{line: line, batch: b, last: -1}
	return p.row(rowids)
}

// ParseFresh is Parse for a line that this process has just written: the JSON
// spliced into its last cell ends where the line does, and is not read through
// again. Whoever calls it compares digests.
func ParseFresh(b *store.Batch, line []byte, rowids bool) error {
	p := parser{line: line, batch: b, last: b.Width() - 1}
	return p.row(rowids)
}

type parser struct {
	line  []byte
	at    int
	batch *store.Batch
	col   int
	last  int // column whose end is taken on trust, -1 for none
}

func (p *parser) fail(err error) error {
	return fmt.Errorf("column %d: %w", p.at+1, err)
}

// take consumes s if it comes next.
func (p *parser) take(s string) bool {
	if len(p.line)-p.at >= len(s) && string(p.line[p.at:p.at+len(s)]) == s {
		p.at += len(s)
		return true
	}
	return false
}

func (p *parser) row(rowids bool) error {
	if !p.take("[") {
		return p.fail(errShape)
	}
	id := int64(0)
	if rowids {
		word := p.word()
		v, err := integer(word)
		if err != nil {
			return p.fail(fmt.Errorf("row id: %w", err))
		}
		id = v
		p.at += len(word)
	}
	p.batch.Row(id)
	for col := range p.batch.Width() {
		if (col > 0 || rowids) && !p.take(",") {
			return p.fail(fmt.Errorf("expected %d cells: %w", p.batch.Width(), errShape))
		}
		p.col = col
		if err := p.cell(); err != nil {
			return p.fail(err)
		}
	}
	if !p.take("]") || p.at != len(p.line) {
		return p.fail(errShape)
	}
	return nil
}

// word is the run of bytes up to the next comma or bracket.
func (p *parser) word() []byte {
	rest := p.line[p.at:]
	for i, c := range rest {
		if c == ',' || c == ']' || i > 32 {
			return rest[:i]
		}
	}
	return rest
}

func (p *parser) cell() error {
	if p.at >= len(p.line) {
		return errShape
	}
	switch c := p.line[p.at]; {
	case c == '{':
		return p.tagged()
	case c == '"':
		return p.text()
	case p.take("null"):
		p.batch.AddNull()
		return nil
	}
	return p.number()
}

func (p *parser) number() error {
	word := p.word()
	if bytes.ContainsAny(word, ".e") {
		f, err := strconv.ParseFloat(string(word), 64)
		if err != nil {
			return errors.New("not a number")
		}
		var space [40]byte
		if !bytes.Equal(appendReal(space[:0], f), word) {
			return errCanonical
		}
		p.batch.AddReal(f)
	} else {
		v, err := integer(word)
		if err != nil {
			return err
		}
		p.batch.AddInt(v)
	}
	p.at += len(word)
	return nil
}

func integer(word []byte) (int64, error) {
	v, err := strconv.ParseInt(string(word), 10, 64)
	if err != nil {
		return 0, errors.New("not a 64-bit integer")
	}
	var space [24]byte
	if !bytes.Equal(strconv.AppendInt(space[:0], v, 10), word) {
		return 0, errCanonical
	}
	return v, nil
}

func (p *parser) text() error {
	arena := p.batch.Begin()
	from := len(arena)
	arena, end, err := rawjson.Unquote(arena, p.line, p.at)
	if err != nil {
		return err
	}
	if s := arena[from:]; inline(s) || unhex(s) != nil {
		return errCanonical
	}
	p.batch.End(store.Text, arena)
	p.at = end
	return nil
}

func (p *parser) tagged() error {
	switch {
	case p.take(`{"text":`):
		return p.spliced(store.Text, false)
	case p.take(`{"blob":`):
		return p.spliced(store.Blob, false)
	case p.take(`{"hex":`):
		return p.spliced(store.Text, true)
	case p.take(`{"blob64":"`):
		return p.base64(store.Blob)
	case p.take(`{"text64":"`):
		return p.base64(store.Text)
	case p.take(`{"real":"inf"}`):
		p.batch.AddReal(math.Inf(1))
	case p.take(`{"real":"-inf"}`):
		p.batch.AddReal(math.Inf(-1))
	case p.take(withheld):
		p.batch.AddWithheld()
	default:
		return errors.New("unknown tag")
	}
	return nil
}

func (p *parser) spliced(c store.Class, asHex bool) error {
	if p.at >= len(p.line) || p.line[p.at] != '{' && p.line[p.at] != '[' {
		return errors.New("expected an object or array")
	}
	end := len(p.line) - len("}]")
	if p.col != p.last || end <= p.at {
		var err error
		if end, err = rawjson.End(p.line, p.at); err != nil {
			return err
		}
	}
	raw := p.line[p.at:end]
	if p.at = end; !p.take("}") {
		return errShape
	}
	if asHex {
		p.batch.End(c, hex.AppendEncode(p.batch.Begin(), raw))
	} else {
		p.batch.AddBytes(c, raw)
	}
	return nil
}

var strict64 = base64.StdEncoding.Strict()

func (p *parser) base64(c store.Class) error {
	n := bytes.IndexByte(p.line[p.at:], '"')
	if n < 0 {
		return errShape
	}
	src := p.line[p.at : p.at+n]
	if bytes.IndexByte(src, '\r') >= 0 { // the library would skip it
		return errCanonical
	}
	arena := p.batch.Begin()
	from := len(arena)
	arena = slices.Grow(arena, strict64.DecodedLen(n))
	arena, err := strict64.AppendDecode(arena, src)
	if err != nil {
		return errors.New("not base64")
	}
	if raw := arena[from:]; c == store.Text && utf8.Valid(raw) || c == store.Blob && inline(raw) {
		return errCanonical
	}
	p.batch.End(c, arena)
	if p.at += n; !p.take(`"}`) {
		return errShape
	}
	return nil
}
