package claudecode

import (
	"errors"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strings"

	"rehome/formats"
	"rehome/formats/internal/members"
	"rehome/formats/internal/rawjson"
	"rehome/formats/loss"
	"rehome/formats/session"
)

const backupsName = "file-history"

// saved is a state of a file that the client kept, so that people can go back
// to it.
type saved struct {
	line   int32
	path   string
	file   string // the backup's name; "" where there was no file
	record []byte
}

// save takes the states that a line speaks of. A snapshot names all files that
// are watched, with the backup that is still right; a delta names one.
func (s *survey) save(kind string, line []byte) {
	at := int32(len(s.lines))
	switch kind {
	case "file-history-snapshot":
		for name, record := range rawjson.Members(rawjson.Last(rawjson.Last(line, "snapshot"), "trackedFileBackups")) {
			s.keep(at, string(name), record)
		}
	case "file-history-delta":
		s.keep(at, text(line, "trackingPath"), rawjson.Last(line, "backup"))
	}
}

// mostSaved bounds what is kept of backups.
const mostSaved = 100_000

func (s *survey) keep(line int32, name string, record []byte) {
	if name == "" || len(record) == 0 || record[0] != '{' {
		return
	}
	one := saved{line: line, path: name, file: text(record, "backupFileName")}
	if last, ok := s.state[name]; ok && s.saved[last].file == one.file {
		return // another snapshot, and the same state
	}
	if len(s.saved) == mostSaved {
		s.unsaved++
		return
	}
	one.record = members.Bare("backup", record)
	if s.state == nil {
		s.state = map[string]int{}
	}
	s.state[name] = len(s.saved)
	s.saved = append(s.saved, one)
}

// openBackups opens the folder of backups around a config folder, a project's
// folder or a file; nil if there is none.
func openBackups(l *formats.Location) *os.Root {
	config, err := filepath.Abs(l.Path)
	if err != nil {
		return nil
	}
	if !l.IsDir() {
		config = filepath.Dir(config)
	}
	if !l.IsDir() || !l.Has("projects") {
		if config = filepath.Dir(config); filepath.Base(config) != "projects" {
			return nil
		}
		config = filepath.Dir(config)
	}
	root, err := os.OpenRoot(filepath.Join(config, backupsName))
	if err != nil {
		return nil
	}
	return root
}

// snapshots are the states of each file: from one to the next. What it held at
// the end nobody kept.
func (r *reading) snapshots(yield func(*session.File, error) bool) {
	if r.survey.unsaved > 0 {
		r.view.OnLoss(loss.Loss{Code: loss.SavedStatesExcess, At: r.addr(0)})
	}
	next, last := map[int]int{}, map[string]int{}
	for i, one := range r.survey.saved {
		if was, ok := last[one.path]; ok {
			next[was] = i
		}
		last[one.path] = i
	}
	missing := map[string]bool{}
	for i, one := range r.survey.saved {
		if err := r.ctx.Err(); err != nil {
			yield(nil, err)
			return
		}
		f := &session.File{Path: r.absolute(one.path)}
		f.Before = r.held(f, "before", &one, missing)
		if k, ok := next[i]; ok {
			f.After = r.held(f, "after", &r.survey.saved[k], missing)
		}
		if !yield(f, nil) {
			return
		}
	}
}

// held is what a file held on one side of a change.
func (r *reading) held(f *session.File, name string, of *saved, missing map[string]bool) *session.Body {
	f.Origin = append(f.Origin, r.addr(int(of.line)).String())
	f.Extras = append(f.Extras, session.Extra{Name: name, Raw: of.record})
	if of.file == "" {
		return &session.Body{} // it was not there
	}
	b, at, err := r.backup(of.file)
	if err == nil {
		f.Origin = append(f.Origin, at)
		return &session.Body{Bytes: b}
	}
	if !missing[of.file] {
		missing[of.file] = true
		code := loss.BackupMissing
		if errors.Is(err, huge{}) {
			code = loss.BackupTooLarge
		}
		r.note(code, int(of.line))
	}
	return nil
}

// huge is the error of a file that does not fit into memory.
type huge struct{}

func (huge) Error() string { return "too large" }

// backup reads one. The client names its folder by the session, and that of one
// that was copied by the one it was copied from.
func (r *reading) backup(file string) (b []byte, at string, err error) {
	if r.backups == nil || !filepath.IsLocal(file) || strings.ContainsAny(file, `/\:`) {
		return nil, "", fs.ErrNotExist
	}
	err = fs.ErrNotExist
	for _, id := range []string{r.id, r.survey.id} {
		at = path.Join(id, file)
		if !isUUID(id) {
			continue
		}
		if b, err = smallFile(r.backups, at); err == nil || errors.Is(err, huge{}) {
			break
		}
	}
	return b, path.Join(backupsName, at), err
}

// smallFile reads a file that fits into memory.
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
	case info.Size() > mostOffloaded:
		return nil, huge{}
	}
	return io.ReadAll(io.LimitReader(f, mostOffloaded))
}

// absolute is a path that the client tells from the working folder on.
func (r *reading) absolute(p string) string {
	if p[0] == '/' || len(p) > 2 && p[1] == ':' || r.survey.cwd == "" {
		return p
	}
	if strings.Contains(r.survey.cwd, `\`) && !strings.Contains(r.survey.cwd, "/") {
		return strings.TrimRight(r.survey.cwd, `\`) + `\` + p
	}
	return path.Join(r.survey.cwd, p)
}
