package convert

import (
	"context"
	"errors"
	"slices"

	"rehome/convert/internal/filetx"
	"rehome/convert/internal/undo"
	"rehome/formats"
	"rehome/internal/fsx"
)

// undoFiles undoes what a record says of files.
func undoFiles(ctx context.Context, reg *formats.Registry, folder undo.Folder, r *undo.Record, dryRun bool) ([]formats.Undone, error) {
	if len(r.Files) == 0 {
		return nil, nil
	}
	to := reg.Lookup(r.Format) // copies of files need none
	if r.Moved == nil {
		var err error
		to, err = findFormat(reg, r, func(w *formats.Writer) bool {
			return w.State != nil || !slices.ContainsFunc(r.Files, func(f undo.File) bool { return f.Folder })
		})
		if err != nil {
			return nil, err
		}
	}
	u := &filetx.Undoer{Dir: folder.Saved(r).Dir, DryRun: dryRun, State: func(f *undo.File) (string, error) {
		if f.Folder {
			return to.Writer.State(ctx, f.Path)
		}
		return fsx.Digest(f.Path)
	}}
	if to != nil && to.Writer != nil && to.Writer.Unmodified != nil {
		u.InUse = func(folder string) bool {
			_, err := to.Writer.Unmodified(ctx, folder)
			return errors.Is(err, formats.ErrBusy)
		}
	}
	if to != nil && to.Writer != nil && to.Writer.Taken != nil {
		u.Taken = func(f *undo.File) (bool, error) { return to.Writer.Taken(ctx, f.Path, f.Size) }
	}
	return u.Undo(r)
}
