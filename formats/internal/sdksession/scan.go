package sdksession

import (
	"bytes"
	"io"
	"math"
	"os"
	"slices"

	"rehome/formats"
	"rehome/formats/internal/agentstate"
	"rehome/formats/internal/rawjson"
	"rehome/formats/internal/sdkdoc"
	"rehome/formats/internal/transcript"
)

// Scan searches the sources of all agents of a store. What runs said is also searched
// joined, because a word can begin in one event and end in another.
type Scan struct {
	*formats.Scan
	said map[saidBy]*bytes.Buffer
	seqs map[string]int64 // the last event of each run
	size int
	ev   event
}

// saidBy are the events of a run that can be joined.
type saidBy struct {
	run string
	as  what
}

// maxSaid is how much text of events is joined. Stores with more are decoded.
const maxSaid = 64 << 20

// NewScan returns a Scan that collects terms in s.
func NewScan(s *formats.Scan) *Scan {
	s.Take("", agentstate.Words())
	return &Scan{Scan: s, said: map[saidBy]*bytes.Buffer{}, seqs: map[string]int64{}}
}

// Event keeps what an event says, to be joined.
func (c *Scan) Event(run string, seq int64, payload []byte) {
	if last, known := c.seqs[run]; known && seq <= last {
		c.AddAll("") // its order is not that of the text
	}
	c.seqs[run] = seq
	b, _, err := rawjson.Line(payload)
	if c.Done() || err != nil || !mayTell(b) {
		return
	}
	c.ev.told, c.ev.Extras = told{}, c.ev.Extras[:0]
	c.ev.payload(b, run)
	key := saidBy{run, c.ev.what}
	switch key.as {
	case userText, assistantText, thinking, task:
		if c.said[key] == nil {
			c.said[key] = &bytes.Buffer{}
		}
		c.said[key].WriteString(c.ev.text)
		if c.size += len(c.ev.text); c.size > maxSaid {
			c.AddAll("")
		}
	}
}

// mayTell reports whether the payload of an event can be a delta of text.
func mayTell(payload []byte) bool {
	for name, message := range rawjson.Members(payload) {
		if string(name) != "message" {
			continue
		}
		for name, kind := range rawjson.Members(message) {
			if string(name) == "type" && slices.Contains([]string{"user", "assistant", "thinking", "task"}, rawjson.Text(kind)) {
				return true
			}
		}
	}
	return false
}

// Line is Event for a line, which is valid JSON.
func (c *Scan) Line(line []byte) {
	if id, seq, ok := sdkdoc.ReadSeq(line); ok {
		c.Event(id, seq, rawjson.Last(line, "payload"))
	}
}

// Transcripts searches transcripts below a folder.
func (c *Scan) Transcripts(root *os.Root, list []transcript.File) error {
	for _, f := range list {
		if c.Done() {
			return nil
		}
		r, done, err := transcript.Open(root, f.Path)
		if err != nil {
			return err
		}
		if r.Size() > math.MaxInt32 {
			c.AddAll("")
		} else if b, fault := io.ReadAll(r); fault != nil {
			err = fault
		} else {
			c.Take("", b)
		}
		if fault := done(); err != nil || fault != nil {
			return err
		}
	}
	return nil
}

// End searches what was joined.
func (c *Scan) End() {
	for _, text := range c.said {
		c.Take("", text.Bytes())
	}
}
