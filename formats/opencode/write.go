package opencode

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
	"strings"
	"unicode"
	"unicode/utf8"

	"rehome/formats"
	"rehome/formats/internal/filename"
	"rehome/formats/internal/lineclient"
	"rehome/formats/internal/object"
	"rehome/formats/internal/rowclient"
	"rehome/formats/session"
)

// version is the one as which files are written.
const version = "1.18.33"

// sessionID is the id of a session, which OpenCode keeps if it is its own.
func sessionID(h *session.Head) string {
	if h.Agent == name && ownID(h.ID) {
		return h.ID
	}
	sum := filename.NamedSum("rehome/opencode/1\x00", h.Agent, h.ID)
	return "ses_ffff" + hex.EncodeToString(sum[:])[:22]
}

// ownID reports whether an id is one that OpenCode makes.
func ownID(id string) bool {
	rest, ok := strings.CutPrefix(id, "ses_")
	return ok && rest != "" && len(rest) <= 64 && !strings.ContainsFunc(rest, func(r rune) bool {
		return r >= utf8.RuneSelf || !unicode.IsLetter(r) && !unicode.IsDigit(r)
	})
}

type sink struct{ c rowclient.Client }

// Put writes a session.
func (k sink) Put(ctx context.Context, s *session.Session, b formats.SessionBuild) (*formats.Draft, error) {
	f, err := os.OpenFile(b.Path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		if errors.Is(err, os.ErrExist) {
			full := errors.New("a file can hold only one session")
			return nil, &formats.Error{Format: exportName, At: b.Path, Err: full, Hint: "name a folder as the target"}
		}
		return nil, err
	}
	w := &written{out: bufio.NewWriterSize(f, 256<<10), sum: sha256.New(), s: s, b: b, cwd: cmp.Or(b.Cwd, s.Workspace), id: sessionID(&s.Head),
		own: s.Agent == name, ids: map[string]bool{}, at: session.FirstMoment}
	if s.Created.Millis() > 0 {
		w.at = s.Created.Millis()
	}
	w.line(append(w.head(), `,"messages":[`...))
	_, err = k.c.Tell(ctx, s, b, w.spell)
	if w.flush(); err == nil {
		w.out.WriteString(w.ending())
		err = w.out.Flush()
	}
	d := &formats.Draft{Tokens: w.sent / bytesPerToken, Verify: func(ctx context.Context) error { return k.verify(ctx, b.Path) }}
	return d, errors.Join(err, f.Close())
}

// bytesPerToken is the usual average of prose and code in English.
const bytesPerToken = 4

// ending is the last line of a file, with the digest of all others. OpenCode does not read it.
func (w *written) ending() string { return endingOf(w.sum.Sum(nil)) }

func endingOf(sum []byte) string { return fmt.Sprintf("],\"rehome\":{\"sha256\":\"%x\"}}\n", sum) }

// unmodified reports whether a file is as it was written.
func unmodified(_ context.Context, path string) (bool, error) {
	b, err := readFile(path)
	if err != nil {
		return false, err
	}
	at := bytes.LastIndexByte(bytes.TrimRight(b, "\n"), '\n') + 1
	sum := sha256.Sum256(b[:at])
	return string(b[at:]) == endingOf(sum[:]), nil
}

// verify reads a file again.
func (k sink) verify(ctx context.Context, path string) error {
	ours, err := unmodified(ctx, path)
	if err == nil && !ours {
		err = errors.New("the text is not what was written")
	}
	if err == nil {
		var l *formats.Location
		if l, err = formats.Locate(path); err == nil {
			_, _, err = k.c.Messages(ctx, l)
		}
	}
	if err != nil && ctx.Err() == nil {
		err = &formats.Error{Format: exportName, At: path, Err: err, Hint: "the session was not written; this is a bug in rehome, please report it"}
	}
	return err
}

// written is a file that is written: its first line has the session, and each other one a message.
type written struct {
	out  *bufio.Writer
	sum  hash.Hash
	s    *session.Session
	b    formats.SessionBuild
	cwd  string
	id   string
	own  bool // OpenCode itself wrote the session
	at   int64
	n    int
	sent int64
	ids  map[string]bool
	user string // the last message of the user
	held *held
}

// held is a message of which more can follow.
type held struct {
	id    string
	of    string // the message that it is made from
	info  []byte
	parts [][]byte
	calls []*called
}

// called is a call without a result: its part, as far as it is written, and where that belongs.
type called struct {
	at   int
	part object.Writer
	call *session.ToolCall
}

func (w *written) line(b []byte) {
	b = append(b, '\n')
	w.sum.Write(b)
	w.out.Write(b) // Flush returns its first error
}

// fresh returns an id that nothing else has: the one that OpenCode gave, or one that rises, and is
// less than those that OpenCode makes later.
func (w *written) fresh(kind, was string) string {
	if w.own && strings.HasPrefix(was, kind) && !w.ids[was] {
		w.ids[was] = true
		return was
	}
	w.n++
	sum := sha256.Sum256(fmt.Append(nil, w.id, " ", w.n))
	id := fmt.Sprintf("%s_%012x%s", kind, w.n, hex.EncodeToString(sum[:])[:14])
	w.ids[id] = true
	return id
}

// head writes the object of the session.
func (w *written) head() []byte {
	s := w.s
	var own, times []session.Extra
	if w.own {
		own, times = at(s.Extras, ""), at(s.Extras, "time.")
	}
	p := object.New([]byte(`{"info":`))
	p.Text("id", w.id)
	p.Text("directory", w.cwd)
	p.NonEmpty("title", s.Title)
	if s.Parent != nil {
		p.Text("parentID", sessionID(&session.Head{Agent: s.Agent, ID: s.Parent.Session}))
	}
	p.Name("time")
	in := object.New(p.B)
	in.Raw("created", number(w.at))
	in.Raw("updated", number(max(w.at, s.Updated.Millis())))
	rest(&in, times)
	p.B = in.Done()
	rest(&p, own, lineclient.Text("slug", strings.ToLower(w.id[max(0, len(w.id)-8):])), lineclient.Text("projectID", "global"), lineclient.Text("version", version))
	if said := (lineclient.Said{Extras: own}); s.Title == "" && !said.Has("title") {
		p.Text("title", untitled+session.FormatMillis(w.at))
	}
	return p.Done()
}

// spell writes what is said.
func (w *written) spell(s *lineclient.Said) {
	if s.At.Known() {
		w.at = max(w.at, s.At.Millis())
	}
	switch s.What {
	case lineclient.Result:
		w.result(s)
	case lineclient.Unchanged:
		w.copied(s.Raw)
	case lineclient.Command:
		w.command(s)
	case lineclient.Compaction:
		if !w.own {
			w.begin(&lineclient.Said{Model: s.Model}, "user")
			p := w.part("compaction", nil)
			p.Raw("auto", []byte("false"))
			w.add(p, nil)
		}
		w.more(s, "assistant")
	case lineclient.Answer, lineclient.System: // OpenCode's own is of a summary
		w.more(s, "assistant")
	default:
		w.more(s, "user")
	}
}

// more adds what is said to the message at hand, if OpenCode wrote both as one, or to the next one.
func (w *written) more(s *lineclient.Said, role string) {
	if h := w.held; h == nil || !w.own || h.of != s.ID || s.ID == "" {
		w.begin(s, role)
	}
	for _, one := range s.Parts {
		w.say(one, s.Tag)
	}
}

// begin begins a message.
func (w *written) begin(s *lineclient.Said, role string) {
	w.flush()
	w.held = &held{id: w.fresh("msg", s.ID), of: s.ID}
	provider, model := service(s.Model)
	p := object.New(nil)
	p.Text("id", w.held.id)
	p.Text("sessionID", w.id)
	p.Text("role", role)
	agent := lineclient.Text("agent", "build")
	if role == "user" {
		w.user = w.held.id
		of := object.New(nil)
		of.Text("providerID", provider)
		of.Text("modelID", model)
		rest(&p, s.Extras, lineclient.Member("time", fmt.Appendf(nil, `{"created":%d}`, w.at)), agent, lineclient.Member("model", of.Done()))
		w.held.info = p.Done()
		return
	}
	p.Text("modelID", model)
	path := object.New(nil)
	path.Text("cwd", w.cwd)
	path.Text("root", w.cwd)
	needed := []session.Extra{lineclient.Member("time", fmt.Appendf(nil, `{"created":%d,"completed":%[1]d}`, w.at)), lineclient.Text("parentID", cmp.Or(w.user, w.held.id)),
		lineclient.Text("mode", "build"), agent, lineclient.Member("path", path.Done()), lineclient.Member("cost", []byte("0")),
		lineclient.Member("tokens", []byte(noTokens)), lineclient.Text("providerID", provider)}
	if s.What == lineclient.Compaction {
		needed = append(needed, lineclient.Member("summary", []byte("true")))
	}
	if !w.own && s.Calls() {
		needed = append(needed, lineclient.Text("finish", "tool-calls"))
	} else if !w.own {
		needed = append(needed, lineclient.Text("finish", "stop"))
	}
	rest(&p, s.Extras, needed...)
	w.held.info = p.Done()
}

const noTokens = `{"input":0,"output":0,"reasoning":0,"cache":{"read":0,"write":0}}`

// service returns the provider of a model, as OpenCode names it, and the model.
func service(model string) (provider, name string) {
	for _, of := range []struct{ start, provider string }{{"claude-", "anthropic"}, {"gpt-", "openai"}, {"gemini-", "google"}} {
		if strings.HasPrefix(model, of.start) {
			return of.provider, model
		}
	}
	return "unknown", cmp.Or(model, "unknown")
}

// flush writes the message at hand.
func (w *written) flush() {
	h := w.held
	if h == nil {
		return
	}
	for _, c := range h.calls {
		h.parts[c.at] = w.tool(c, nil)
	}
	var line []byte
	if w.sent > 0 {
		line = append(line, ',')
	}
	line = append(append(append(line, `{"info":`...), h.info...), `,"parts":[`...)
	line = append(append(line, bytes.Join(h.parts, []byte(","))...), "]}"...)
	w.sent += int64(len(line))
	w.line(line)
	w.held = nil
}
