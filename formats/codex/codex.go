package codex

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"iter"
	"path"
	"path/filepath"
	"strings"

	"rehome/formats"
	"rehome/formats/internal/jsonl"
	"rehome/formats/internal/rawjson"
	"rehome/formats/session"
	"rehome/formats/store"
)

const name = "codex"

// Format is the codec.
func Format() *formats.Format {
	return &formats.Format{
		Name:    name,
		Title:   "sessions of the Codex CLI (rollouts), read only",
		Clients: []string{session.Codex},
		Probe:   probe,
		Sessions: &formats.Sessions{
			Decode: decode,
			Heads:  heads,
		},
		Home: &formats.Home{
			Roots: home,
		},
		Check: check,
	}
}

// home is CODEX_HOME, which holds the client's settings and databases, too.
func home(m formats.Machine) []string {
	return []string{cmp.Or(m.Env("CODEX_HOME"), filepath.Join(m.Home, ".codex"))}
}

func probe(_ context.Context, l *formats.Location) (formats.Match, error) {
	if l.IsDir() {
		if jsonl.Holds(l, layout()) {
			return formats.Match{Score: 90, Evidence: []string{"a folder with rollouts"}}, nil
		}
		return formats.Match{}, nil
	}
	_, named := rolloutID(l.Name())
	first := l.FirstLine()
	switch {
	case text(first, "type") == "session_meta" && at(first, "payload", "id") != nil:
		return formats.Match{Score: 90, Evidence: []string{"a first line of type session_meta with an id"}}, nil
	case named && at(first, "id") != nil && at(first, "timestamp") != nil:
		return formats.Match{Score: 85, Evidence: []string{"named like a rollout", "a first line with an id and a timestamp"}}, nil
	case named && strings.HasPrefix(string(l.Head()), "\x28\xb5\x2f\xfd"):
		return formats.Match{Score: 85, Evidence: []string{"named like a rollout", "compressed with zstd"}}, nil
	}
	return formats.Match{}, nil
}

// layout finds the rollouts of a store, in the order in which the sessions began, so
// that parents come before subagents. For a single file the store around it is
// opened, because the beginning of a forked session is in another file.
func layout() jsonl.Layout {
	return jsonl.Layout{
		Format: name,
		Around: around,
		Enter: func(dir string) bool {
			top, _, inner := strings.Cut(dir, "/")
			return isTop(top) && !inner || isDate(path.Base(dir)) && strings.Count(dir, "/") < 4
		},
		Match: func(p string, named bool) (jsonl.File, bool) {
			id, ok := rolloutID(path.Base(p))
			if !ok {
				id = strings.TrimSuffix(path.Base(p), path.Ext(p))
			}
			return jsonl.File{ID: id}, ok || named
		},
		Compare: func(a, b *jsonl.File) int { return strings.Compare(path.Base(a.Path), path.Base(b.Path)) },
		Better:  func(a, _ *jsonl.File) bool { return !a.Packed() },
	}
}

// around returns the store that a file lies in.
func around(file string) string {
	dir := filepath.Dir(file)
	for top := dir; ; top = filepath.Dir(top) {
		switch base := filepath.Base(top); {
		case isTop(base):
			return filepath.Dir(top)
		case !isDate(base):
			return dir
		}
	}
}

// isTop reports whether a folder of CODEX_HOME has rollouts.
func isTop(name string) bool { return name == "sessions" || name == "archived_sessions" }

// isDate reports whether a folder is that of a year, a month or a day.
func isDate(name string) bool {
	return (len(name) == 2 || len(name) == 4) && strings.Trim(name, "0123456789") == ""
}

// rolloutID returns the session's id from a file name such as
// rollout-2026-11-22T10-31-27-01a202cf-91d2-7502-9981-377fadfd9546.jsonl.
func rolloutID(file string) (string, bool) {
	const stamp, uuid = len("2006-01-02T15-04-05-"), 36
	rest, ok := strings.CutPrefix(file, "rollout-")
	rest, plain := strings.CutSuffix(strings.TrimSuffix(rest, ".zst"), ".jsonl")
	if !ok || !plain || len(rest) != stamp+uuid {
		return "", false
	}
	return rest[stamp:], true
}

// at returns the value of a member of a member of an object, and text its text.
func at(b []byte, names ...string) []byte {
	for _, n := range names {
		b = rawjson.Last(b, n)
	}
	return b
}

func text(b []byte, names ...string) string { return rawjson.Text(at(b, names...)) }

// record is one line. It is valid until the next one.
type record struct {
	jsonl.Line
	id   string // of the message that comes from it
	at   store.Addr
	time session.Stamp
	kind string // type of the line; "" if it is blank or unreadable
	sub  string // type of what it holds
	body []byte // what it holds
}

// parse reads a line. Early clients (0.20.0) wrote the items without anything
// around them, and the session's head as an object with an id and no type.
func parse(l jsonl.Line, s source) record {
	r := record{Line: l, id: fmt.Sprintf("line-%d", l.Number), at: store.Addr{File: s.Name, Line: l.Number}}
	if s.base > 0 {
		r.id = fmt.Sprintf("base%d-%s", s.base, r.id)
	}
	if l.Object == nil {
		return r
	}
	for n, v := range rawjson.Members(l.Object) {
		switch string(n) {
		case "timestamp":
			r.time = jsonl.Time(v)
		case "type":
			r.kind = rawjson.Text(v)
		case "payload":
			r.body = v
		}
	}
	switch {
	case r.body != nil && r.kind != "":
		r.sub = text(r.body, "type")
	case r.kind != "":
		r.kind, r.sub, r.body = "response_item", r.kind, l.Object
	case at(l.Object, "record_type") != nil:
		r.kind = "state"
	case at(l.Object, "id") != nil:
		r.kind, r.body = "session_meta", l.Object
	default:
		r.kind = "unknown"
	}
	return r
}

// heads lists a store by the ends of its files.
func heads(ctx context.Context, l *formats.Location, v formats.View) iter.Seq2[*session.Head, error] {
	return jsonl.Each(ctx, l, layout(), func(s *jsonl.Store, f *jsonl.File, yield func(*session.Head, error) bool) bool {
		h, _, err := head(ctx, s, f, v.Cwd)
		return yield(&h, err)
	})
}

// maxMeta is how much of a file is read for its first line, which has the system
// prompt and the tools.
const maxMeta = 8 << 20

// head returns what the ends of a file state, and the session_meta.
func head(ctx context.Context, s *jsonl.Store, f *jsonl.File, cwd string) (h session.Head, meta []byte, err error) {
	h = session.Head{ID: f.ID, Agent: session.Codex, Workspace: cwd, Turns: -1, Bytes: -1}
	ends, err := s.Ends(f)
	if err != nil {
		return h, nil, err
	}
	h.Bytes = ends.Size
	for l, err := range s.Lines(ctx, f, maxMeta) {
		if err != nil {
			return h, meta, err
		}
		r := parse(l, source{File: f})
		if l.Offset > jsonl.MaxEnd {
			break
		}
		if r.kind == "session_meta" && meta == nil {
			meta = bytes.Clone(r.body)
		}
		if h.Title = r.prompt(); h.Title != "" {
			break
		}
	}
	h.Created, h.Workspace = jsonl.Time(at(meta, "timestamp")), cmp.Or(cwd, text(meta, "cwd"))
	spawn := at(meta, "source", "subagent", "thread_spawn")
	if id := text(spawn, "parent_thread_id"); id != "" && id != f.ID {
		h.Parent = &session.Link{Session: id, Title: text(spawn, "agent_nickname"), Kind: text(spawn, "agent_role")}
	}
	if f.Packed() {
		return h, meta, nil // its end cannot be read without the rest
	}
	for line := range bytes.Lines(ends.Tail) {
		if t := jsonl.Time(at(line, "timestamp")); line[0] == '{' && t.Known() {
			h.Updated = t
		}
	}
	return h, meta, nil
}
