package read

import (
	"errors"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strings"

	"rehome/formats"
	"rehome/formats/claudecode/internal/outline"
	"rehome/formats/loss"
	"rehome/formats/session"
)

// snapshots yields the changes of each file from one state to the next. The final
// content is not saved.
func (r *reading) snapshots(yield func(*session.File, error) bool) {
	if r.tree.Unsaved > 0 {
		r.view.OnLoss.Add(loss.Loss{Code: loss.SavedStatesExcess, At: r.addr(0)})
	}
	next, last := map[int]int{}, map[string]int{}
	for i, one := range r.tree.Saved {
		if was, ok := last[one.Path]; ok {
			next[was] = i
		}
		last[one.Path] = i
	}
	missing := map[string]bool{}
	for i, one := range r.tree.Saved {
		if err := r.ctx.Err(); err != nil {
			yield(nil, err)
			return
		}
		f := &session.File{Path: r.absolute(one.Path)}
		f.Before = r.held(f, "before", &one, missing)
		if k, ok := next[i]; ok {
			f.After = r.held(f, "after", &r.tree.Saved[k], missing)
		}
		if !yield(f, nil) {
			return
		}
	}
}

// held returns the content of a file before or after a change.
func (r *reading) held(f *session.File, name string, of *outline.Saved, missing map[string]bool) *session.Body {
	f.Origin = append(f.Origin, r.addr(int(of.Line)).String())
	f.Extras = append(f.Extras, session.Extra{Name: name, Raw: of.Record})
	if of.File == "" {
		return &session.Body{} // it did not exist
	}
	b, at, err := r.backup(of.File)
	if err == nil {
		f.Origin = append(f.Origin, at)
		return &session.Body{Bytes: b}
	}
	if !missing[of.File] {
		missing[of.File] = true
		code := loss.BackupMissing
		if errors.Is(err, huge{}) {
			code = loss.BackupTooLarge
		}
		r.note(code, int(of.Line))
	}
	return nil
}

// huge is the error for a file that is too large for memory.
type huge struct{}

func (huge) Error() string { return "too large" }

// backup reads a backup. Its folder is named after the session, or after the one
// that the session was copied from.
func (r *reading) backup(file string) (b []byte, at string, err error) {
	if r.backups == nil || !filepath.IsLocal(file) || strings.ContainsAny(file, `/\:`) {
		return nil, "", fs.ErrNotExist
	}
	err = fs.ErrNotExist
	for _, id := range []string{r.ID, r.tree.ID} {
		at = path.Join(id, file)
		if !formats.IsUUID(id) {
			continue
		}
		if b, err = smallFile(r.backups, at); err == nil || errors.Is(err, huge{}) {
			break
		}
	}
	return b, path.Join(outline.BackupsName, at), err
}

// smallFile reads a file of at most maxOffloaded bytes.
func smallFile(root *os.Root, name string) ([]byte, error) {
	f, err := root.Open(name)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	info, err := f.Stat()
	switch {
	case err != nil:
		return nil, err
	case !info.Mode().IsRegular():
		return nil, fs.ErrNotExist
	case info.Size() > maxOffloaded:
		return nil, huge{}
	}
	return io.ReadAll(io.LimitReader(f, maxOffloaded))
}

// absolute returns the path of a file, which may be relative to the working directory.
func (r *reading) absolute(p string) string {
	if p[0] == '/' || len(p) > 2 && p[1] == ':' || r.tree.Cwd == "" {
		return p
	}
	if strings.Contains(r.tree.Cwd, `\`) && !strings.Contains(r.tree.Cwd, "/") {
		return strings.TrimRight(r.tree.Cwd, `\`) + `\` + p
	}
	return path.Join(r.tree.Cwd, p)
}
