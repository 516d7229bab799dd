package lineclient

import (
	"bufio"
	"bytes"
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"hash"
	"os"
	"slices"
	"strconv"
	"time"

	"rehome/formats"
	"rehome/formats/internal/filename"
	"rehome/formats/internal/jsonl"
	"rehome/formats/internal/lines"
	"rehome/formats/internal/members"
	"rehome/formats/internal/object"
	"rehome/formats/loss"
	"rehome/formats/rule"
	"rehome/formats/session"
	"rehome/internal/rawjson"
)

// Spelling is how sessions are written.
type Spelling struct {
	// Path returns the path of a file, below the home, of a session with an id.
	Path func(h *session.Head, id string) string
	// Keeps reports whether the client accepts an id of its own session. nil: a UUID.
	Keeps func(id string) bool
	// Head writes the members of the first line, after its kind.
	Head func(p *object.Writer, h *session.Head, id string)
	// Line writes the lines of what is said.
	Line func(w *Lines, s *Said)
	// Title writes the line with the name of the session. nil: no line has it.
	Title func(w *Lines, title string)
	// Call makes a call of one of the client's own tools of it, and returns what changed. nil:
	// all stay as they are.
	Call func(c *session.ToolCall) (changed loss.Code)
	// Own reports that what the client itself wrote is written back as it was.
	Own bool
	// Models reports that answers name their models.
	Models bool
	// End writes what ends the lines that were appended to a session. nil: nothing does.
	End func(w *Lines)
	// Texts reports that the client sends the text of results alone: their images follow them,
	// as context.
	Texts bool
	// UUIDs reports that lines have UUIDs for ids.
	UUIDs bool
	// Paired reports that the client skips a line with half a surrogate pair in it, as one in Rust does.
	Paired bool
	// Mark writes a line with data that the client does not read. It is the last one.
	Mark func(w *Lines, data []byte)
}

// target is a client for which sessions are written.
type target struct {
	*Client
	isMark func(line []byte) bool // it is the line that rehome writes for itself
	check  func(context.Context, *formats.Location, formats.View, *rule.Pass) error
}

// NewWriter returns the ability to write sessions of any client, for a format that reads and
// checks them by itself. isMark reports whether a line is one that Spelling.Mark wrote.
func NewWriter(c Client, isMark func(line []byte) bool, check func(context.Context, *formats.Location, formats.View, *rule.Pass) error) *formats.Writer {
	t := &target{&c, isMark, check}
	return &formats.Writer{
		New:        func() formats.Sink { return &sink{t} },
		Path:       func(h *session.Head) string { return c.Spell.Path(h, c.sessionID(h)) },
		ID:         c.sessionID,
		Appends:    true,
		Unmodified: t.unmodified,
		Losses:     c.losses(),
	}
}

// isMark reports whether a line is one that rehome wrote for itself.
func (c *Client) isMark(line []byte) bool {
	r := c.parse(jsonl.Line{Object: line})
	own := c.Kinds[r.Kind].Own
	return own != nil && own(r)
}

// losses returns what can be lost when a session is written.
func (c *Client) losses() (of []loss.Code) {
	if c.Spell.Title == nil {
		of = append(of, loss.TitleFromPrompt)
	}
	if c.Spell.Call != nil {
		of = append(of, loss.ToolRenamed)
	}
	if c.Spell.Texts {
		of = append(of, loss.ResultMediaMoved)
	}
	if c.Spell.Paired {
		of = append(of, loss.TextRepaired)
	}
	return append(of,
		loss.ArgumentsRepaired, loss.ToolNameChanged, loss.CallIDChanged, loss.ResultFromRecord, loss.ResultOrphan, loss.ToolRecord,
		loss.PartUntranslatable, loss.SystemPromptUnsent, loss.SummaryUnused, loss.SummaryUnknown, loss.TimeUnknown, loss.SessionEmpty,
		loss.TodosAside, loss.PlanAside, loss.MetadataAside, loss.SnapshotDropped, loss.TurnAbandoned, loss.TurnRecord,
		loss.MessageMetadata, loss.PartMetadata,
		loss.AttachmentRecord, loss.FileInlined, loss.MediaNamed, loss.MediaMissing, loss.AnswerImage, loss.ThinkingUnsigned, loss.ThinkingAsText,
		loss.ThinkingHidden, loss.ThinkingRedacted)
}

// sessionID returns the id of a session, which the client keeps if it is its own.
func (c *Client) sessionID(h *session.Head) string {
	keeps := c.Spell.Keeps
	if keeps == nil {
		keeps = formats.IsUUID
	}
	if h.Agent == cmp.Or(c.Agent, c.Name) && keeps(h.ID) {
		return h.ID
	}
	return filename.NamedUUID("rehome/"+c.Name+"/1\x00", h.Agent, h.ID)
}

type sink struct{ c *target }

// Put writes a session, or continues one.
func (k *sink) Put(ctx context.Context, s *session.Session, b formats.SessionBuild) (*formats.Draft, error) {
	d := &formats.Draft{Verify: func(ctx context.Context) error { return k.c.verify(ctx, b.Path) }}
	if b.Continues != nil {
		d.Verify = func(context.Context) error { return nil } // whoever continues it reads all of it again
		return d, k.c.extend(ctx, s, b)
	}
	// As in the client, only the user may read the file.
	f, err := os.OpenFile(b.Path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		if errors.Is(err, os.ErrExist) {
			full := errors.New("a file can hold only one session")
			return nil, &formats.Error{Format: k.c.Name, At: b.Path, Err: full, Hint: "name a folder as the target"}
		}
		return nil, err
	}
	w := k.c.newLines(f, s, b)
	err = w.session(ctx)
	if ferr := w.out.Flush(); err == nil {
		err = ferr
	}
	if cerr := f.Close(); err == nil {
		err = cerr
	}
	if err == nil {
		err = os.Chtimes(b.Path, w.at, w.at) // clients continue the newest file
	}
	d.Tokens = w.sent / bytesPerToken
	return d, err
}

// bytesPerToken is the usual average of prose and code in English.
const bytesPerToken = 4

// Lines are the lines of a session that is written.
type Lines struct {
	c      *target
	s      *session.Session
	b      formats.SessionBuild
	out    *bufio.Writer
	sum    hash.Hash
	n      int
	sent   int64
	number int64 // of the last line, if lines have numbers; -1: they have none

	Turn string // the one that is open, for the spelling

	id     string // of the session
	tell   *teller
	ids    map[string]bool   // of lines
	tips   map[string]string // the last line of each branch
	starts map[string]string // lines of messages that branches follow
	said   *Said             // the current one
	line   string            // the id of the current line
	at     time.Time
	buf    []byte
}

func (c *target) newLines(f *os.File, s *session.Session, b formats.SessionBuild) *Lines {
	w := &Lines{
		c: c, s: s, b: b, out: bufio.NewWriterSize(f, 256<<10), sum: sha256.New(), id: c.sessionID(&s.Head), at: time.UnixMilli(0).UTC(),
		ids: map[string]bool{}, tips: map[string]string{}, starts: map[string]string{}, number: -1,
	}
	if s.Created.Known() {
		w.at = s.Created.Time()
	}
	for _, branch := range s.Branches {
		if branch.From != "" {
			w.starts[branch.From] = ""
		}
	}
	w.tell = newTeller(c.Client, s, b, w.grow, w.spell)
	w.tell.taken = func(m *session.Message) {
		if at, starts := w.starts[m.ID]; starts && at == "" && m.Branch == "" { // it has no line
			w.starts[m.ID] = w.tips[""]
		}
	}
	return w
}

func (w *Lines) session(ctx context.Context) error {
	h := w.s.Head
	if w.b.Cwd != "" {
		h.Workspace = w.b.Cwd
	}
	p := object.New(nil)
	p.Text(w.c.Line.Kind[0], w.c.Head.Kind)
	w.c.Spell.Head(&p, &h, w.id)
	w.put(p.Done())
	if w.tell.own {
		w.tell.settings(w.s.Extras)
	}
	if w.s.Title != "" && w.c.Spell.Title == nil && !w.tell.own {
		w.tell.note(loss.TitleFromPrompt)
	} else if w.s.Title != "" && !w.tell.own {
		w.c.Spell.Title(w, w.s.Title)
	}
	if err := w.tell.all(ctx); err != nil {
		return err
	}
	w.said = nil
	data := object.New(nil)
	data.Num("lines", w.n)
	data.Text("sha256", hex.EncodeToString(w.sum.Sum(nil)))
	head := *w.s
	if head.Missing = nil; w.tell.own {
		head.Extras = nil // they are lines
	}
	data.Raw("session", session.AppendHead(nil, &head))
	w.c.Spell.Mark(w, data.Done())
	return nil
}

// spell writes what is said.
func (w *Lines) spell(s *Said) {
	if w.said = s; s.At.Known() {
		w.at = s.At.Time()
	}
	if s.Raw != nil {
		w.copied(s.Raw)
	} else {
		w.c.Spell.Line(w, s)
	}
	if s.branch == "" {
		if _, starts := w.starts[s.ID]; starts {
			w.starts[s.ID] = w.tips[""]
		}
	}
}

// grow begins a branch at the line that it follows, if that is known.
func (w *Lines) grow(name string) bool {
	i := slices.IndexFunc(w.s.Branches, func(b session.Branch) bool { return b.Name == name })
	if i < 0 || w.c.Line.Parent == "" || w.c.Line.Flat {
		return false
	}
	from := w.s.Branches[i].From
	if w.tips[name] == "" {
		w.tips[name] = w.starts[from]
	}
	return from == "" || w.tips[name] != ""
}

// New begins a line of a kind, with what all lines have.
func (w *Lines) New(kind string) object.Writer {
	p := object.New(w.buf[:0])
	p.Text(w.c.Line.Kind[0], kind)
	w.around(&p)
	return p
}

// around writes the id, the parent and the time of a line.
func (w *Lines) around(p *object.Writer) {
	branch := ""
	if w.said != nil {
		branch = w.said.branch
	}
	if w.c.Line.ID != "" {
		p.Text(w.c.Line.ID, w.fresh())
	}
	if w.c.Line.Parent != "" {
		if tip := w.tips[branch]; tip != "" {
			p.Text(w.c.Line.Parent, tip)
		} else {
			p.Raw(w.c.Line.Parent, []byte("null"))
		}
	}
	p.Text(w.c.Line.Time, w.Time())
	if w.tips[branch] = w.line; w.number >= 0 {
		w.number++
		p.Num(w.c.Line.Number, int(w.number))
	}
}

// Time returns the time of the line, and Millis the same in milliseconds.
func (w *Lines) Time() string { return w.at.UTC().Format("2006-01-02T15:04:05.000Z") }

// Session returns the id of the session.
func (w *Lines) Session() string { return w.id }

// Number returns that of the last line; -1 if lines have none.
func (w *Lines) Number() int64 { return w.number }

// ID returns the id of the line that was begun last.
func (w *Lines) ID() string { return w.line }

// Millis returns the time of the line.
func (w *Lines) Millis() int64 { return w.at.UnixMilli() }

// fresh returns the id of the next line: that of the message, if the client wrote it and no
// line has it yet.
func (w *Lines) fresh() string {
	if s := w.said; s != nil && w.tell.own && s.ID != "" && !w.ids[s.ID] && len(s.ID) <= 64 {
		w.line = s.ID
	} else if w.c.Spell.UUIDs {
		w.line = w.UUID("line")
	} else {
		sum := sha256.Sum256([]byte(w.id + "\x00" + strconv.Itoa(w.n)))
		w.line = hex.EncodeToString(sum[:4])
		for n := 5; w.ids[w.line]; n++ {
			w.line = hex.EncodeToString(sum[:min(n, len(sum))])
		}
	}
	w.ids[w.line] = true
	return w.line
}

// UUID returns an id for something in the next line.
func (w *Lines) UUID(what string) string {
	return filename.NamedUUID("rehome/"+w.c.Name+"/"+what+"\x00", w.id, strconv.Itoa(w.n))
}

// Put writes a line.
func (w *Lines) Put(p object.Writer) {
	line := p.Done()
	if w.c.Spell.Paired && unpair(line) {
		w.tell.note(loss.TextRepaired)
	}
	w.sent += int64(len(line))
	w.put(line)
}

// unpair writes U+FFFD over each escape that is half a surrogate pair, and reports whether there was one.
func unpair(line []byte) (found bool) {
	if !bytes.Contains(line, []byte(`\ud`)) && !bytes.Contains(line, []byte(`\uD`)) {
		return false
	}
	for i := 0; i+1 < len(line); i++ {
		if line[i] != '\\' {
			continue
		}
		one := half(line[i:])
		switch {
		case one == 0:
			i++ // what is escaped is no escape
		case one < 0xdc00 && half(line[i+6:]) >= 0xdc00:
			i += 11
		default:
			copy(line[i:], `\ufffd`)
			found = true
		}
	}
	return found
}

// half returns the half of a surrogate pair whose escape a text begins with, or 0.
func half(b []byte) uint64 {
	if len(b) < 6 || b[0] != '\\' || b[1] != 'u' {
		return 0
	}
	n, err := strconv.ParseUint(string(b[2:6]), 16, 16)
	if err != nil || n < 0xd800 || n > 0xdfff {
		return 0
	}
	return n
}

func (w *Lines) put(line []byte) {
	w.n++
	line = append(line, '\n')
	w.sum.Write(line)
	w.out.Write(line) // Flush returns its first error
	if w.buf = line[:0]; cap(line) > maxHeld {
		w.buf = nil
	}
}

// copied writes a line of the client itself, at its new place.
func (w *Lines) copied(raw []byte) {
	names := w.c.Line
	p := w.New(rawjson.Text(rawjson.Last(raw, names.Kind[0])))
	for name, v := range rawjson.Members(raw) {
		if n := string(name); !slices.Contains([]string{names.Kind[0], names.ID, names.Parent, names.Time}, n) {
			Rest(&p, []session.Extra{{Name: n, Raw: v}})
		}
	}
	w.Put(p)
}

// verify reads a file again, as its client would, and applies the rules to it.
func (c *target) verify(ctx context.Context, path string) error {
	broken := func(at string, err error) error {
		return &formats.Error{Format: c.Name, At: at, Err: err, Hint: "the session was not written; this is a bug in rehome, please report it"}
	}
	if ours, err := c.unmodified(ctx, path); err != nil || !ours {
		return errors.Join(err, broken(path, errors.New("the lines are not those that were written")))
	}
	l, err := formats.Locate(path)
	if err != nil {
		return err
	}
	var found []rule.Finding
	pass := &rule.Pass{Layers: rule.Container | rule.References | rule.Meaning, Report: func(f rule.Finding) {
		if r := rule.Lookup(f.Rule); r.Severity > rule.Note {
			f.Detach()
			found = append(found, f)
		}
	}}
	if err := c.check(ctx, l, formats.View{}, pass); err != nil {
		return err
	}
	if len(found) > 0 {
		return broken(found[0].At.String(), fmt.Errorf("%s %s", rule.Lookup(found[0].Rule).Title, found[0].Text()))
	}
	return nil
}

// unmodified reports whether a file is as it was written: its last line has the digest of all
// others.
func (c *target) unmodified(ctx context.Context, path string) (bool, error) {
	f, err := os.Open(path)
	if err != nil {
		return false, err
	}
	defer f.Close()
	sum, last, n := sha256.New(), []byte(nil), 0
	for l, err := range lines.Each(ctx, f, jsonl.MaxLine) {
		if err != nil {
			return false, err
		}
		if !l.Ended || l.Long {
			return false, nil
		}
		if n++; n > 1 {
			sum.Write(last)
		}
		last = append(append(last[:0], l.Bytes...), '\n')
	}
	if r := jsonl.Parse(lines.Line{Bytes: last, Ended: true}); r.Object == nil || !c.isMark(r.Object) {
		return false, nil
	}
	data := []byte(`"sha256":"` + hex.EncodeToString(sum.Sum(nil)) + `"`)
	return bytes.Contains(last, data), nil
}

// extend appends the messages of a session to the session in a file, after the line that its
// client continues.
func (c *target) extend(ctx context.Context, s *session.Session, b formats.SessionBuild) error {
	f, err := os.OpenFile(b.Path, os.O_RDWR|os.O_APPEND, 0)
	if err != nil {
		return err
	}
	defer f.Close()
	w, torn := c.newLines(f, s, b), false
	w.id = b.Continues.ID
	for l, err := range lines.Each(ctx, f, jsonl.MaxLine) {
		if err != nil {
			return err
		}
		r := c.parse(jsonl.Parse(l))
		if at, ok := members.Whole(r.line.Peek(c.Line.Number)); ok {
			w.number = at
		}
		w.n++
		if torn = !l.Ended; r.Object != nil && r.Kind != c.Head.Kind {
			w.tips[""], w.ids[r.ID] = r.ID, true
		}
		if r.Time.Known() {
			w.at = r.Time.Time()
		}
	}
	if w.tips[""] == "" && c.Line.ID != "" || torn {
		last := errors.New("the last line is incomplete, or has no id")
		return &formats.Error{Format: c.Name, At: b.Path, Err: last, Hint: "run `rehome check` on this file"}
	}
	if err := w.tell.all(ctx); err != nil {
		return err
	}
	if w.said = nil; c.Spell.End != nil {
		c.Spell.End(w)
	}
	if len(w.tips) > 1 { // the client continues the last line, so that one is not of a branch
		c.Spell.Mark(w, []byte("{}"))
	}
	return errors.Join(w.out.Flush(), f.Sync())
}
