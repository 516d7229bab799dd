package claudecode

import (
	"bufio"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"hash"
	"os"
	"strings"
	"time"
	"unicode"

	"rehome/formats"
	"rehome/formats/loss"
	"rehome/formats/session"
	"rehome/formats/store"
)

// encode writes one session to a file of its own.
func encode(ctx context.Context, s *session.Session, b formats.Build) (err error) {
	// What the client writes nobody else may read.
	f, err := os.OpenFile(b.Path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		if errors.Is(err, os.ErrExist) {
			return &formats.Error{Format: name, At: b.Path, Err: errors.New("a file can hold only one session"), Hint: "name a folder as the target"}
		}
		return err
	}
	e := newEncoder(s, b)
	e.w = bufio.NewWriterSize(f, 256<<10)
	if len(s.Branches) > 0 {
		err = e.grafted(ctx)
	} else {
		err = e.session(ctx)
	}
	if err == nil {
		e.ending()
	}
	if ferr := e.w.Flush(); err == nil {
		err = ferr
	}
	if cerr := f.Close(); err == nil {
		err = cerr
	}
	if err != nil {
		return err
	}
	// The client takes the newest file for the session to go on with.
	at := time.UnixMilli(e.last)
	return os.Chtimes(b.Path, at, at)
}

// encoder writes the lines of one session.
type encoder struct {
	s     *session.Session
	b     formats.Build
	w     *bufio.Writer
	sum   hash.Hash
	lines int64 // written
	size  int64 // of these

	id, agent, cwd string // agent: of a subagent
	own            bool   // it comes from Claude Code: nothing has to be translated

	last     int64  // time of the last line
	said     int64  // time of the last message that had one
	begun    bool   // the model is shown something
	shell    bool   // the turn is a command of the user's own
	parent   string // uuid of the last line
	prompt   string // the first line of the first one
	system   []string
	ids      map[string]bool    // of calls
	repeats  map[string]int64   // how often an id of the source's was there before
	open     map[string][]*call // calls without a result, by the source's ids
	steps    []*step            // of which results are still to come
	step     *step              // the last of these
	held     int                // bytes that wait
	buf      []byte
	marked   bool // the line being written has what we know of it
	message  *session.Message
	turnRec  []byte // of a turn whose line is still to come
	grafts   *grafts
	children map[string]bool // the sessions of its subagents
	branch   string          // that is being written; "" for the live one
}

// firstMoment is when a session begins that has no time in it at all.
const firstMoment = 1577836800000 // 2020

func newEncoder(s *session.Session, b formats.Build) *encoder {
	e := &encoder{s: s, b: b, sum: sha256.New(), ids: map[string]bool{}, repeats: map[string]int64{}, open: map[string][]*call{}, children: map[string]bool{}, own: s.Agent == session.ClaudeCode}
	if e.b.OnLoss == nil {
		e.b.OnLoss = func(loss.Loss) {}
	}
	for _, l := range s.Children {
		e.children[l.Session] = true
	}
	e.id = sessionID(s.Agent, s.ID)
	if s.Parent != nil {
		root := s.Parent.Session
		if b.Root != nil {
			root = b.Root.ID
		}
		e.id, e.agent = sessionID(s.Agent, root), agentID(s.Agent, s.ID)
	}
	e.cwd = workspace(s.Workspace)
	if s.Workspace == "" && b.Root != nil {
		e.cwd = workspace(b.Root.Workspace)
	}
	if b.Cwd != "" {
		e.cwd = workspace(b.Cwd)
	}
	e.last = firstMoment - 1
	if inReach(s.Created) {
		e.last = s.Created.Millis() - 1
	}
	return e
}

func (e *encoder) session(ctx context.Context) error {
	e.aside()
	if e.s.Messages != nil {
		for m, err := range e.s.Messages {
			if err == nil {
				err = ctx.Err()
			}
			if err != nil {
				return err
			}
			e.take(m)
		}
	}
	e.close()
	e.wordless()
	return e.files(ctx)
}

// wordless says that nothing was said: nothing is invented then, and the client
// has nothing to go on with.
func (e *encoder) wordless() {
	if !e.begun {
		e.note(loss.SessionEmpty)
	}
}

// aside notes what a head has that no line says.
func (e *encoder) aside() {
	s := e.s
	for _, p := range []struct {
		some bool
		code loss.Code
	}{
		{len(s.Todos) > 0, loss.TodosAside},
		{s.Plan != "", loss.PlanAside},
		{len(s.Extras) > 0 || len(s.Repos) > 0 || len(s.Folders) > 0, loss.MetadataAside},
	} {
		if p.some {
			e.note(p.code)
		}
	}
}

// files walks the snapshots, for which there is no place.
func (e *encoder) files(ctx context.Context) error {
	if e.s.Files == nil {
		return nil
	}
	for f, err := range e.s.Files {
		if err == nil {
			err = ctx.Err()
		}
		if err != nil {
			return err
		}
		e.b.OnLoss(loss.Loss{Code: loss.SnapshotDropped, At: store.Addr{File: f.Path}})
	}
	return nil
}

func (e *encoder) note(code loss.Code) {
	at := e.s.ID
	if m := e.message; m != nil {
		at = m.ID
		if len(m.Origin) > 0 {
			at = m.Origin[0]
		}
	}
	e.b.OnLoss(loss.Loss{Code: code, At: store.Addr{File: at}})
}

// put writes a line.
func (e *encoder) put(line []byte) {
	e.lines++
	line = append(line, '\n')
	e.size += int64(len(line))
	e.sum.Write(line)
	e.w.Write(line) // its first error comes back from Flush
	if e.buf = line[:0]; cap(line) > 8<<20 {
		e.buf = nil
	}
}

// chained writes a line of the chain. body writes what is its own.
func (e *encoder) chained(kind string, at session.Stamp, body func(p *pen)) (id string) {
	id = uuid("line", e.id, e.agent, itoa(e.lines))
	p := object(e.buf)
	if e.parent == "" {
		p.raw("parentUuid", []byte("null"))
	} else {
		p.text("parentUuid", e.parent)
	}
	p.flag("isSidechain", e.agent != "")
	p.filled("agentId", e.agent)
	p.text("type", kind)
	body(&p)
	if e.branch != "" && !e.marked {
		e.mark(&p, &session.Message{}, nil)
	}
	e.marked = false
	p.text("uuid", id)
	p.text("timestamp", e.tick(at))
	p.text("userType", "external")
	p.text("entrypoint", "cli")
	p.text("cwd", e.cwd)
	p.text("sessionId", e.id)
	p.text("version", version)
	p.text("gitBranch", e.s.Branch)
	e.put(p.done())
	e.parent = id
	return id
}

// ending writes what stands beside the conversation, and the title as the last
// line of all: the client looks for it at the ends of a file only.
func (e *encoder) ending() {
	p := object(e.buf)
	p.text("type", "rehome")
	p.text("sessionId", e.id)
	p.num("lines", e.lines)
	p.text("sha256", hex.EncodeToString(e.sum.Sum(nil)))
	if len(e.system) > 0 {
		p.name("system")
		p.b = append(p.b, '[')
		for i, s := range e.system {
			if i > 0 {
				p.b = append(p.b, ',')
			}
			p.b = session.AppendString(p.b, s)
		}
		p.b = append(p.b, ']')
	}
	head := *e.s
	head.Missing = nil
	p.raw("session", session.AppendHead(nil, &head))
	e.put(p.done())
	if e.agent != "" {
		return
	}
	title := brief(e.s.Title)
	if title == "" {
		e.message = nil
		e.note(loss.TitleFromPrompt)
		title = e.prompt
	}
	if title == "" {
		title = "Imported session"
	}
	p = object(e.buf)
	p.text("type", "ai-title")
	p.text("aiTitle", title)
	p.text("sessionId", e.id)
	e.put(p.done())
}

// brief is the first line of a text that has a letter in it, cut short.
func brief(s string) string {
	const most = 200
	for line := range strings.Lines(s) {
		line = strings.TrimSpace(strings.ToValidUTF8(line, "\ufffd"))
		if strings.IndexFunc(line, unicode.IsPrint) < 0 {
			continue
		}
		if r := []rune(line); len(r) > most {
			return string(r[:most-1]) + "…"
		}
		return line
	}
	return ""
}
