package sdksession

import (
	"bytes"
	"io"
	"math"
	"os"
	"slices"

	"rehome/formats"
	"rehome/formats/internal/agentstate"
	"rehome/formats/internal/sdkdoc"
	"rehome/formats/internal/transcript"
	"rehome/internal/rawjson"
)

// Scan searches the sources of the agents of a store. What runs said is searched joined,
// because a word can begin in one event and end in another. Most events differ from the
// one before only in their text: these are not parsed.
type Scan struct {
	*formats.Scan
	runs   map[string]*runScan
	last   *runScan
	heard  map[string]uint64 // terms by transcript, as their files are named
	joined int               // bytes of text that are held
	gap    int               // how much is added to it between two searches
	next   int               // joined at the next search
	max    int               // of joined, after a search
	ev     event
	probe  []byte // a payload with another text
	around []byte // a line without its payload
}

// runScan is what is known of a run.
type runScan struct {
	id     string
	agents []string // whose it is
	terms  uint64   // in its events
	seq    int64    // of the last event
	begun  bool     // there was one
	said   []*said
}

// said is the text of the events of one kind, joined.
type said struct {
	as             what
	prefix, suffix []byte // of payloads that differ only in their text; nil if unknown
	text           []byte // that was not searched; or was, and can be the beginning of a word
}

// Limits of the text of events that is held.
const (
	maxJoined = 64 << 20 // after a search; stores with more are decoded
	joinedGap = 4 << 20  // between two searches
)

// NewScan returns a Scan that collects terms in s.
func NewScan(s *formats.Scan) *Scan {
	s.Take("", agentstate.Words())
	return &Scan{Scan: s, runs: map[string]*runScan{}, heard: map[string]uint64{}, gap: joinedGap, next: joinedGap, max: maxJoined}
}

// Run notes that a run is of an agent.
func (c *Scan) Run(id, agent string) {
	if r := c.run([]byte(id)); !slices.Contains(r.agents, agent) {
		r.agents = append(r.agents, agent)
	}
}

func (c *Scan) run(id []byte) *runScan {
	if c.last == nil || string(id) != c.last.id {
		if c.last = c.runs[string(id)]; c.last == nil {
			c.last = &runScan{id: string(id)}
			c.runs[c.last.id] = c.last
		}
	}
	return c.last
}

// Event searches an event: its payload, and the record that it is in, of which no other
// part has text.
func (c *Scan) Event(run []byte, seq int64, payload, record []byte) {
	r := c.run(run)
	if r.begun && seq <= r.seq {
		r.terms = c.Every() // the order is not that of the text
	}
	r.begun, r.seq = true, seq
	if c.Has(r.terms) {
		return
	}
	for _, s := range r.said {
		if text, ok := s.textOf(payload); ok {
			c.join(r, s, text)
			return
		}
	}
	r.terms = c.Find(record, r.terms)
	c.parse(r, payload)
}

// textOf returns the text of a payload, with escapes, if it differs from others only in
// that.
func (s *said) textOf(payload []byte) (text []byte, ok bool) {
	if s.prefix == nil || len(payload) < len(s.prefix)+len(s.suffix) || !bytes.HasPrefix(payload, s.prefix) || !bytes.HasSuffix(payload, s.suffix) {
		return nil, false
	}
	text = payload[len(s.prefix) : len(payload)-len(s.suffix)]
	return text, closes(text) < 0
}

// closes returns where the string of JSON ends that a text is the inside of, -1 if that
// is after it.
func closes(text []byte) int {
	for at := 0; ; {
		i := bytes.IndexByte(text[at:], '"')
		before := text[at:]
		if i >= 0 {
			before = before[:i]
		}
		escaped := (len(before)-len(bytes.TrimRight(before, `\`)))%2 > 0
		switch {
		case i < 0 && !escaped:
			return -1
		case i < 0:
			return len(text)
		case !escaped:
			return at + i
		}
		at += i + 1
	}
}

// parse joins the text of an event that has to be parsed, and keeps what events have in
// common that differ only in their text.
func (c *Scan) parse(r *runScan, payload []byte) {
	if !mayTell(payload) {
		return
	}
	b, _, err := rawjson.Line(payload)
	if err != nil || !c.told(b, r.id) {
		return
	}
	i := slices.IndexFunc(r.said, func(s *said) bool { return s.as == c.ev.what })
	if i < 0 {
		i = len(r.said)
		r.said = append(r.said, &said{as: c.ev.what})
	}
	s := r.said[i]
	c.join(r, s, []byte(c.ev.text))
	raw := rawText(b)
	at := bytes.LastIndex(b, raw)
	if len(raw) < 2 || at < 0 {
		return
	}
	const text = "probe"
	prefix, suffix := b[:at+1], b[at+len(raw)-1:]
	c.probe = append(append(append(c.probe[:0], prefix...), text...), suffix...)
	if c.told(c.probe, r.id) && c.ev.what == s.as && c.ev.text == text {
		s.prefix, s.suffix = bytes.Clone(prefix), bytes.Clone(suffix)
	}
}

// told parses a payload. It reports whether it is one of those whose text is joined.
func (c *Scan) told(payload []byte, run string) bool {
	c.ev.told, c.ev.Extras = told{}, c.ev.Extras[:0]
	c.ev.payload(payload, run)
	switch c.ev.what {
	case userText, assistantText, thinking, task:
		return true
	}
	return false
}

// rawText returns the text of a payload as it is stored, nil if it has more than one.
func rawText(payload []byte) []byte {
	message := rawjson.Last(payload, "message")
	if text := rawjson.Last(message, "text"); text != nil {
		return text
	}
	content := rawjson.At(message, "message", "content")
	for part := range rawjson.Elements(content) {
		return rawjson.Last(part, "text")
	}
	return content
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

// join adds to what a run said.
func (c *Scan) join(r *runScan, s *said, text []byte) {
	s.text = append(s.text, text...)
	if c.joined += len(text); c.joined > c.next {
		c.search()
		if c.next = 2*c.joined + c.gap; c.joined > c.max {
			c.AddAll("")
		}
	}
}

// search searches all that was joined, and keeps the ends of it, which can be beginnings.
func (c *Scan) search() {
	c.joined = 0
	for _, r := range c.runs {
		for _, s := range r.said {
			r.terms = c.Find(s.text, r.terms)
			s.text = bytes.Clone(s.text[max(len(s.text)-c.Span(), 0):])
			c.joined += len(s.text)
		}
	}
}

// maxBefore is how far into a line the payload of an event is looked for.
const maxBefore = 1 << 10

// Line is Event for a line.
func (c *Scan) Line(line []byte) {
	if c.last != nil {
		for _, s := range c.last.said {
			if c.textLine(s, line) {
				return
			}
		}
	}
	if id, seq, ok := sdkdoc.ReadSeq(line); ok {
		c.Event([]byte(id), seq, rawjson.Last(line, "payload"), line)
	} else {
		c.Take("", line)
	}
}

// textLine is Line for an event of the last run that differs from others only in its
// text. It reports whether the line is one.
func (c *Scan) textLine(s *said, line []byte) bool {
	from := bytes.Index(line[:min(len(line), len(s.prefix)+maxBefore)], s.prefix)
	if s.prefix == nil || from < 0 {
		return false
	}
	text := line[from+len(s.prefix):]
	n := closes(text)
	if n < 0 || n == len(text) || !bytes.HasPrefix(text[n:], s.suffix) {
		return false
	}
	to := from + len(s.prefix) + n + len(s.suffix)
	c.around = append(append(append(c.around[:0], line[:from]...), '0'), line[to:]...) // without its payload
	id, seq, ok := sdkdoc.ReadSeq(c.around)
	if !ok || id != c.last.id || string(rawjson.Last(c.around, "payload")) != "0" {
		return false
	}
	c.Event([]byte(id), seq, line[from:to], nil)
	c.last.terms = c.Find(c.around, c.last.terms)
	return true
}

// Transcripts searches transcripts below a folder.
func (c *Scan) Transcripts(root *os.Root, list []transcript.File) error {
	for _, f := range list {
		r, done, err := transcript.Open(root, f.Path)
		if err != nil {
			return err
		}
		terms := c.Every()
		if r.Size() <= math.MaxInt32 {
			b, fault := io.ReadAll(r)
			terms, err = c.Find(b, 0), fault
		}
		c.heard[f.Name] |= terms
		if f.Parent != "" {
			c.heard[f.Parent] |= terms
		}
		if fault := done(); err != nil || fault != nil {
			return err
		}
	}
	return nil
}

// End gives the agents of a store what was found in their runs and transcripts. Of a run
// that no record has, it can be any agent.
func (c *Scan) End(agents []string) {
	c.search()
	for _, r := range c.runs {
		for _, id := range r.agents {
			c.Add(id, r.terms)
		}
		if len(r.agents) == 0 {
			c.Add("", r.terms)
		}
	}
	for name, terms := range c.heard {
		c.Add(name, terms)
	}
	for _, id := range agents {
		c.Add(id, c.heard[transcript.Spell(id)])
	}
}
