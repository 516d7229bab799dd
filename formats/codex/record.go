package codex

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"iter"
	"os"
	"path"
	"strings"
	"time"

	"rehome/formats"
	"rehome/formats/internal/lines"
	"rehome/formats/internal/packed"
	"rehome/formats/internal/rawjson"
	"rehome/formats/loss"
	"rehome/formats/session"
	"rehome/formats/store"
)

const (
	maxLine = 64 << 20 // bytes of a line
	maxHead = 64 << 10 // bytes of each end of a file that are read to list it
	maxMeta = 8 << 20  // and what the first line may have, with a system prompt and tools
	maxBase = 32       // files that a fork of a fork is read from
)

// record is one line. body and line are valid until the next one.
type record struct {
	id   string // of the message that comes from it
	at   store.Addr
	time session.Stamp
	kind string // type of the line; "" if it is blank or could not be read
	sub  string // type of what it holds
	body []byte // what it holds
	line []byte
	from int64     // where the line begins
	bad  loss.Code // why it could not be read
	fix  bool      // invalid UTF-8 was replaced
}

// parse reads a line. Early clients (0.20.0) wrote the items without anything
// around them, and the session's head as an object with an id and no type.
func parse(l *lines.Line, file string) record {
	r := record{id: fmt.Sprintf("line-%d", l.Number), from: l.Offset, at: store.Addr{File: file, Line: l.Number}}
	if l.Long {
		r.bad = loss.LineTooLong
		return r
	}
	if l.Blank() {
		return r
	}
	b, fixed, err := rawjson.Line(bytes.TrimSpace(l.Bytes))
	switch {
	case err != nil && !l.Ended:
		r.bad = loss.LineTorn
		return r
	case err != nil || b[0] != '{':
		r.bad = loss.LineNotObject
		return r
	}
	r.line, r.fix = b, fixed
	var stamp, kind []byte
	for n, v := range rawjson.Members(b) {
		switch string(n) {
		case "timestamp":
			stamp = v
		case "type":
			kind = v
		case "payload":
			r.body = v
		}
	}
	if t, err := time.Parse(time.RFC3339Nano, rawjson.Text(stamp)); err == nil {
		r.time = session.Stored(t.UnixMilli())
	}
	switch r.kind = rawjson.Text(kind); {
	case r.body != nil && r.kind != "":
		r.sub = rawjson.Text(rawjson.Last(r.body, "type"))
	case r.kind != "":
		r.kind, r.sub, r.body = "response_item", r.kind, b
	case rawjson.Last(b, "record_type") != nil:
		r.kind = "state"
	case rawjson.Last(b, "id") != nil:
		r.kind, r.body = "session_meta", b
	default:
		r.kind = "unknown"
	}
	return r
}

// source is a file that a session, or the beginning of one, is read from.
type source struct {
	*entry
	end  int64 // where to stop
	base int   // how many forks lie between this file and the session; 0 for its own
}

// records yields the lines of a file.
func (f *folder) records(ctx context.Context, s source) iter.Seq2[record, error] {
	return func(yield func(record, error) bool) {
		file, err := f.root.Open(s.path)
		if err != nil {
			yield(record{}, err)
			return
		}
		defer file.Close()
		in, err := unpacked(file, s.path)
		if err != nil {
			yield(record{}, err)
			return
		}
		defer in.Close()
		for l, err := range lines.Each(ctx, io.LimitReader(in, s.end), maxLine) {
			r := record{}
			if err == nil {
				r = parse(&l, s.shown)
			}
			if s.base > 0 {
				r.id = fmt.Sprintf("base%d-%s", s.base, r.id)
			}
			if !yield(r, err) || err != nil {
				return
			}
		}
	}
}

// unpacked reads a file that may be compressed.
func unpacked(file *os.File, name string) (io.ReadCloser, error) {
	if strings.HasSuffix(name, ".zst") {
		return packed.NewReader(file, 1)
	}
	return io.NopCloser(file), nil
}

// heads lists a store by the ends of its files.
func heads(ctx context.Context, l *formats.Location, v formats.View) iter.Seq2[*session.Head, error] {
	return func(yield func(*session.Head, error) bool) {
		f, err := open(l)
		if err != nil {
			yield(nil, failure(ctx, l.Path, err))
			return
		}
		defer f.root.Close()
		for _, e := range f.wanted() {
			h, _, err := f.head(ctx, e, v)
			if ctx.Err() != nil {
				yield(nil, ctx.Err())
				return
			}
			if err != nil {
				err = failure(ctx, e.path, err)
			}
			if !yield(&h, err) {
				return
			}
		}
	}
}

// head returns what the ends of a file state, and the session_meta.
func (f *folder) head(ctx context.Context, e *entry, v formats.View) (h session.Head, meta []byte, err error) {
	h = session.Head{ID: e.id, Agent: session.Codex, Workspace: v.Cwd, Turns: -1, Bytes: -1}
	file, err := f.root.Open(e.path)
	if err != nil {
		return h, nil, err
	}
	defer file.Close()
	info, err := file.Stat()
	if err != nil {
		return h, nil, err
	}
	h.Bytes = info.Size()
	for r, rerr := range f.records(ctx, source{entry: e, end: maxMeta}) {
		if rerr != nil {
			return h, meta, rerr
		}
		if r.from > maxHead {
			break
		}
		if r.kind == "session_meta" && meta == nil {
			meta = bytes.Clone(r.body)
		}
		if t := r.prompt(); t != "" {
			h.Title = t
			break
		}
	}
	h.Created = moment(rawjson.Last(meta, "timestamp"))
	if cwd := rawjson.Text(rawjson.Last(meta, "cwd")); h.Workspace == "" {
		h.Workspace = cwd
	}
	spawn := rawjson.Last(rawjson.Last(rawjson.Last(meta, "source"), "subagent"), "thread_spawn")
	if id := rawjson.Text(rawjson.Last(spawn, "parent_thread_id")); id != "" && id != e.id {
		h.Parent = &session.Link{Session: id, Title: rawjson.Text(rawjson.Last(spawn, "agent_nickname")), Kind: rawjson.Text(rawjson.Last(spawn, "agent_role"))}
	}
	if path.Ext(e.path) == ".zst" {
		return h, meta, nil // its end cannot be read without the rest
	}
	buffer := make([]byte, min(maxHead, h.Bytes))
	n, err := file.ReadAt(buffer, h.Bytes-int64(len(buffer)))
	if errors.Is(err, io.EOF) {
		err = nil
	}
	for line := range bytes.Lines(buffer[:n]) {
		if t := moment(rawjson.Last(line, "timestamp")); bytes.HasPrefix(line, []byte("{")) && t.Known() {
			h.Updated = t
		}
	}
	return h, meta, err
}

// moment reads a time.
func moment(raw []byte) session.Stamp {
	if t, err := time.Parse(time.RFC3339Nano, rawjson.Text(raw)); err == nil {
		return session.Stored(t.UnixMilli())
	}
	return session.Stamp{}
}
