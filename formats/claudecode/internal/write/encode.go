// Package write encodes sessions as files that Claude Code continues, and verifies
// such files. The verification reads a file again and shares no state with the
// encoder.
package write

import (
	"bufio"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"hash"
	"os"
	"time"

	"rehome/formats"
	"rehome/formats/claudecode/internal/outline"
	"rehome/formats/claudecode/internal/shape"
	"rehome/formats/internal/envelope"
	"rehome/formats/internal/object"
	"rehome/formats/loss"
	"rehome/formats/session"
	"rehome/formats/store"
)

// encode writes one session to a new file.
func (k *sink) encode(ctx context.Context, s *session.Session, b formats.SessionBuild, d *formats.Draft) (err error) {
	// As in the client, only the user may read the file.
	f, err := os.OpenFile(b.Path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		if errors.Is(err, os.ErrExist) {
			return &formats.Error{Format: outline.FormatName, At: b.Path, Err: errors.New("a file can hold only one session"), Hint: "name a folder as the target"}
		}
		return err
	}
	e := newEncoder(s, b)
	e.sink = k
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
	d.Tokens = e.context.tokens()
	// The client continues the newest file.
	at := time.UnixMilli(e.last)
	return os.Chtimes(b.Path, at, at)
}

// encoder writes the lines of one session.
type encoder struct {
	sink  *sink
	s     *session.Session
	b     formats.SessionBuild
	w     *bufio.Writer
	sum   hash.Hash
	lines int64 // number of lines written
	size  int64 // bytes of these

	id, agent, cwd string // agent: the id of a subagent
	own            bool   // the session is one of Claude Code: tools need no translation

	last     int64  // time of the last line
	said     int64  // time of the last message with a time
	begun    bool   // a message of the conversation was written
	shell    bool   // the turn is a command that the user ran
	parent   string // uuid of the last line
	prompt   string // first line of the first prompt
	system   []string
	ids      map[string]bool    // ids of calls that were written
	repeats  map[string]int64   // how often an id of the source was repeated
	open     map[string][]*call // calls without a result, by their ids in the source
	steps    []*step            // steps whose results are not complete
	step     *step              // the last of these
	held     int                // bytes that wait to be written
	buf      []byte
	marked   bool // the current line has its "rehome" member
	message  *session.Message
	turnRec  []byte // the record of a turn, until its line is written
	turnAt   string // where that turn begins, for losses
	grafts   *grafts
	children map[string]bool // ids of its subagents
	branch   string          // the branch being written; "" for the live one
	context  contextSize
}

func newEncoder(s *session.Session, b formats.SessionBuild) *encoder {
	e := &encoder{s: s, b: b, sum: sha256.New(), ids: map[string]bool{}, repeats: map[string]int64{}, open: map[string][]*call{}, children: map[string]bool{}, own: s.Agent == session.ClaudeCode}
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
	if b.Continues != nil {
		e.id = b.Continues.ID
	}
	e.cwd = workspace(s.Workspace)
	if s.Workspace == "" && b.Root != nil {
		e.cwd = workspace(b.Root.Workspace)
	}
	if b.Cwd != "" {
		e.cwd = workspace(b.Cwd)
	}
	e.last = session.FirstMoment - 1
	if inReach(s.Created) {
		e.last = s.Created.Millis() - 1
	}
	return e
}

func (e *encoder) session(ctx context.Context) error {
	e.aside()
	if err := e.messages(ctx); err != nil {
		return err
	}
	e.close()
	e.unrecorded()
	e.wordless()
	return e.files(ctx)
}

func (e *encoder) messages(ctx context.Context) error {
	return session.Each(ctx, e.s.Messages, func(m *session.Message) error {
		e.sink.record(e.s.ID, m)
		e.take(m)
		return nil
	})
}

// wordless reports a session without messages. No message is invented, so the client
// cannot continue it.
func (e *encoder) wordless() {
	if !e.begun {
		e.note(loss.SessionEmpty)
	}
}

// aside reports metadata that no line of the conversation holds.
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

// files reports the snapshots of files, which are not written.
func (e *encoder) files(ctx context.Context) error {
	return session.Each(ctx, e.s.Files, func(f *session.File) error {
		e.b.OnLoss.Add(loss.Loss{Code: loss.SnapshotDropped, At: store.Addr{File: f.Path}})
		return nil
	})
}

func (e *encoder) note(code loss.Code, args ...string) {
	e.b.OnLoss.Add(loss.Loss{Code: code, At: store.Addr{File: e.at()}, Args: args})
}

// at returns where the current message is from, or the session.
func (e *encoder) at() string {
	switch m := e.message; {
	case m == nil:
		return e.s.ID
	case len(m.Origin) > 0:
		return m.Origin[0]
	default:
		return m.ID
	}
}

// put writes a line as it is.
func (e *encoder) put(line []byte) {
	e.lines++
	line = append(line, '\n')
	e.size += int64(len(line))
	e.sum.Write(line)
	e.w.Write(line) // Flush returns its first error
	if e.buf = line[:0]; cap(line) > 8<<20 {
		e.buf = nil
	}
}

// chained writes a line of the conversation, with the members that body writes, and
// returns its uuid.
func (e *encoder) chained(kind string, at session.Stamp, body func(p *object.Writer)) (id string) {
	id = uuid("line", e.id, e.agent, itoa(e.lines))
	p := object.New(e.buf)
	shape.SetParent(&p, e.parent)
	p.Flag("isSidechain", e.agent != "")
	p.NonEmpty("agentId", e.agent)
	p.Text("type", kind)
	body(&p)
	if e.branch != "" && !e.marked {
		e.mark(&p, &session.Message{}, nil)
	}
	e.marked = false
	p.Text("uuid", id)
	p.Text("timestamp", e.tick(at))
	p.Text("userType", "external")
	p.Text("entrypoint", "cli")
	p.Text("cwd", e.cwd)
	p.Text("sessionId", e.id)
	p.Text("version", outline.Version)
	p.Text("gitBranch", e.s.Branch)
	e.put(p.Done())
	e.parent = id
	return id
}

// ending writes what is not part of the conversation, and last the title, because
// the client looks for titles only at the ends of a file.
func (e *encoder) ending() {
	p := object.New(e.buf)
	p.Text("type", "rehome")
	p.Text("sessionId", e.id)
	p.Num("lines", int(e.lines))
	p.Text("sha256", hex.EncodeToString(e.sum.Sum(nil)))
	if len(e.system) > 0 {
		p.Texts("system", e.system)
	}
	head := *e.s
	head.Missing = nil
	p.Raw("session", session.AppendHead(nil, &head))
	e.put(p.Done())
	if e.agent != "" {
		return
	}
	title := envelope.FirstLine(e.s.Title)
	if title == "" {
		e.message = nil
		e.note(loss.TitleFromPrompt)
		title = e.prompt
	}
	if title == "" {
		title = "Imported session"
	}
	p = object.New(e.buf)
	p.Text("type", "ai-title")
	p.Text("aiTitle", title)
	p.Text("sessionId", e.id)
	e.put(p.Done())
}

// tick returns the time of the next line: that of its message if it is later than
// the previous one.
func (e *encoder) tick(at session.Stamp) string {
	next := e.last + 1
	if inReach(at) && at.Millis() > next {
		next = at.Millis()
	}
	e.last = next
	return session.FormatMillis(next)
}

// timed reports a missing or unusual time.
func (e *encoder) timed(m *session.Message) {
	switch {
	case !m.At.Known():
		e.note(loss.TimeUnknown)
	case !inReach(m.At):
		e.note(loss.TimeOutOfRange)
	case m.At.Millis() < e.said:
		e.note(loss.TimeBackwards)
	default:
		e.said = m.At.Millis()
	}
}

// inReach reports whether a time is between 1970 and 9999.
func inReach(t session.Stamp) bool {
	return t.Known() && t.Millis() >= 0 && t.Millis() < 253402300800000-(1<<32)
}
