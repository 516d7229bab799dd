package streamjson

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"io"

	"rehome/formats/internal/envelope"
	"rehome/formats/internal/jsonl"
	"rehome/formats/internal/lines"
	"rehome/formats/session"
	"rehome/internal/rawjson"
)

// outline is what the first pass knows of a file: its sessions, in the order in
// which they begin.
type outline struct {
	threads []*thread
	byID    map[string]*thread
	now     *thread
	piece   *piece // that the last line was added to
	front   piece  // lines in front of the first session
	filled  int    // lines with anything on them
}

// thread is one session in a file.
type thread struct {
	id          string
	pieces      []piece
	turns       turns
	runs        []run
	title       string
	cwd, model  string
	first, last session.Stamp
}

// piece is lines that follow one another.
type piece struct {
	from, to int64
	line     int // the first
	count    int // how many
}

// run is one turn.
type run struct {
	first, last session.Stamp
	line        int // the last
	result      int64
	length      int // of the result; 0 if there is none
}

// survey is the first pass, over size bytes.
func survey(ctx context.Context, r io.Reader, size int64) (*outline, error) {
	o := newOutline()
	for l, err := range lines.Each(ctx, r, jsonl.MaxLine) {
		if err != nil {
			return nil, err
		}
		o.take(read(l), l)
	}
	o.piece.to = size
	return o, nil
}

func newOutline() *outline {
	o := &outline{byID: map[string]*thread{}}
	o.piece = &o.front
	return o
}

func (o *outline) take(e event, l lines.Line) {
	if e.kind != blank {
		o.filled++
	}
	o.piece.to = l.Offset
	o.join(e)
	if o.now == nil && o.front.line == 0 {
		o.front = piece{from: l.Offset, line: l.Number}
	}
	o.piece.count++
	if o.now != nil {
		o.now.take(e, len(l.Bytes))
	}
}

// join turns to the session that a line belongs to: the one it names, else the
// one it stands in.
func (o *outline) join(e event) {
	id := string(e.session)
	switch {
	case !e.opens(), o.now != nil && (id == "" || id == o.now.id):
		return
	case id == "":
		id = unnamed(e)
	}
	t := o.byID[id]
	if t == nil {
		t = &thread{id: id}
		o.byID[id] = t
		o.threads = append(o.threads, t)
	}
	p := piece{from: e.offset, line: e.line}
	if o.front.line > 0 { // what came before the first session goes with it
		p, o.front = o.front, piece{}
	}
	t.pieces = append(t.pieces, p)
	o.now, o.piece = t, &t.pieces[len(t.pieces)-1]
}

// opens reports whether a session can begin with this line.
func (e *event) opens() bool { return e.kind >= initial || e.kind == other && e.session != nil }

// anonymous begins the name of a session that has none.
const anonymous = "capture-"

func unnamed(e event) string {
	sum := sha256.Sum256(e.raw)
	return anonymous + hex.EncodeToString(sum[:8])
}

func (t *thread) take(e event, length int) {
	if t.turns.begins(e.kind) {
		t.runs = append(t.runs, run{})
	}
	if e.at.Known() {
		if !t.first.Known() {
			t.first = e.at
		}
		t.last = e.at
	}
	switch e.kind {
	case initial:
		t.start(e)
	case prompt:
		if t.title == "" {
			t.title = title(e)
		}
	}
	if len(t.runs) > 0 {
		t.runs[len(t.runs)-1].take(e, length)
	}
}

func (r *run) take(e event, length int) {
	if e.at.Known() && r.length == 0 {
		if !r.first.Known() {
			r.first = e.at
		}
		r.last = e.at
	}
	if e.kind != blank {
		r.line = e.line
	}
	if e.kind == ended && r.length == 0 {
		r.result, r.length = e.offset, length
	}
}

// start reads what a run says of its session.
func (t *thread) start(e event) {
	for name, value := range rawjson.Members(e.raw) {
		switch string(name) {
		case "model":
			t.model = rawjson.Text(value)
		case "cwd":
			if len(t.runs) == 1 {
				t.cwd = rawjson.Text(value)
			}
		}
	}
}

// title is the first line of a prompt: what lists show of a session that was
// given no name.
func title(e event) string {
	return envelope.Title(jsonl.FirstText(rawjson.At(e.raw, "message", "content")))
}
