package rowclient

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"iter"
	"os"
	"path/filepath"
	"regexp"

	"rehome/formats"
	"rehome/formats/internal/lineclient"
	"rehome/formats/internal/plainfiles"
	"rehome/formats/loss"
	"rehome/formats/rule"
	"rehome/formats/session"
	"rehome/formats/store"
	"rehome/internal/rawjson"
)

// Document is a client whose sessions are files that are one value of JSON each.
type Document struct {
	Client lineclient.Client
	Begins *regexp.Regexp // how a file does, without its white space
	List   string         // the member with its records

	// Session makes a session of a file, and reports whether its title is the first prompt.
	Session func(path string, doc []byte) (s *Session, prompted bool)
}

// Format returns the format of such files.
func (d Document) Format() *formats.Format {
	name, list := d.Client.Name, []byte(`"`+d.List+`"`)
	c := Client{Client: lineclient.Prepare(d.Client), Open: d.open}
	return &formats.Format{
		Name:    name,
		Title:   d.Client.About,
		Clients: []string{d.Client.Agent},
		Known:   c.Known(),
		Probe: func(_ context.Context, l *formats.Location) (formats.Match, error) {
			if l.IsDir() || !bytes.Contains(l.Head(), list) || !d.Begins.Match(bytes.Join(bytes.Fields(l.Head()), nil)) {
				return formats.Match{}, nil
			}
			if first := l.FirstLine(); rawjson.Valid(first) && rawjson.Last(first, d.List) == nil {
				return formats.Match{}, nil // the head of a file of lines
			}
			return formats.Match{Score: 85, Evidence: []string{"an object that begins like " + d.Client.About}}, nil
		},
		Plain:    plainfiles.Records(name),
		Sessions: c.Sessions(),
		Check: func(ctx context.Context, l *formats.Location, v formats.View, q *rule.Pass) error {
			_, err := d.open(ctx, l, v)
			if errors.Is(err, errDamaged) && q.Enabled(rule.Container) {
				q.Reportf("RH131", store.Addr{File: filepath.Base(l.Path)}, "%s", formats.Cause(err))
				err = nil
			}
			return cmp.Or(err, ctx.Err())
		},
		Home: d.Client.Home,
	}
}

// errDamaged is that of a file which is not what it begins like.
var errDamaged = errors.New("not valid JSON")

// maxDocument is how large a file can be, which is read as a whole.
const maxDocument = 1 << 30

// document is an open file.
type document struct {
	s    *Session
	doc  []byte
	list [][]byte
}

func (d Document) open(_ context.Context, l *formats.Location, v formats.View) (Store, error) {
	info, err := os.Stat(l.Path)
	if err == nil && info.Size() > maxDocument {
		err = fmt.Errorf("larger than %d MB", maxDocument>>20)
	}
	var b []byte
	if err == nil {
		b, err = os.ReadFile(l.Path)
	}
	x := &document{}
	if err == nil {
		if x.doc, _, err = rawjson.Line(bytes.TrimSpace(bytes.TrimPrefix(b, []byte("\ufeff")))); err != nil {
			err = fmt.Errorf("%w: %w", errDamaged, err)
		}
	}
	if err == nil && rawjson.Last(x.doc, d.List) == nil {
		err = fmt.Errorf("%w: it has no list of messages", errDamaged)
	}
	if err != nil {
		return nil, &formats.Error{Format: d.Client.Name, At: l.Path, Err: formats.Cause(err), Hint: "restore the file from a backup"}
	}
	s, prompted := d.Session(l.Path, x.doc)
	s.At, s.Older, s.Bytes = l.Path, session.Account{Read: 1, Converted: 1}, int64(len(b))
	fill := s.Fill
	s.Fill = func(out *session.Session) {
		if fill(out); prompted {
			v.OnLoss.Add(loss.Loss{Code: loss.TitleFromPrompt, At: store.Addr{File: filepath.Base(l.Path)}})
		}
	}
	x.s = s
	for raw := range rawjson.Elements(rawjson.Last(x.doc, d.List)) {
		x.list = append(x.list, raw)
		x.s.Rows = append(x.s.Rows, []store.Addr{{File: filepath.Base(l.Path), Set: d.List, RowID: int64(len(x.list)), HasID: true}})
	}
	return x, nil
}

func (x *document) Sessions(context.Context) ([]*Session, error) { return []*Session{x.s}, nil }

func (x *document) Records(_ context.Context, _ *Session, from, to int) iter.Seq2[[]byte, error] {
	return func(yield func([]byte, error) bool) {
		for _, raw := range x.list[from:to] {
			if !yield(raw, nil) {
				return
			}
		}
	}
}

func (x *document) Scan(_ context.Context, s *formats.Scan) error {
	s.Take(x.s.ID, x.doc)
	return nil
}

func (x *document) Close() error { return nil }
