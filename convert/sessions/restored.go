package sessions

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"os"
	"path/filepath"
	"strings"

	"rehome/formats"
	"rehome/formats/loss"
	"rehome/formats/session"
	"rehome/formats/store"
	"rehome/internal/scratch"
)

// Readable returns f or, if f is text of stores whose sessions it cannot read itself,
// such as an archive, the same format with sessions: those of the store that the text
// was made from, which is restored to a private folder each time it is read.
func Readable(reg *formats.Registry, f *formats.Format) *formats.Format {
	if f.Sessions != nil || !f.Text || f.Records == nil {
		return f
	}
	t := *f
	r := restorer{reg, f}
	t.Sessions = &formats.Sessions{Decode: r.decode, Heads: r.heads}
	return &t
}

// restorer reads the sessions of text by restoring its store.
type restorer struct {
	reg  *formats.Registry
	text *formats.Format
}

func (r restorer) decode(ctx context.Context, l *formats.Location, v formats.View, sel session.Selection) iter.Seq2[*session.Session, error] {
	return restored(ctx, r, l, v, func(of *formats.Format, loc *formats.Location) iter.Seq2[*session.Session, error] {
		return of.Sessions.Decode(ctx, loc, v, sel)
	})
}

func (r restorer) heads(ctx context.Context, l *formats.Location, v formats.View) iter.Seq2[*session.Head, error] {
	return restored(ctx, r, l, v, func(of *formats.Format, loc *formats.Location) iter.Seq2[*session.Head, error] {
		return listHeads(ctx, of, loc, v)
	})
}

// restored yields what read yields of the restored store. Errors name the text.
func restored[T any](ctx context.Context, r restorer, l *formats.Location, v formats.View, read func(*formats.Format, *formats.Location) iter.Seq2[*T, error]) iter.Seq2[*T, error] {
	return func(yield func(*T, error) bool) {
		dir, err := scratch.New("", "restored")
		if err != nil {
			yield(nil, err)
			return
		}
		defer dir.Remove()
		of, loc, err := Restore(ctx, r.reg, r.text, l, dir.Path, v, MaxRestored)
		if err != nil {
			yield(nil, err)
			return
		}
		for one, err := range read(of, loc) {
			if err != nil {
				err = formats.ReplacePath(err, loc.Path, l.Path)
			}
			if !yield(one, err) {
				return
			}
		}
	}
}

// MaxRestored is how much is restored to read it: compressed text can be much smaller
// than its store.
const MaxRestored = 2 << 30

// numberSize is what each value counts in addition to its text, in bytes.
const numberSize = 8

// maxIndexed is how many times the limit of restored records their indexes may take, if
// each held the whole record. Those of clients hold keys; a hostile archive can declare
// many indexes of its content.
const maxIndexed = 2

// indexCounts returns how many indexes each set of a schema may have, at most.
func indexCounts(s *store.Schema) []int64 {
	out := make([]int64, len(s.Sets))
	for i, set := range s.Sets {
		for _, db := range s.Databases {
			for _, o := range db.Objects {
				switch sql := strings.ToUpper(o.SQL); {
				case db.Path != set.File || !strings.EqualFold(o.Table, set.Name):
				case o.Type == "index":
					out[i]++
				case o.Type == "table": // automatic ones
					out[i] += int64(strings.Count(sql, "UNIQUE") + strings.Count(sql, "PRIMARY"))
				}
			}
		}
	}
	return out
}

// listHeads yields the heads of a store's sessions. It decodes them if only that
// can list them.
func listHeads(ctx context.Context, f *formats.Format, l *formats.Location, v formats.View) iter.Seq2[*session.Head, error] {
	if f.Sessions.Heads != nil {
		return f.Sessions.Heads(ctx, l, v)
	}
	return func(yield func(*session.Head, error) bool) {
		for s, err := range f.Sessions.Decode(ctx, l, v, session.Selection{}) {
			var head *session.Head
			if s != nil {
				h, _ := countSession(s)
				head = &h
			}
			if !yield(head, err) {
				return
			}
		}
	}
}

// Origin returns the name of the format that text was made from. It opens the text
// only for its schema.
func Origin(ctx context.Context, text *formats.Format, l *formats.Location) (string, error) {
	r, err := text.Records.Open(ctx, l, formats.FullView(1))
	if err != nil {
		return "", err
	}
	origin := r.Schema().Origin
	return origin, r.Close()
}

// Restore restores the store that text was made from, without its secrets, in dir,
// unless its records take more than limit bytes; 0 means no limit. It returns the
// store's format and location.
func Restore(ctx context.Context, reg *formats.Registry, text *formats.Format, l *formats.Location, dir string, v formats.View, limit int64) (*formats.Format, *formats.Location, error) {
	origin, err := Origin(ctx, text, l)
	if err != nil {
		return nil, nil, err
	}
	of := reg.Lookup(origin)
	if of == nil || of.Sessions == nil || !formats.Related(text, of) {
		return nil, nil, &formats.Error{Format: text.Name, At: l.Path, Err: fmt.Errorf("%w: it was made from %q", ErrUnsupported, origin), Hint: "run `rehome formats` to see which formats have sessions"}
	}
	path, err := restoredPath(dir, l.Path)
	if err == nil {
		err = copyRecords(ctx, of, text, l, path, v, limit)
	}
	if err != nil {
		return nil, nil, formats.ReplacePath(err, path, l.Path)
	}
	loc, err := formats.Locate(path)
	return of, loc, err
}

// restoredPath returns where in dir the store of the text at path is restored.
// Clients name stores after the folders they are in, so those two names stay.
func restoredPath(dir, path string) (string, error) {
	at, err := filepath.Abs(path)
	if err != nil {
		return "", err
	}
	parent := filepath.Base(filepath.Dir(at))
	if parent == string(filepath.Separator) || strings.ContainsAny(parent, `:\/`) {
		parent = "folder"
	}
	return filepath.Join(dir, parent, filepath.Base(at)), os.MkdirAll(filepath.Join(dir, parent), 0o700)
}

func copyRecords(ctx context.Context, of, text *formats.Format, l *formats.Location, path string, v formats.View, limit int64) (err error) {
	kind := formats.SharedKind(text, of)
	r, err := text.Records.Open(ctx, l, formats.View{
		Kind: kind, Secrets: formats.OmitWithheld, OnOmit: func(store.SidecarItem) {}, OnLoss: func(loss.Loss) {}, OnNotice: v.OnNotice, Verbose: v.Verbose, Jobs: v.Jobs,
	})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, r.Close()) }()
	w, err := of.Records.Create(ctx, formats.Build{
		Path: path, Schema: r.Schema(), Jobs: v.Jobs, OnSidecar: func(store.SidecarItem) {}, OnLoss: func(loss.Loss) {},
	})
	if err != nil {
		return err
	}
	defer w.Close()
	size, indexed, indexes := int64(0), int64(0), indexCounts(r.Schema())
	for b, err := range r.Batches(ctx) {
		if err == nil {
			n := int64(b.Size() + b.Rows()*b.Width()*numberSize)
			size, indexed = size+n, indexed+n*indexes[b.Set]
			if limit > 0 && (size > limit || indexed > maxIndexed*limit) {
				return &formats.Error{At: l.Path, Err: fmt.Errorf("holds more than %d MB, too much to restore to a temporary folder", limit>>20), Hint: "restore it first: `rehome convert ARCHIVE STORE`"}
			}
			err = w.Put(ctx, b)
		}
		if err != nil {
			return err
		}
	}
	return errors.Join(ctx.Err(), w.Finish(ctx), w.Close())
}
