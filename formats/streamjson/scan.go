package streamjson

import (
	"bytes"
	"context"
	"errors"
	"os"

	"rehome/formats"
	"rehome/formats/internal/jsonl"
	"rehome/formats/internal/lines"
	"rehome/internal/rawjson"
)

// scan searches the lines of a capture, and what its lines say joined: a word can begin in
// one and end in another.
func scan(ctx context.Context, l *formats.Location, _ formats.View, s *formats.Scan) error {
	if !l.IsRegular() {
		return errors.New("not a regular file")
	}
	f, err := os.Open(l.Path)
	if err != nil {
		return err
	}
	defer f.Close()
	o, j := newOutline(), &joined{Scan: s, text: map[utterance][]byte{}}
	for l, err := range lines.Each(ctx, f, jsonl.MaxLine) {
		if err != nil || s.Done() {
			return err
		}
		e := read(l)
		o.take(e, l)
		id := "" // of any session, or of the first
		if o.now != nil {
			id = o.now.id
		}
		s.Take(id, l.Bytes)
		switch e.kind {
		case said:
			for _, text := range texts(e.raw) {
				j.add(utterance{id, said}, text)
			}
		case pondered:
			j.add(utterance{id, pondered}, rawjson.Last(e.raw, "text"))
		}
	}
	for u, text := range j.text {
		s.Take(u.session, text)
	}
	return nil
}

// texts returns the texts of a message, as they are stored.
func texts(line []byte) (out [][]byte) {
	content := rawjson.At(line, "message", "content")
	if rawjson.IsText(content) {
		return [][]byte{content}
	}
	for part := range rawjson.Elements(content) {
		out = append(out, rawjson.Last(part, "text"))
	}
	return out
}

// joined is text that was not searched yet.
type joined struct {
	*formats.Scan
	text map[utterance][]byte
}

// utterance is the answers or the reasoning of a session.
type utterance struct {
	session string
	as      kind
}

// maxJoined is how much text is joined between two searches.
const maxJoined = 64 << 10

// add adds a string of JSON.
func (j *joined) add(u utterance, text []byte) {
	if len(text) < 2 || text[0] != '"' {
		return
	}
	all := append(j.text[u], text[1:len(text)-1]...)
	if len(all) > maxJoined {
		j.Take(u.session, all)
		all = bytes.Clone(all[max(len(all)-j.Span(), 0):])
	}
	j.text[u] = all
}
