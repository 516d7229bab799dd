package sdkdoc

import (
	"bytes"
	"encoding/base64"
	"strconv"

	"rehome/formats/store"
)

var (
	std    = base64.StdEncoding
	rawStd = base64.RawStdEncoding
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
	found  [mostMembers]span
	cells  [mostColumns]store.Cell
	text   []byte // what had to be decoded
	again  []byte // the row's own line
	lossy  bool
	hollow bool // something without which there is no row is missing
}

// Parse makes the row of a line.
func (p *Parser) Parse(k Kind, line []byte) (row []store.Cell, fit Fit) {
	p.kind, p.line, p.text, p.lossy, p.hollow = k, line, p.text[:0], false, false
	s := split(line, k.members(), p.found[:len(k.members())])
	if !s.object {
		return nil, None
	}
	p.lossy = s.extra
	row = p.cells[:len(k.Columns())]
	switch k {
	case Agent:
		p.agent(row)
	case Run:
		p.run(row)
	case Event:
		p.event(row)
	default:
		p.checkpoint(row)
	}
	if p.hollow {
		return nil, None
	}
	p.again, _ = k.append(p.again[:0], row, bytes.IndexByte(line, '\r') < 0)
	switch {
	case bytes.Equal(p.again, line):
		return row, Exact
	case p.lossy:
		return row, Dropped
	}
	return row, Reshaped
}

func (p *Parser) agent(row []store.Cell) {
	row[agentID] = p.key(0)
	row[agentWorkspace] = p.must(1, "")
	row[agentStatus] = p.status(2, "IDLE")
	row[agentActiveRun] = p.may(3)
	row[agentName] = p.may(4)
	row[agentCreated] = p.time(5, epoch)
	row[agentUpdated] = p.time(6, epoch)
	row[agentMetadata] = p.json(7, "{}")
	row[agentCheckpoint] = p.ref(8)
}

func (p *Parser) run(row []store.Cell) {
	row[runID] = p.key(0)
	row[runRequest] = p.may(1)
	row[runAgent] = p.key(2)
	row[runTurn] = p.number(3)
	row[runStatus] = p.status(4, "QUEUED")
	row[runModel], row[runParams] = p.model(5)
	row[runResult] = p.may(6)
	row[runError] = p.may(7)
	row[runUsageRef] = p.may(8)
	if row[runUsage] = p.json(9, "null"); string(row[runUsage].Bytes()) == "null" {
		row[runUsage] = store.NullCell()
	}
	row[runCreated] = p.time(10, epoch)
	row[runUpdated] = p.time(11, epoch)
	row[runStarted] = p.time(12, "")
	row[runFinished], row[runCancelled], row[runExpired] = store.NullCell(), store.NullCell(), store.NullCell()
	end := p.time(13, "")
	if at := endColumn(row[runStatus].Bytes()); at >= 0 {
		row[at] = end
	} else if end.Class != store.Null {
		p.lossy = true
	}
	row[runStart] = p.ref(14)
	row[runLatest] = p.ref(15)
}

func (p *Parser) event(row []store.Cell) {
	row[eventRun] = p.key(0)
	row[eventSeq] = p.number(1)
	row[eventOffset] = p.must(2, "")
	if p.absent(2) && !p.hollow {
		row[eventOffset] = p.made(func(b []byte) []byte { return strconv.AppendInt(b, row[eventSeq].Int(), 10) })
	}
	row[eventType] = p.must(3, "")
	row[eventPayload] = p.json(4, "null")
	row[eventPayloadRef] = p.may(5)
	row[eventKey] = p.may(6)
	row[eventCreated] = p.moment(7)
}

func (p *Parser) checkpoint(row []store.Cell) {
	row[checkpointAgent] = p.key(0)
	id := p.key(1)
	switch blobID(id.Bytes()) {
	case idWrong:
		p.hollow = true
		return
	case idUpper:
		id = p.made(func(b []byte) []byte { return lowerID(b, id.Bytes()) })
	}
	row[checkpointID] = id
	data, ok := p.string(2)
	if !ok {
		p.hollow = true
		return
	}
	at := len(p.text)
	if p.text, ok = unbase64(p.text, data); !ok {
		p.hollow = true
		return
	}
	row[checkpointData] = store.BlobCell(p.text[at:])
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
	p.text = appendText(p.text, raw)
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
		if p.text, ok = appendISO(p.text, ms); ok {
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
	var found [len(modelMembers)]span
	s := split(raw, modelMembers[:], found[:])
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
	var found [len(refMembers)]span
	s := split(raw, refMembers[:], found[:])
	id := found[1].of(raw)
	if !s.object || len(id) < 2 || id[0] != '"' || !inner(id[1:len(id)-1]) {
		p.lossy = true
		return store.NullCell()
	}
	p.lossy = p.lossy || s.extra || string(found[0].of(raw)) != "1"
	return p.made(func(b []byte) []byte { return appendRef(b, id[1:len(id)-1]) })
}
