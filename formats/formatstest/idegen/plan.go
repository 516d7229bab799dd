package idegen

import (
	"encoding/base64"
	"fmt"
	"math/rand/v2"
	"time"

	"rehome/formats/session"
)

// Generation is where a session's head and its bubbles lie.
type Generation int

// The generations.
const (
	Table  Generation = iota // a head in composerHeaders
	Global                   // a head in composer.composerHeaders
	Heads                    // a head in the workspace's composer.composerData
	Key                      // no head at all
	Inline                   // a head that holds the conversation
	Tab                      // a chat tab
	generations
)

// Plan is what a store will hold.
type Plan struct {
	src      *source
	spaces   []space
	Sessions []*Session
	dead     []string // deleted sessions
	Live     []byte   // all that was written of the others
	Orphans  int      // bubbles that no session lists, when it is written
}

type space struct{ id, folder string }

// Session is one that is to be decoded.
type Session struct {
	session.Session
	List []*session.Message

	gen     Generation
	space   space
	timed   bool
	bubbles []bubble
	more    object // members of its record
}

type bubble struct {
	id     string
	user   bool
	doc    object
	inMap  bool // it stands in conversationMap, and has no row
	header object
}

const start = 1_780_000_000_000

// New plans a store of so many sessions.
func New(seed uint64, count int) *Plan {
	p := &Plan{src: &source{Rand: rand.New(rand.NewPCG(seed, 1))}}
	for range 1 + p.src.IntN(4) {
		id := fmt.Sprintf("%016x%016x", p.src.Uint64(), p.src.Uint64())
		p.spaces = append(p.spaces, space{id, "/work space/" + id[:6]})
	}
	for i := range count {
		if p.src.chance(3) {
			p.dead = append(p.dead, p.src.uuid())
			continue
		}
		p.Sessions = append(p.Sessions, p.session(i))
	}
	return p
}

func (p *Plan) session(i int) *Session {
	s := &Session{gen: Generation(p.src.IntN(int(generations))), space: p.spaces[p.src.IntN(len(p.spaces))], timed: p.src.chance(60)}
	s.ID, s.Agent, s.Title = p.src.uuid(), session.CursorIDE, p.src.text()
	s.Created = session.Stored(start + int64(i)*1000)
	s.Updated = session.Stored(start + int64(i)*1000 + 500)
	if s.gen != Key {
		s.Workspace = s.space.folder
	}
	now := start + int64(i)*1_000_000
	for n := range p.src.IntN(6) {
		p.turn(s, n+1, &now)
	}
	if s.gen == Tab {
		s.Created = session.Stamp{}
	}
	if s.gen != Tab && s.gen != Inline {
		s.more = p.src.stranger(s.more)
	}
	return s
}

// turn plans a prompt and what came of it.
func (p *Plan) turn(s *Session, number int, now *int64) {
	t := &session.Turn{Number: number}
	first := len(s.bubbles)
	m := &session.Message{Role: session.User, Turn: t}
	p.prompt(s, m, t)
	s.List = append(s.List, m)
	if s.gen == Tab {
		p.reply(s)
	} else {
		for range p.src.IntN(4) {
			p.response(s, 1+p.src.IntN(3))
		}
		if p.src.chance(70) {
			p.response(s, 0)
		}
	}
	if !s.timed || s.gen == Tab {
		return
	}
	for i := first; i < len(s.bubbles); i++ {
		*now += 1000
		s.bubbles[i].doc = s.bubbles[i].doc.with("createdAt", time.UnixMilli(*now).UTC().Format("2006-01-02T15:04:05.000Z"))
		if i == first {
			t.Start = session.Stored(*now)
		}
	}
	t.End = session.Stored(*now)
}

func (p *Plan) add(s *Session, user bool, doc object) {
	b := bubble{id: p.src.uuid(), user: user, inMap: p.src.chance(5)}
	kind := 2
	if user {
		kind = 1
	}
	head := object{}.with("_v", 3).with("type", kind).with("bubbleId", b.id)
	b.doc = p.src.stranger(append(head, doc...))
	b.header = p.src.stranger(object{}.with("bubbleId", b.id).with("type", kind))
	s.bubbles = append(s.bubbles, b)
}

// prompt is a bubble of the user's.
func (p *Plan) prompt(s *Session, m *session.Message, t *session.Turn) {
	src := p.src
	text := src.body()
	if s.gen == Tab {
		m.Parts = append(m.Parts, &session.Text{Text: text})
		s.bubbles = append(s.bubbles, bubble{id: src.uuid(), user: true, doc: object{}.with("type", "user").with("text", text)})
		return
	}
	doc := object{}
	for range src.IntN(3) {
		chunk := object{}.with("relativeWorkspacePath", src.path()).with("lines", []string{src.text()})
		doc = doc.with("attachedCodeChunks", []any{chunk}).with("lints", []any{})
		m.Parts = append(m.Parts, &session.Injected{Tag: "selection", Data: session.Raw(spelled(chunk))})
		break
	}
	if src.chance(30) {
		file := src.stranger(object{}.with("uri", object{}.with("path", src.path())))
		doc = doc.with("context", src.stranger(object{}.with("fileSelections", []any{file}).with("mentions", object{})))
		m.Parts = append(m.Parts, &session.Injected{Tag: "file", Data: session.Raw(spelled(file))})
	}
	if src.chance(20) && text != "" {
		rich := spelled(object{}.with("root", object{}.with("children", []any{object{}.with("type", "text").with("text", text)})))
		doc = doc.with("text", "").with("richText", rich)
	} else {
		doc = doc.with("text", text)
	}
	m.Parts = append(m.Parts, &session.Text{Text: text})
	if src.chance(15) {
		data := []byte("\x89PNG" + src.mark())
		doc = doc.with("images", []any{src.stranger(object{}.with("uuid", src.mark()).with("data", base64.StdEncoding.EncodeToString(data)))})
		m.Parts = append(m.Parts, &session.Media{Mime: "image/png", Data: data})
	}
	if src.chance(50) {
		t.RequestID = src.mark()
		doc = doc.with("requestId", t.RequestID)
	}
	if src.chance(50) {
		t.Model = src.mark()
		doc = doc.with("modelInfo", object{}.with("modelName", t.Model))
	}
	if src.chance(50) {
		t.Mode = "agent"
		doc = doc.with("unifiedMode", 2)
	}
	if src.chance(10) {
		m.Simulated = true
		doc = doc.with("isSimulatedMsg", true).with("simulatedMsgReason", 3)
	}
	p.add(s, true, doc)
}

// reply is an answer of the first generation: text.
func (p *Plan) reply(s *Session) {
	text := p.src.text()
	s.bubbles = append(s.bubbles, bubble{id: p.src.uuid(), doc: object{}.with("type", "ai").with("rawText", text)})
	s.List = append(s.List, &session.Message{Role: session.Assistant, Parts: []session.Part{&session.Text{Text: text}}})
}
