package cli

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"unicode"

	"rehome/cmd/internal/prose"
	"rehome/cmd/internal/screen"
	"rehome/convert/sessions"
	"rehome/formats"
	"rehome/formats/session"
	"rehome/internal/fsx"
	"rehome/internal/scratch"
)

// exportPrefix is what the folder for files that are not complete begins with.
const exportPrefix = ".rehome-show-"

// exporter writes sessions to files. They are complete before any of them gets
// its name.
type exporter struct {
	*viewer
	dir       string
	staged    string            // the folder where the files are built
	names     map[string]bool   // given to this run's files, in lower case
	files     []string          // to be placed
	unchanged int               // files that exist with the same content
	differ    []string          // files that exist with another content
	ids       map[source]string // how each session is told apart in names
}

// export writes a file for each session: Markdown or a page.
func (v *viewer) export(list []source) error {
	dir := v.cmd.Out
	if v.format != "html" {
		v.format = "markdown"
	}
	if pageFile(dir) {
		dir = filepath.Dir(dir)
	}
	if err := os.MkdirAll(dir, 0o777); err != nil {
		return err
	}
	scratch.SweepBeside(dir, exportPrefix, func(string, error) {})
	staged, err := scratch.Make(dir, exportPrefix)
	if err != nil {
		return err
	}
	defer staged.Remove()
	e := &exporter{viewer: v, dir: dir, staged: staged.Path, names: map[string]bool{}, ids: fileIDs(list)}
	var failed []error
	for _, src := range list {
		if err := e.add(src); err != nil {
			failed = append(failed, err)
		}
		if err := v.Ctx.Err(); err != nil {
			return err
		}
	}
	if err := e.place(); err != nil {
		return err
	}
	v.losses()
	if !v.Out.Quiet && len(e.files)+e.unchanged > 0 {
		failed = append(failed, v.Out.Print(v.Ctx, &exportResult{e.cmd.Out, e.dir, e.files, e.unchanged}))
	}
	return errors.Join(failed...)
}

// add builds the file of a session.
func (e *exporter) add(src source) error {
	e.source = src.path
	decode := e.storeDecoder(src)
	turns, err := e.resolveTurns(e.Ctx, decode)
	if err == nil && e.format == "html" {
		err = e.checkSecrets(src, turns)
	}
	if err != nil {
		return err
	}
	e.current = src
	found := 0
	for s, err := range decode(e.Ctx, e.view(e.lost.Add)) {
		if found++; found > 1 && err == nil && pageFile(e.cmd.Out) {
			e.files, e.differ, e.unchanged = nil, nil, 0
			err = errSeveral("")
		}
		if err == nil {
			err = e.addSession(s, turns, e.fileName(s, e.ids[src]))
		}
		if err != nil {
			return &formats.Error{At: strings.TrimSuffix(src.path+"#"+src.session, "#"), Err: err, Hint: formats.Hint(err)}
		}
	}
	return nil
}

func (e *exporter) addSession(s *session.Session, turns prose.Turns, name string) error {
	path := filepath.Join(e.staged, name)
	f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE|os.O_EXCL, 0o666)
	if err != nil {
		return err
	}
	err = e.write(f, s, turns)
	if err == nil && e.format == "html" {
		err = e.checkPage(f)
	}
	if err = errors.Join(err, f.Close()); err != nil {
		os.Remove(path)
		return err
	}
	to := filepath.Join(e.dir, name)
	same := false
	now, err := os.Lstat(to)
	if err == nil && now.Mode().IsRegular() {
		same, err = fsx.Same(path, to)
	}
	switch {
	case same:
		e.unchanged++
		return os.Remove(path)
	case !errors.Is(err, fs.ErrNotExist) && !e.cmd.Replace:
		e.differ = append(e.differ, name)
	default:
		e.files = append(e.files, name)
	}
	return nil
}

// place gives the files their names, unless one of them would overwrite another
// file without --replace.
func (e *exporter) place() error {
	if len(e.differ) > 0 {
		what := "file exists"
		if n := len(e.differ) - 1; n > 0 {
			what += fmt.Sprintf(", and so do %d others", n)
		}
		return &formats.Error{At: filepath.Join(e.dir, e.differ[0]), Err: errors.New(what),
			Hint: "nothing was written; pass --replace to overwrite, or choose another folder"}
	}
	rename := fsx.Move // which fails if a file was made in the meantime
	if e.cmd.Replace {
		rename = os.Rename
	}
	for _, name := range e.files {
		if err := rename(filepath.Join(e.staged, name), filepath.Join(e.dir, name)); err != nil {
			return err
		}
	}
	return nil
}

// exportResult is what was written. It is only printed as text.
type exportResult struct {
	Out, Dir  string // as it was named, and the folder
	Files     []string
	Unchanged int
}

// Text prints one line.
func (r *exportResult) Text(p *screen.Page) {
	line := "wrote " + screen.Plural(int64(len(r.Files)), "session") + " to " + screen.Visible(r.Dir)
	switch len(r.Files) {
	case 0:
		line = screen.Visible(r.Out) + " is up to date"
	case 1:
		line = "wrote " + screen.Visible(filepath.Join(r.Dir, r.Files[0]))
	}
	if r.Unchanged > 0 {
		line += ", " + screen.Grouped(int64(r.Unchanged)) + " unchanged"
	}
	p.Line(p.OK() + " " + line)
}

// maxSlug is the max length of the title in a file name, in bytes.
const maxSlug = 60

// fileName returns the name of a session's file: 2026-11-20-0858-fix-the-test-5d0b2b7e.md.
// It depends on the session alone, so the next run gives the same one.
func (e *exporter) fileName(s *session.Session, id string) string {
	if pageFile(e.cmd.Out) {
		return filepath.Base(e.cmd.Out)
	}
	at := s.Created
	if !at.Known() {
		at = s.Updated
	}
	parts := []string{"undated"}
	if at.Known() {
		parts[0] = at.Time().UTC().Format("2006-01-02-1504")
	}
	for _, p := range []string{slug(s.Title, maxSlug), id} {
		if p != "" {
			parts = append(parts, p)
		}
	}
	base := strings.Join(parts, "-")
	ext := ".md"
	if e.format == "html" {
		ext = ".html"
	}
	name := base + ext
	for i := 2; e.names[strings.ToLower(name)]; i++ {
		name = fmt.Sprintf("%s-%d%s", base, i, ext)
	}
	e.names[strings.ToLower(name)] = true
	return name
}

// fileIDs returns the beginning of each session's id, longer where two are alike.
func fileIDs(list []source) map[source]string {
	const short, long = 8, 100
	count := map[string]int{}
	for _, src := range list {
		count[slug(sessions.TrimKind(src.session), short)]++
	}
	out := map[source]string{}
	for _, src := range list {
		if out[src] = slug(sessions.TrimKind(src.session), short); count[out[src]] > 1 {
			out[src] = slug(src.session, long)
		}
	}
	return out
}

// slug returns the letters and digits of a text in lower case, with hyphens
// between its words, at most n bytes of them.
func slug(s string, n int) string {
	var b strings.Builder
	gap := false
	for _, r := range s {
		if !unicode.IsLetter(r) && !unicode.IsDigit(r) && !unicode.IsMark(r) {
			gap = b.Len() > 0
			continue
		}
		word := string(unicode.ToLower(r))
		if gap {
			word = "-" + word
		}
		if gap = false; b.Len()+len(word) > n {
			break
		}
		b.WriteString(word)
	}
	return strings.TrimSuffix(b.String(), "-")
}
