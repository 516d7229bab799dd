package canonical

import (
	"context"
	"hash/maphash"
	"os"
	"strconv"
	"strings"

	"rehome/formats"
	"rehome/formats/internal/linecheck"
	"rehome/formats/rule"
	"rehome/formats/store"
	"rehome/internal/rawjson"
)

// check applies the rules to a file or folder of sessions.
func check(ctx context.Context, l *formats.Location, v formats.View, q *rule.Pass) error {
	x := &examination{ctx: ctx, view: v, seed: maphash.MakeSeed(), sessions: map[string]bool{}}
	x.q = q.Owned(func(*rule.Finding) string {
		if x.s == nil {
			return ""
		}
		return x.s.id
	})
	if q.Enabled(rule.Schema) {
		x.schema = q.Schema("canonical-1")
	}
	var err error
	if l.IsDir() {
		err = x.folder(l.Path)
	} else {
		err = x.file(l.Path, l.Name())
		if info, e := os.Stat(l.Path + formats.SidecarSuffix); err == nil && e == nil && info.Mode().IsRegular() {
			x.ignored("../" + l.Name() + formats.SidecarSuffix)
		}
	}
	if err == nil {
		x.relatives()
	}
	return err
}

func (x *examination) folder(dir string) error {
	root, err := os.OpenRoot(dir)
	if err != nil {
		return &formats.Error{Format: name, At: dir, Err: err}
	}
	defer root.Close()
	files, err := arrange(root, x.ignored)
	if err != nil {
		return &formats.Error{Format: name, At: dir, Err: err}
	}
	for _, f := range files {
		if err := x.file(dir+"/"+f, f); err != nil {
			return err
		}
	}
	return nil
}

// ignored reports a file that is not canonical, if an unreleased build wrote it.
func (x *examination) ignored(path string) {
	if strings.HasSuffix(path, oldSidecar) && x.q.Enabled(rule.References) {
		x.s, x.at = nil, store.Addr{File: path}
		x.found("RH400", "", "not read")
	}
}

// examination applies the rules to one store. It keeps only hashes of ids: a session can
// have millions.
type examination struct {
	ctx    context.Context
	view   formats.View
	q      *rule.Pass
	schema rule.Validator
	seed   maphash.Seed

	sessions map[string]bool // those read so far, by key
	links    []link          // to others, which may follow
	s        *conversation   // the current one; nil before the first
	at       store.Addr      // the current line
}

// link is the parent or a subagent that a head names.
type link struct {
	at      store.Addr
	pointer string
	from    string // the session that names it
	agent   string
	id      string
}

// id returns the hash of an id.
func (x *examination) id(text string) uint64 { return maphash.String(x.seed, text) }

func (x *examination) file(path, file string) error {
	x.s = nil
	o := linecheck.Options{Format: name, Most: maxLine, Odd: func(int) { x.gap() }}
	for line, err := range linecheck.Lines(x.ctx, path, file, x.view, x.q, o) {
		if err != nil {
			return err
		}
		x.at = store.Addr{File: file, Line: line.Number}
		if kindOf(line.Bytes) == "session" {
			x.end()
			x.s = &conversation{id: rawjson.Text(line.Member("id"))}
		}
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

// gap remembers that a line is unreadable: a reference to it is not an error.
func (x *examination) gap() {
	if x.s == nil {
		x.s = &conversation{}
	}
	x.s.gap = true
}

func (x *examination) found(id, pointer, says string, args ...any) {
	x.q.Report(rule.Finding{Rule: id, At: x.at, Pointer: pointer, Message: says, Args: args})
}

// line checks a line.
func (x *examination) line(l *linecheck.Line) {
	switch kind := kindOf(l.Bytes); kind {
	case "session":
		x.head(l.Bytes)
	case "message", "file":
		switch {
		case x.s == nil:
			x.found("RH390", "", "%s line before the first head", kind)
			x.s = &conversation{gap: true}
		case x.s.ids == nil: // its head is unreadable
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
func (x *examination) head(b []byte) {
	x.s = newConversation(x.at)
	s, _ := new(parser).head(b)
	x.s.id = s.ID
	if x.sessions[key(s.Agent, s.ID)] {
		x.found("RH396", "/id", "session %q", s.ID)
	}
	x.sessions[key(s.Agent, s.ID)] = true
	if s.Parent != nil && s.Parent.Session != "" {
		x.links = append(x.links, link{x.at, "/parent/session", s.ID, s.Agent, s.Parent.Session})
	}
	for i, child := range s.Children {
		if child.Session != "" {
			x.links = append(x.links, link{x.at, "/children/" + strconv.Itoa(i) + "/session", s.ID, s.Agent, child.Session})
		}
	}
	x.s.branches = s.Branches
}

func key(agent, id string) string { return agent + "\x00" + id }

// relatives reports links to sessions that are not in the store.
func (x *examination) relatives() {
	for _, l := range x.links {
		if !x.sessions[key(l.agent, l.id)] {
			x.at, x.s = l.at, &conversation{id: l.from}
			x.found("RH397", l.pointer, "session %q", l.id)
		}
	}
}
