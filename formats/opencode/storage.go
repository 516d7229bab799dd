package opencode

import (
	"bytes"
	"cmp"
	"context"
	"io/fs"
	"iter"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"rehome/formats"
	"rehome/formats/internal/jsonl"
	"rehome/formats/internal/lineclient"
	"rehome/formats/internal/lines"
	"rehome/formats/internal/members"
	"rehome/formats/internal/plainfiles"
	"rehome/formats/internal/rowclient"
	"rehome/formats/loss"
	"rehome/formats/rule"
	"rehome/formats/session"
	"rehome/formats/store"
	"rehome/internal/rawjson"
)

const storageName = "opencode-json"

// Storage is the codec of the folder in which OpenCode kept its sessions before it had a database.
func Storage() *formats.Format {
	c := rowclient.Client{Client: lineclient.Prepare(client(storageName)), Open: openStorage}
	return &formats.Format{
		Name:     storageName,
		Title:    "sessions of OpenCode before 1.2 (storage/…/*.json)",
		Clients:  []string{name},
		Known:    c.Known(),
		Probe:    probeStorage,
		Plain:    plainfiles.Records(storageName, ".json"),
		Sessions: c.Sessions(),
		Check: func(ctx context.Context, l *formats.Location, v formats.View, q *rule.Pass) error {
			st, err := openStorage(ctx, l, v)
			if err != nil {
				return err
			}
			defer st.Close()
			if !q.Enabled(rule.Meaning) {
				return nil
			}
			return calls(ctx, st, l, q)
		},
		// They are in the folder of the database. OpenCode 1.2 and later do not resume them, but imports what is made of them.
		Home: &formats.Home{Title: people, Roots: func(formats.Machine) []string { return nil }},
	}
}

func probeStorage(_ context.Context, l *formats.Location) (formats.Match, error) {
	if !l.IsDir() {
		return formats.Match{}, nil
	}
	root, err := os.OpenRoot(l.Path)
	if err != nil {
		return formats.Match{}, nil // opening it will say why
	}
	defer root.Close()
	if !slices.ContainsFunc(sessionFiles(root), func(p string) bool { return isFile(root, p) }) {
		return formats.Match{}, nil
	}
	return formats.Match{Score: 80, Evidence: []string{"a folder with files session/…/ses_….json of OpenCode"}}, nil
}

// sessionFiles are the files that are named like one of a session.
func sessionFiles(root *os.Root) []string {
	list, _ := fs.Glob(root.FS(), "session/*/ses_*.json")
	return list
}

func isFile(root *os.Root, p string) bool {
	info, err := root.Stat(p)
	return err == nil && info.Mode().IsRegular()
}

// storage is an open folder: a file for each session, message and part.
type storage struct {
	root  *os.Root
	view  formats.View
	newer map[string]bool // sessions that a database beside it has, too
}

func openStorage(ctx context.Context, l *formats.Location, v formats.View) (rowclient.Store, error) {
	newer := map[string]bool{}
	beside, _ := filepath.Glob(filepath.Join(filepath.Dir(l.Path), name+"*.db"))
	for _, p := range beside {
		db, err := rowclient.OpenDatabase(ctx, p, formats.View{Live: v.Live}, nil)
		if err != nil {
			continue // whoever reads it says why, and what it has cannot be told
		}
		err = db.All(ctx, "session", []string{"id"}, func(_ int64, c []store.Cell) { newer[rowclient.Text(c[0])] = true })
		if closed := db.Close(); cmp.Or(err, closed) != nil {
			return nil, cmp.Or(err, closed)
		}
	}
	root, err := os.OpenRoot(l.Path)
	return &storage{root, v, newer}, err
}

// Sessions reads the files of sessions, and lists those of their messages and parts.
func (x *storage) Sessions(ctx context.Context) (out []*rowclient.Session, err error) {
	known := map[string]*rowclient.Session{}
	for _, p := range sessionFiles(x.root) {
		id := idOf(p)
		if was := known[id]; was != nil { // it is in the folders of two projects
			was.Older.Add(session.Account{Read: 1, Superseded: 1})
			continue
		}
		if x.newer[id] || !isFile(x.root, p) {
			continue
		}
		info, err := x.read(p)
		if err = cmp.Or(err, ctx.Err()); err != nil {
			return nil, err
		}
		s := x.session(id, p, info)
		for _, m := range x.list("message", id) {
			rows := []store.Addr{{File: m}}
			for _, part := range x.list("part", idOf(m)) {
				rows = append(rows, store.Addr{File: part})
			}
			s.Rows = append(s.Rows, rows)
		}
		known[id], out = s, append(out, s)
	}
	return out, nil
}

// session makes a session of its file, and of those beside that are named like it.
func (x *storage) session(id, file string, info jsonl.Line) *rowclient.Session {
	if info.Object == nil {
		info.Bad = cmp.Or(info.Bad, loss.LineNotObject) // also if it is empty
	}
	s := sessionOf(info.Object)
	s.ID, s.At = id, filepath.Join(x.root.Name(), filepath.FromSlash(file)) // OpenCode knows it by the name of its file
	s.Older = session.Account{}
	if info.Account(&s.Older, nil, store.Addr{}) {
		s.Older.Converted++
	}
	beside := []string{path.Join("todo", id+".json"), path.Join("session_diff", id+".json")}
	for _, p := range beside {
		if isFile(x.root, p) {
			s.Older.Add(session.Account{Read: 1, Converted: 1})
		}
	}
	fill := s.Fill
	s.Fill = func(out *session.Session) {
		fill(out)
		info.Account(&session.Account{}, x.view.OnLoss, store.Addr{File: file})
		todos, _ := x.read(beside[0])
		out.Todos = todosOf(todos.Bytes)
		if diff, _ := x.read(beside[1]); len(diff.Bytes) > 0 && string(diff.Bytes) != "[]" {
			out.Extras = append(out.Extras, session.Extra{Name: "session_diff", Raw: diff.Bytes})
		}
	}
	return s
}

func todosOf(list []byte) (out []session.Todo) {
	for raw := range rawjson.Elements(list) {
		f := fields(raw)
		out = append(out, session.Todo{ID: f.Text("id"), Content: f.Text("content"), Status: f.Text("status"), Extras: f.Rest()})
	}
	return out
}

// idOf is the id that a file is named by.
func idOf(file string) string { return strings.TrimSuffix(path.Base(file), ".json") }

// list are the files of a folder, in the order of their ids: that of the conversation.
func (x *storage) list(folder, id string) (out []string) {
	entries, _ := fs.ReadDir(x.root.FS(), path.Join(folder, id)) // sorted; no folder has no files
	for _, e := range entries {
		if e.Type().IsRegular() && path.Ext(e.Name()) == ".json" {
			out = append(out, path.Join(folder, id, e.Name()))
		}
	}
	return out
}

// read reads a file as if it were a line, which it is then if it is JSON.
func (x *storage) read(file string) (jsonl.Line, error) {
	info, err := x.root.Stat(file)
	if err != nil || !info.Mode().IsRegular() || info.Size() > jsonl.MaxLine {
		return jsonl.Parse(lines.Line{Long: err == nil}), err
	}
	b, err := x.root.ReadFile(file)
	if line, _, bad := rawjson.Line(bytes.TrimSpace(b)); bad == nil {
		b = line
	}
	return jsonl.Parse(lines.Line{Bytes: b, Ended: true}), err
}

// Records makes records of messages.
func (x *storage) Records(_ context.Context, s *rowclient.Session, from, to int) iter.Seq2[[]byte, error] {
	return func(yield func([]byte, error) bool) {
		c := s.Own.(*conversation)
		gone := c.first(len(s.Rows), func(i int) string { return idOf(s.Rows[i][0].File) })
		for i, rows := range s.Rows[from:to] {
			said := &message{id: idOf(rows[0].File)}
			for n, at := range rows {
				l, err := x.read(at.File)
				if err != nil {
					yield(nil, err)
					return
				}
				if n > 0 {
					said.parts = append(said.parts, part{idOf(at.File), l.Bytes})
					continue
				}
				said.info = l.Bytes
				said.at, _ = members.Whole(rawjson.At(l.Bytes, "time", "created"))
			}
			if !yield(c.record(said, from+i >= gone), nil) {
				return
			}
		}
	}
}

// Scan searches messages and parts.
func (x *storage) Scan(ctx context.Context, s *formats.Scan) error {
	scanWords(s)
	list, err := x.Sessions(ctx)
	if err != nil {
		return err
	}
	for _, of := range list {
		for _, rows := range of.Rows {
			for _, at := range rows {
				l, err := x.read(at.File)
				if err = cmp.Or(err, ctx.Err()); err != nil {
					return err
				}
				s.Take(of.ID, l.Bytes)
			}
		}
	}
	return nil
}

func (x *storage) Close() error { return x.root.Close() }
