package cursorndjson

import (
	"bufio"
	"context"
	"errors"
	"os"
	"path"

	"rehome/formats"
	"rehome/formats/internal/sdkdoc"
	"rehome/formats/store"
)

// writer builds a folder of lines.
type writer struct {
	root   *os.Root
	schema *store.Schema
	set    int // being written, -1 before the first
	file   *os.File
	out    *bufio.Writer
}

func create(_ context.Context, b formats.Build) (store.Writer, error) {
	refuse := func(why, hint string) error {
		return &formats.Error{Format: name, Err: errors.New(why), Hint: hint}
	}
	if b.Compress != "" {
		return nil, refuse("the SDK cannot read compressed files", "omit --compress, or use --to archive")
	}
	if !sdkdoc.Documents(b.Schema) {
		return nil, refuse("only Cursor SDK stores can be converted to this format", "use --to archive, which accepts any store")
	}
	if err := os.Mkdir(b.Path, 0o777); err != nil {
		return nil, err
	}
	root, err := os.OpenRoot(b.Path)
	if err != nil {
		return nil, err
	}
	if !b.Flat {
		return newDivider(root, b), nil
	}
	return &writer{root: root, schema: b.Schema, set: -1, out: bufio.NewWriterSize(nil, 256<<10)}, nil
}

// Put writes lines, or a piece of a transcript.
func (w *writer) Put(ctx context.Context, b *store.Batch) error {
	defer b.Release()
	if err := ctx.Err(); err != nil {
		return err
	}
	if err := w.reach(b.Set); err != nil {
		return err
	}
	lines := w.schema.Sets[b.Set].Kind == store.Lines
	if w.file == nil && b.Rows() > 0 {
		if err := w.begin(b.Set); err != nil {
			return err
		}
	}
	for i := range b.Rows() {
		c := b.Cell(i, 0)
		w.out.Write(c.Bytes()) // its first error comes back from Flush
		if lines && c.Class == store.Text {
			w.out.WriteByte('\n')
		}
	}
	return nil
}

// reach moves on to a set. A transcript without a byte is a file all the same,
// lines without a line are none.
func (w *writer) reach(set int) error {
	for w.set < set {
		if err := w.end(); err != nil {
			return err
		}
		w.set++
		if w.schema.Sets[w.set].Kind == store.Plain {
			if err := w.begin(w.set); err != nil {
				return err
			}
		}
	}
	return nil
}

func (w *writer) begin(set int) (err error) {
	p := w.schema.Sets[set].File
	if dir := path.Dir(p); dir != "." {
		if err := w.root.MkdirAll(dir, 0o777); err != nil {
			return err
		}
	}
	w.file, err = w.root.OpenFile(p, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o666)
	w.out.Reset(w.file)
	return err
}

func (w *writer) end() error {
	if w.file == nil {
		return nil
	}
	err := errors.Join(w.out.Flush(), w.file.Close())
	w.file = nil
	return err
}

// Finish completes the last file.
func (w *writer) Finish(ctx context.Context) error {
	if err := w.reach(len(w.schema.Sets) - 1); err != nil {
		return err
	}
	if err := w.end(); err != nil {
		return err
	}
	// Git would change line ends, and each line with them.
	if err := w.root.WriteFile(".gitattributes", []byte("* -text\n"), 0o666); err != nil {
		return err
	}
	return ctx.Err()
}

// Close lets go of everything, finished or not.
func (w *writer) Close() error {
	if w.root == nil {
		return nil
	}
	var err error
	if w.file != nil {
		err = w.file.Close()
		w.file = nil
	}
	err = errors.Join(err, w.root.Close())
	w.root = nil
	return err
}
