package sdkdoc

import (
	"bytes"
	"encoding/base64"
	"strconv"

	"rehome/formats/store"
	"rehome/internal/rawjson"
)

var (
	std    = base64.StdEncoding
	rawStd = base64.RawStdEncoding
	strict = base64.StdEncoding.Strict()
)

// Fit says how well a row stands for a line.
type Fit uint8

// The fits, worst first.
const (
	None     Fit = iota // no row can be made of it
	Dropped             // a row, but something that the line says is not in it
	Reshaped            // a row that says the same, but its line is spelled another way
	Exact               // the row's own line is this line
)

// Parser makes rows of lines. What it returns is valid until its next use.
type Parser struct {
	kind   Kind
	line   []byte
	found  [maxMembers]span
	cells  [maxColumns]store.Cell
	text   []byte // what had to be decoded
	again  []byte // the row's own line
	base64 []byte // bytes, as the row's own line spells them; nil if that is not known
	lossy  bool
	hollow bool // something without which there is no row is missing
}

// Parse makes the row of a line.
func (p *Parser) Parse(k Kind, line []byte) (row []store.Cell, fit Fit) {
	d := kinds[k]
	p.kind, p.line, p.text, p.lossy, p.hollow = k, line, p.text[:0], false, false
	p.base64 = nil
	s := split(line, d.members, p.found[:len(d.members)])
	if !s.object {
		return nil, None
	}
	p.lossy = s.extra
	row = p.cells[:len(d.columns)]
	for i, col := range d.of {
		if p.member(row, i, col, d.columns[col].form); p.hollow {
			return nil, None
		}
	}
	p.again, _ = k.append(p.again[:0], row, bytes.IndexByte(line, '\r') < 0, p.base64)
	switch {
	case bytes.Equal(p.again, line):
		return row, Exact
	case p.lossy:
		return row, Dropped
	}
	return row, Reshaped
}

// member makes the cells of a member.
func (p *Parser) member(row []store.Cell, i, col int, form Form) {
	switch form {
	case AsKey:
		row[col] = p.key(i)
	case AsText:
		row[col] = p.must(i, "")
	case AsOffset:
		if row[col] = p.must(i, ""); p.absent(i) {
			row[col] = p.made(func(b []byte) []byte { return strconv.AppendInt(b, row[EventSeq].Int(), 10) })
		}
	case AsID, AsProse:
		row[col] = p.may(i)
	case AsInteger:
		row[col] = p.number(i)
	case AsStatus, AsRunStatus:
		row[col] = p.status(i, kinds[p.kind].statuses[0])
	case AsMoment:
		row[col] = p.moment(i)
	case AsTime:
		row[col] = p.time(i, epoch)
	case AsTimeOrNull:
		row[col] = p.time(i, "")
	case AsEnd:
		p.end(row, i)
	case AsObject:
		row[col] = p.json(i, "{}")
	case AsPayload:
		row[col] = p.json(i, "null")
	case AsJSONOrNull:
		if row[col] = p.json(i, "null"); string(row[col].Bytes()) == "null" {
			row[col] = store.NullCell()
		}
	case AsModel:
		row[RunModel], row[RunParams] = p.model(i)
	case AsRef, AsRefIfAny:
		row[col] = p.ref(i)
	case AsBlobID:
		row[col] = p.blobID(i)
	case AsBytes:
		row[col] = p.bytes(i)
	}
}

// end puts the end of a run into the column that its status names.
func (p *Parser) end(row []store.Cell, i int) {
	row[RunFinished], row[RunCancelled], row[RunExpired] = store.NullCell(), store.NullCell(), store.NullCell()
	end := p.time(i, "")
	if at := endColumn(row[RunStatus].Bytes()); at >= 0 {
		row[at] = end
	} else if end.Class != store.Null {
		p.lossy = true
	}
}

func (p *Parser) blobID(i int) store.Cell {
	id := p.key(i)
	switch blobID(id.Bytes()) {
	case idWrong:
		p.hollow = true
	case idUpper:
		return p.made(func(b []byte) []byte { return lowerID(b, id.Bytes()) })
	}
	return id
}

func (p *Parser) bytes(i int) store.Cell {
	data, ok := p.string(i)
	at := len(p.text)
	if ok {
		out, err := strict.AppendDecode(p.text, data)
		if err == nil { // line ends, which it skips, are escaped in the line
			p.text, p.base64 = out, data
		} else {
			p.text, ok = unbase64(p.text, data)
		}
	}
	p.hollow = p.hollow || !ok
	return store.BlobCell(p.text[at:])
}

func (p *Parser) raw(i int) []byte { return p.found[i].of(p.line) }

// absent reports a member that is not there or null.
func (p *Parser) absent(i int) bool {
	raw := p.raw(i)
	return len(raw) == 0 || string(raw) == "null"
}

// made is a text cell that is not part of the line.
func (p *Parser) made(add func([]byte) []byte) store.Cell {
	at := len(p.text)
	p.text = add(p.text)
	return store.TextCell(p.text[at:])
}

// string is the text of a member that is a string.
func (p *Parser) string(i int) ([]byte, bool) {
	return p.stringIn(p.raw(i))
}

func (p *Parser) stringIn(raw []byte) ([]byte, bool) {
	if len(raw) < 2 || raw[0] != '"' {
		return nil, false
	}
	raw = raw[1 : len(raw)-1]
	if bytes.IndexByte(raw, '\\') < 0 {
		return raw, true
	}
	at := len(p.text)
	p.text = rawjson.AppendUTF8(p.text, raw)
	return p.text[at:], true
}

// key is text without which there is no row.
func (p *Parser) key(i int) store.Cell {
	s, ok := p.string(i)
	if !ok {
		p.hollow = true
	}
	return store.TextCell(s)
}

// must is text where the column may not be NULL.
func (p *Parser) must(i int, none string) store.Cell {
	if s, ok := p.string(i); ok {
		return store.TextCell(s)
	}
	p.lossy = p.lossy || !p.absent(i)
	return store.TextCell([]byte(none))
}

// may is text or NULL.
func (p *Parser) may(i int) store.Cell {
	if s, ok := p.string(i); ok {
		return store.TextCell(s)
	}
	p.lossy = p.lossy || !p.absent(i)
	return store.NullCell()
}

func (p *Parser) number(i int) store.Cell {
	v, whole, ok := parseInt(p.raw(i))
	p.lossy = p.lossy || !whole
	p.hollow = p.hollow || !ok
	return store.IntCell(v)
}

func (p *Parser) status(i int, none string) store.Cell {
	s := p.must(i, none)
	return p.made(func(b []byte) []byte { return upper(b, s.Bytes()) })
}

// time is milliseconds as a text cell. none stands for no time, "" for NULL.
func (p *Parser) time(i int, none string) store.Cell {
	ms, whole, ok := parseInt(p.raw(i))
	if ok {
		at := len(p.text)
		if p.text, ok = AppendISO(p.text, ms); ok {
			p.lossy = p.lossy || !whole
			return store.TextCell(p.text[at:])
		}
	}
	p.lossy = p.lossy || !p.absent(i)
	if none == "" {
		return store.NullCell()
	}
	return store.TextCell([]byte(none))
}

// moment is the one time that is text in a line; numbers are read, too.
func (p *Parser) moment(i int) store.Cell {
	if s, ok := p.string(i); ok {
		return store.TextCell(s)
	}
	return p.time(i, epoch)
}

// json is a value as it stands in the line.
func (p *Parser) json(i int, none string) store.Cell {
	if raw := p.raw(i); len(raw) > 0 {
		return store.TextCell(raw)
	}
	return store.TextCell([]byte(none))
}

// model takes a model apart.
func (p *Parser) model(i int) (id, params store.Cell) {
	if p.absent(i) {
		return store.NullCell(), store.NullCell()
	}
	raw := p.raw(i)
	var found [2]span
	s := split(raw, modelMembers, found[:])
	name, ok := p.stringIn(found[0].of(raw))
	if !s.object || !ok {
		p.lossy = true
		return store.NullCell(), store.NullCell()
	}
	p.lossy = p.lossy || s.extra
	if found[1] != (span{}) {
		params = store.TextCell(found[1].of(raw))
	}
	return store.TextCell(name), params
}

// ref makes the cell of a reference to a checkpoint.
func (p *Parser) ref(i int) store.Cell {
	if p.absent(i) {
		return store.NullCell()
	}
	raw := p.raw(i)
	var found [2]span
	s := split(raw, refMembers, found[:])
	id := found[1].of(raw)
	if !s.object || len(id) < 2 || id[0] != '"' || !inner(id[1:len(id)-1]) {
		p.lossy = true
		return store.NullCell()
	}
	p.lossy = p.lossy || s.extra || string(found[0].of(raw)) != "1"
	return p.made(func(b []byte) []byte { return appendRef(b, id[1:len(id)-1]) })
}
