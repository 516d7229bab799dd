package opencode

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"iter"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"rehome/formats"
	"rehome/formats/internal/lineclient"
	"rehome/formats/internal/members"
	"rehome/formats/internal/plainfiles"
	"rehome/formats/internal/rowclient"
	"rehome/formats/loss"
	"rehome/formats/session"
	"rehome/formats/store"
	"rehome/internal/rawjson"
)

// Export is the codec of the files that `opencode export` writes and `opencode import` takes.
func Export() *formats.Format {
	c := rowclient.Client{Client: lineclient.Prepare(client(exportName)), Open: openExport}
	return &formats.Format{
		Name:     exportName,
		Title:    "a session as OpenCode exports and imports it",
		Clients:  []string{name},
		Known:    c.Known(),
		Probe:    probeExport,
		Strays:   strays,
		Plain:    plainfiles.Records(exportName),
		Sessions: c.Sessions(),
		Check:    checkExport,
		Home:     waiting(),
		Writer: &formats.Writer{
			New:        func() formats.Sink { return sink{c} },
			Path:       func(h *session.Head) string { return sessionID(h) + ".json" },
			ID:         sessionID,
			Unmodified: unmodified,
			Losses:     append(c.Losses(), loss.ResultMoved),
		},
	}
}

// opening is how a file begins, without its white space.
const opening = `{"info":{"id":"ses`

func probeExport(_ context.Context, l *formats.Location) (formats.Match, error) {
	if l.IsDir() {
		if len(exports(l)) == 0 {
			return formats.Match{}, nil
		}
		return formats.Match{Score: 80, Evidence: []string{"a folder with exported sessions of OpenCode"}}, nil
	}
	if !opens(l.Head()) {
		return formats.Match{}, nil
	}
	return formats.Match{Score: 85, Evidence: []string{"an object that begins with the info of a session of OpenCode"}}, nil
}

func opens(head []byte) bool {
	return bytes.HasPrefix(head, []byte("{")) && bytes.HasPrefix(bytes.Join(bytes.Fields(head), nil), []byte(opening))
}

// maxFiles is how many files of a folder are looked at.
const maxFiles = 10_000

// exports are the files of sessions in a folder.
func exports(l *formats.Location) (out []string) {
	entries, err := os.ReadDir(l.Path)
	if err != nil {
		return nil
	}
	for _, e := range entries[:min(len(entries), maxFiles)] {
		if path.Ext(e.Name()) == ".json" && e.Type().IsRegular() && opens(l.Join(e.Name()).Head()) {
			out = append(out, e.Name())
		}
	}
	return out
}

// strays are the other entries of a folder.
func strays(l *formats.Location) (out []string) {
	have := exports(l)
	entries, _ := os.ReadDir(l.Path)
	for _, e := range entries {
		if !slices.Contains(have, e.Name()) {
			out = append(out, e.Name())
		}
	}
	return out
}

// files are one file, or those of a folder. One at a time is in memory.
type files struct {
	paths []string
	now   *export
}

// export is a file.
type export struct {
	path string
	info []byte
	rest []session.Extra // what stands beside the info and the messages
	list []exported
}

// exported is a message, as a view of the file.
type exported struct {
	id  string
	at  int64
	raw []byte
	n   int // in the file, from 1
}

// maxExport is how large a file can be: it is one value, which is read as a whole.
const maxExport = 1 << 30

func openExport(_ context.Context, l *formats.Location, _ formats.View) (rowclient.Store, error) {
	x := &files{paths: []string{l.Path}}
	if l.IsDir() {
		x.paths = nil
		for _, name := range exports(l) {
			x.paths = append(x.paths, filepath.Join(l.Path, name))
		}
	}
	return x, nil
}

// file reads a file, unless it is the one at hand.
func (x *files) file(path string) (*export, error) {
	if x.now != nil && x.now.path == path {
		return x.now, nil
	}
	b, err := readFile(path)
	if err != nil {
		return nil, err
	}
	doc, _, err := rawjson.Line(bytes.TrimSpace(bytes.TrimPrefix(b, []byte("\ufeff"))))
	one := &export{path: path, info: rawjson.Last(doc, "info"), rest: beside(doc, "info", "messages", mark)}
	if err == nil && rawjson.TextAt(one.info, "id") == "" {
		err = errors.New("no info of a session with an id")
	}
	if err != nil {
		return nil, &formats.Error{Format: exportName, At: path, Err: err, Hint: "export the session again"}
	}
	for raw := range rawjson.Elements(rawjson.Last(doc, "messages")) {
		info := rawjson.Last(raw, "info")
		at, _ := members.Whole(rawjson.At(info, "time", "created"))
		one.list = append(one.list, exported{rawjson.TextAt(info, "id"), at, raw, len(one.list) + 1})
	}
	slices.SortStableFunc(one.list, func(a, b exported) int { return cmp.Or(cmp.Compare(a.at, b.at), strings.Compare(a.id, b.id)) })
	x.now = one
	return one, nil
}

// beside are the members of an object, but for some.
func beside(b []byte, but ...string) (out []session.Extra) {
	for n, v := range rawjson.Members(b) {
		if !slices.Contains(but, string(n)) {
			out = append(out, session.Extra{Name: string(n), Raw: bytes.Clone(v)})
		}
	}
	return out
}

// readFile reads a file that is not too large.
func readFile(path string) ([]byte, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	b, err := io.ReadAll(io.LimitReader(f, maxExport+1))
	if err == nil && len(b) > maxExport {
		err = &formats.Error{Format: exportName, At: path, Err: fmt.Errorf("larger than %d MB", maxExport>>20)}
	}
	return b, err
}

func (x *files) Sessions(context.Context) (out []*rowclient.Session, err error) {
	known := map[string]*rowclient.Session{}
	for _, path := range x.paths {
		one, err := x.file(path)
		if err != nil {
			return nil, err
		}
		s := sessionOf(one.info, one.rest...)
		if was := known[s.ID]; was != nil { // it was exported twice
			n := int64(len(one.list)) + 1
			was.Older.Add(session.Account{Read: n, Superseded: n})
			continue
		}
		known[s.ID] = s
		s.At, s.Older = path, session.Account{Read: 1, Converted: 1}
		for _, m := range one.list {
			s.Rows = append(s.Rows, []store.Addr{{File: filepath.Base(path), Set: "messages", RowID: int64(m.n), HasID: true}})
		}
		out = append(out, s)
	}
	return out, nil
}

func (x *files) Records(_ context.Context, s *rowclient.Session, from, to int) iter.Seq2[[]byte, error] {
	return func(yield func([]byte, error) bool) {
		one, err := x.file(s.At)
		if err == nil && len(one.list) < to {
			err = formats.Changed(exportName, s.At)
		}
		if err != nil {
			yield(nil, err)
			return
		}
		c := s.Own.(*conversation)
		gone := c.first(len(one.list), func(i int) string { return one.list[i].id })
		for i, m := range one.list[from:to] {
			said := &message{id: m.id, at: m.at, info: rawjson.Last(m.raw, "info")}
			said.rest = beside(m.raw, "info", "parts")
			for raw := range rawjson.Elements(rawjson.Last(m.raw, "parts")) {
				said.parts = append(said.parts, part{rawjson.TextAt(raw, "id"), raw})
			}
			slices.SortStableFunc(said.parts, func(a, b part) int { return strings.Compare(a.id, b.id) })
			if !yield(c.record(said, from+i >= gone), nil) {
				return
			}
		}
	}
}

func (x *files) Scan(_ context.Context, s *formats.Scan) error {
	scanWords(s)
	for _, path := range x.paths {
		one, err := x.file(path)
		if err != nil {
			return err
		}
		for _, m := range one.list {
			s.Take(rawjson.TextAt(one.info, "id"), m.raw)
		}
	}
	return nil
}

func (x *files) Close() error { return nil }
