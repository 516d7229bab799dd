package cursorchat

import (
	"bytes"
	"context"
	"encoding/hex"
	"iter"

	"rehome/formats"
	"rehome/formats/internal/filename"
	"rehome/formats/internal/forks"
	"rehome/formats/internal/sqlitestore"
	"rehome/formats/internal/storedb"
	"rehome/formats/internal/tally"
	"rehome/formats/store"
)

// merge says how two people's copies of a chat unite: blobs are only added.
func merge(shape sqlitestore.Shape) *formats.Merge {
	return &formats.Merge{
		Added: func(set *store.Set) bool { return set.Name == "blobs" },
		Fork:  func(id, digest string) string { return filename.NamedUUID("rehome/cursor-chat/fork/1\x00", id, digest) },
		Open: func(ctx context.Context, l *formats.Location, v formats.View, id, as string) (store.Reader, error) {
			r, err := shape.Open(ctx, l, v)
			if err != nil {
				return nil, err
			}
			return &fork{Reader: r, ids: map[string]string{id: as}}, nil
		},
	}
}

// fork reads a chat as a fork of it: its meta row and meta.json have another id and title.
type fork struct {
	store.Reader
	ids     map[string]string
	summary store.Summary
}

func (f *fork) Summary() store.Summary { return f.summary }

func (f *fork) Batches(ctx context.Context) iter.Seq2[*store.Batch, error] {
	return func(yield func(*store.Batch, error) bool) {
		sets := f.Schema().Sets
		f.summary = tally.Scan(len(sets), yield, func(t *tally.Tally) error {
			for b, err := range f.Reader.Batches(ctx) {
				if err != nil {
					return err
				}
				if set := &sets[b.Set]; set.Name == storedb.MetaTable || set.File == besideName {
					b = f.rewritten(set, b)
				}
				if err := t.Give(b); err != nil {
					return err
				}
			}
			return nil
		})
	}
}

// rewritten returns a batch with the rows of another one, as the fork has them.
func (f *fork) rewritten(set *store.Set, b *store.Batch) *store.Batch {
	defer b.Release()
	out := store.NewBatch(b.Set, b.Width())
	for i := range b.Rows() {
		out.Row(b.RowID(i))
		for col := range b.Width() {
			c := b.Cell(i, col)
			switch {
			case c.Class != store.Text && c.Class != store.Blob, set.Name == storedb.MetaTable && col == 0:
				out.Add(c)
			case set.Name != storedb.MetaTable:
				out.AddBytes(c.Class, f.document(c.Bytes(), "title"))
			default:
				text := storedb.MetaText(c.Bytes())
				fresh := f.document(text, "name")
				if !bytes.Equal(text, c.Bytes()) {
					fresh = hex.AppendEncode(nil, fresh)
				}
				out.AddBytes(c.Class, fresh)
			}
		}
	}
	return out
}

// document returns a JSON object with the id and the title of the fork.
func (f *fork) document(text []byte, title string) []byte {
	text, _ = forks.Retitle(text, title, "")
	return forks.Rename(nil, text, f.ids)
}
