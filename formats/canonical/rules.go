package canonical

import (
	"context"
	"hash/maphash"
	"os"
	"strconv"

	"rehome/formats"
	"rehome/formats/internal/linecheck"
	"rehome/formats/internal/rawjson"
	"rehome/formats/rule"
	"rehome/formats/store"
)

// check asks the rules of a file or folder of sessions.
func check(ctx context.Context, l *formats.Location, v formats.View, q *rule.Pass) error {
	x := &examination{ctx: ctx, view: v, q: q, seed: maphash.MakeSeed(), sessions: map[string]bool{}}
	if q.Enabled(rule.Schema) {
		x.schema = q.Schema("canonical-1")
	}
	if !l.IsDir() {
		if err := x.file(l.Path, l.Name()); err != nil {
			return err
		}
		x.relatives()
		return nil
	}
	root, err := os.OpenRoot(l.Path)
	if err != nil {
		return &formats.Error{Format: name, At: l.Path, Err: err}
	}
	defer root.Close()
	files, err := arrange(root, func(string) {})
	if err != nil {
		return &formats.Error{Format: name, At: l.Path, Err: err}
	}
	for _, f := range files {
		if err := x.file(l.Path+"/"+f, f); err != nil {
			return err
		}
	}
	x.relatives()
	return nil
}

// examination asks the rules of one store. Of ids it keeps hashes: a session
// can have millions.
type examination struct {
	ctx    context.Context
	view   formats.View
	q      *rule.Pass
	schema rule.Validator
	seed   maphash.Seed

	sessions map[string]bool // agent and id of those that were seen
	links    []link          // to others, which may come later
	s        *conversation   // the one at hand; nil in front of the first
	at       store.Addr      // the line at hand
}

// link is a parent or subagent that a head names.
type link struct {
	at      store.Addr
	pointer string
	agent   string
	id      string
}

// id is the hash of one.
func (x *examination) id(text string) uint64 { return maphash.String(x.seed, text) }

func (x *examination) file(path, file string) error {
	x.s = nil
	o := linecheck.Options{Format: name, Most: maxLine, Odd: func(int) { x.gap() }}
	for line, err := range linecheck.Lines(x.ctx, path, file, x.view, x.q, o) {
		if err != nil {
			return err
		}
		x.at = store.Addr{File: file, Line: line.Number}
		sound := true
		if x.schema != nil && !line.Wild {
			sound = x.q.Matches(x.schema, line.Bytes, x.at, "")
		}
		if sound && x.q.Enabled(rule.References) {
			x.line(&line)
		} else {
			x.gap()
		}
	}
	x.end()
	return nil
}

// gap remembers that a line could not be read: what refers to it is no breach.
func (x *examination) gap() {
	if x.s == nil {
		x.s = &conversation{}
	}
	x.s.gap = true
}

func (x *examination) found(id, pointer, says string, args ...any) {
	x.q.Report(rule.Finding{Rule: id, At: x.at, Pointer: pointer, Message: says, Args: args})
}

// line enters one line.
func (x *examination) line(l *linecheck.Line) {
	switch kind := rawjson.Text(first(l.Bytes, "type")); kind {
	case "session":
		x.end()
		x.head(l)
	case "message", "file":
		switch {
		case x.s == nil:
			x.found("RH390", "", "%s line before the first head", kind)
			x.s = &conversation{gap: true}
		case x.s.ids == nil: // its head could not be read
		case kind == "file":
			x.s.files = true
		case x.s.files:
			x.found("RH390", "", "message line after the file lines")
		default:
			x.message(l)
		}
	}
}

// head begins a session.
func (x *examination) head(l *linecheck.Line) {
	x.s = newConversation(x.at)
	id, agent := rawjson.Text(l.Member("id")), rawjson.Text(l.Member("agent"))
	key := agent + "\x00" + id
	if x.sessions[key] {
		x.found("RH396", "/id", "session %q", id)
	}
	x.sessions[key] = true
	if up := rawjson.Text(rawjson.Last(l.Member("parent"), "session")); up != "" {
		x.links = append(x.links, link{x.at, "/parent/session", agent, up})
	}
	n := 0
	for child := range rawjson.Elements(l.Member("children")) {
		if id := rawjson.Text(rawjson.Last(child, "session")); id != "" {
			x.links = append(x.links, link{x.at, "/children/" + strconv.Itoa(n) + "/session", agent, id})
		}
		n++
	}
	for b := range rawjson.Elements(l.Member("branches")) {
		x.s.branches = append(x.s.branches, branch{rawjson.Text(rawjson.Last(b, "name")), rawjson.Text(rawjson.Last(b, "from"))})
	}
}

// relatives looks for the sessions that others name, when all were seen.
func (x *examination) relatives() {
	for _, l := range x.links {
		if !x.sessions[l.agent+"\x00"+l.id] {
			x.at = l.at
			x.found("RH397", l.pointer, "session %q", l.id)
		}
	}
}
