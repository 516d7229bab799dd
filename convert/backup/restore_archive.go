package backup

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"time"

	"rehome/convert"
	"rehome/convert/internal/filetx"
	"rehome/convert/internal/undo"
	"rehome/convert/sessions"
	"rehome/formats"
	"rehome/internal/fsx"
)

// restoreArchive restores a SQLite store, unless something newer is there.
func (r *restore) restoreArchive(ctx context.Context, f *formats.Format, c *choice, out *RestoredStore) error {
	text := filepath.Join(r.snap.Dir, filepath.FromSlash(c.store.Text))
	if c.store.Digest != "" {
		digest, _, _, err := treeDigest(text, nil)
		if err != nil {
			return &formats.Error{At: text, Err: formats.Cause(err), Hint: damagedHint}
		}
		if digest != c.store.Digest {
			return differs(text)
		}
	}
	o := convert.Options{From: "archive", To: f.Name, DryRun: r.o.DryRun, Jobs: r.o.Jobs, OnNotice: r.say}
	if exists(c.dest) {
		there, err := r.compare(ctx, f, c)
		switch {
		case there == "" && err == nil:
			out.Status = Recovered
			return r.merge(ctx, text, c, o)
		case there == Unchanged:
			out.Status = Unchanged
			return nil
		case there == Newer || !r.o.Replace:
			out.Status, out.Missing = there, r.missing(ctx, c)
			return err
		}
		o.Replace = true
	}
	for _, end := range []string{"-wal", "-journal"} { // of what was there before
		if info, err := os.Lstat(c.dest + end); err == nil && info.Size() > 0 {
			return &formats.Error{At: c.dest + end, Err: errors.New("SQLite would apply this log to the restored database"), Hint: "start and quit " + c.store.Client + ", or move the log away, and run it again"}
		}
	}
	out.Status = Recovered
	rep, err := convertOne(ctx, r, text, c.dest, o)
	out.Backup = rep.Backup
	return err
}

// convertOne converts a single store, and returns why it failed.
func convertOne(ctx context.Context, r *restore, src, dst string, o convert.Options) (*convert.Report, error) {
	rep, err := convert.Convert(ctx, r.snap.reg, src, dst, o)
	for i := range rep.Stores {
		if err == nil {
			err = rep.Stores[i].Err()
		}
	}
	if err == nil && (len(rep.Stores) != 1 || !rep.Placed && !o.DryRun) {
		err = &formats.Error{At: src, Err: errors.New("not restored"), Hint: damagedHint}
	}
	return rep, err
}

func (r *restore) say(s string) {
	if r.o.OnNotice != nil {
		r.o.OnNotice(s)
	}
}

// compare compares the store that exists with the one in the snapshot. It returns ""
// if a folder exists that is no store.
func (r *restore) compare(ctx context.Context, f *formats.Format, c *choice) (string, error) {
	loc, err := formats.Locate(c.dest)
	if err != nil {
		return Older, err
	}
	found, err := r.snap.reg.Detect(ctx, loc)
	if err != nil {
		return Older, err
	}
	if loc.IsDir() && (len(found) == 0 || found[0].Format != f) {
		return "", nil
	}
	_, newest := storeMark(c.dest, time.Now())
	digest, err := r.recordsOf(ctx, f, loc)
	var saved string
	if err == nil {
		saved, err = r.savedRecords(ctx, c)
	}
	switch {
	case err != nil:
		return Older, &formats.Error{At: c.dest, Err: fmt.Errorf("cannot be compared: %w", err), Hint: "pass --replace to replace it, or --to DIR"}
	case digest == saved:
		return Unchanged, nil
	case newest > c.store.Modified:
		return Newer, nil
	}
	return Older, nil
}

// savedRecords returns the digest of the records of an archive in the snapshot.
func (r *restore) savedRecords(ctx context.Context, c *choice) (string, error) {
	loc, err := formats.Locate(filepath.Join(r.snap.Dir, filepath.FromSlash(c.store.Text)))
	if err != nil {
		return "", err
	}
	return r.recordsOf(ctx, r.snap.reg.Lookup("archive"), loc)
}

// recordsOf returns a digest of the records of a store or of its archive.
func (r *restore) recordsOf(ctx context.Context, f *formats.Format, loc *formats.Location) (digest string, err error) {
	v := formats.FullView(r.o.Jobs)
	if v.Kind = formats.Tables; !r.snap.Index.Secrets {
		v.Secrets = formats.WithholdSecrets
	}
	v.HideRowIDs = f.Records.IsKeyed // as in text
	reader, err := f.Records.Open(ctx, loc, v)
	if err != nil {
		return "", err
	}
	defer func() { err = errors.Join(err, reader.Close()) }()
	for b, err := range reader.Batches(ctx) {
		if err != nil {
			return "", err
		}
		b.Release()
	}
	sum := sha256.New()
	for i, one := range reader.Summary() {
		set := reader.Schema().Sets[i]
		fmt.Fprintf(sum, "%q %q %d %s\n", set.File, set.Name, one.Rows, one.Digest)
	}
	return sumText(sum), nil
}

// missing returns the sessions that the snapshot has of a store and the machine has
// not.
func (r *restore) missing(ctx context.Context, c *choice) (out []Session) {
	listing, err := sessions.List(ctx, r.snap.reg, sessions.Options{Paths: []string{c.dest}, Jobs: 1})
	if err != nil {
		return nil
	}
	have := map[string]bool{}
	for _, s := range listing.All() {
		have[s.ID] = true
	}
	for _, s := range c.store.Sessions {
		if !have[s.ID] {
			out = append(out, s)
		}
	}
	return out
}

// merge restores a store into a folder that exists, but is not a store yet: the client
// keeps other things there. Nothing is overwritten. The files by which the store is
// recognized come last, so that a killed run leaves no half of it.
func (r *restore) merge(ctx context.Context, text string, c *choice, o convert.Options) error {
	private, err := r.stage(c)
	if err != nil {
		return err
	}
	defer private.Remove()
	whole := filepath.Join(private.Tree, filepath.Base(c.dest))
	o.DryRun = false
	if _, err := convertOne(ctx, r, text, whole, o); err != nil {
		return private.WithTargetPath(err)
	}
	files, err := textFiles(whole)
	if err != nil {
		return err
	}
	files = slices.DeleteFunc(files, func(rel string) bool { return fsx.SameTree(filepath.Join(whole, rel), filepath.Join(c.dest, rel)) })
	for _, rel := range files {
		if at := filepath.Join(c.dest, rel); exists(at) {
			return &formats.Error{At: at, Err: formats.ErrExists, Hint: "pass --to DIR to restore the store elsewhere"}
		}
	}
	if r.o.DryRun {
		return nil
	}
	slices.Reverse(files) // globalStorage after workspaceStorage
	var steps []*filetx.Step
	for _, rel := range files {
		steps = append(steps, &filetx.Step{File: undo.File{Path: filepath.Join(c.dest, rel)}, Staged: filepath.Join(whole, rel), Ready: ctx.Err})
	}
	tx := &filetx.Tx{Synced: true}
	return errors.Join(tx.Do(steps), tx.End(nil))
}
