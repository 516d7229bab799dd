package merge

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"rehome/convert"
	"rehome/convert/internal/notify"
	"rehome/convert/internal/stage"
	"rehome/formats"
	"rehome/internal/scratch"
)

// merger is one call of Run.
type merger struct {
	reg   *formats.Registry
	opts  Options
	res   *Result
	stage *stage.Folder
	temp  *scratch.Dir
	order []slot            // paths of stores below the sources
	found map[slot][]source // stores with this path
	whole []whole           // stores that are one session each

	denied fs.FileMode // permissions that some source does not give

	archived  *formats.Format // the format of archives among the sources, nil if there is none
	text      *formats.Format // that of other text of databases
	databases bool            // some sources are databases

	notify *notify.Notifier

	mu     sync.Mutex
	losses map[string]map[string]bool // what is left out, and of which stores
}

// slot is where stores are that are united: a path below the sources. Files that are stores
// are united with those of their format in the same folder.
type slot struct{ rel, format string }

// slotOf returns the slot of a store.
func slotOf(rel string, s *source) slot {
	switch of := s.format.Merge; {
	case of == nil || of.Via != "" || of.Open != nil || of.Sessions == nil && (s.loc.IsDir() || rel == "."):
		return slot{rel, ""}
	case !s.loc.IsDir() && rel != ".":
		rel = path.Dir(rel)
	}
	return slot{rel, s.format.Name}
}

// source is a store of one of the sources.
type source struct {
	n      int // of the source, from 1; 0 is the base
	loc    *formats.Location
	format *formats.Format
	// archive is the format of the text from which the store was restored, nil if it was not.
	archive  *formats.Format
	original *formats.Location // that text
}

// find lists the stores of all sources by their paths.
func (m *merger) find(ctx context.Context, sources []string) error {
	m.found = map[slot][]source{}
	roots := 0
	if m.opts.Base != "" {
		sources = append(slices.Clone(sources), m.opts.Base)
	}
	for i, src := range sources {
		n := i + 1
		if m.opts.Base != "" && i == len(sources)-1 {
			n = 0
		}
		merged := false // the sidecar beside the source
		for f, err := range convert.Stores(ctx, m.reg, src, "", func(text string) { m.remark(src + ": " + text) }) {
			if err != nil {
				return err
			}
			m.denied |= stage.DeniedBy(f.Loc.Path)
			s := source{n, f.Loc, f.Detected[0].Format, nil, nil}
			at := slotOf(f.Rel, &s)
			switch {
			case f.Rel == ".":
				merged = at.format != ""
			case n > 0 && at.format == "" && s.text() == s.format.Name && !isArchive(s.format):
				m.beside(f.Loc.Path)
			}
			if s.format.Merge != nil && s.format.Merge.Open != nil {
				m.whole = append(m.whole, whole{s, f.Rel})
				continue
			}
			if f.Rel == "." {
				roots++
			}
			m.found[at] = append(m.found[at], s)
		}
		if !merged {
			m.beside(src)
		}
	}
	if roots > 0 && len(m.found)+len(m.whole) > 1 {
		return &formats.Error{At: sources[0], Err: errors.New("some sources are stores, others are folders of stores"), Hint: "name the folders in which both have their stores"}
	}
	m.order = slices.SortedFunc(maps.Keys(m.found), func(a, b slot) int {
		return cmp.Or(cmp.Compare(a.rel, b.rel), cmp.Compare(a.format, b.format))
	})
	return nil
}

// beside says that the sidecar beside a source or store is left out, if there is one.
func (m *merger) beside(at string) {
	for _, suffix := range []string{formats.SidecarSuffix, formats.OldSidecarSuffix} {
		if _, err := os.Lstat(filepath.Clean(at) + suffix); err == nil {
			m.remark(filepath.Clean(at) + suffix + " is left out: sidecars beside stores are not merged")
		}
	}
}

// compare returns an error if stores with one path cannot be united.
func (m *merger) compare() error {
	for _, at := range m.order {
		for _, s := range m.found[at][1:] {
			if first := m.found[at][0]; first.text() != s.text() {
				return &formats.Error{At: s.loc.Path, Err: fmt.Errorf("is %s, but %s is %s", s.format.Name, first.loc.Path, first.format.Name), Hint: "convert one of them first with `rehome convert`"}
			}
		}
	}
	return nil
}

// text returns the name of the format as whose text a store is united.
func (s source) text() string {
	if s.format.Merge != nil && s.format.Merge.Via != "" {
		return s.format.Merge.Via
	}
	return s.format.Name
}

// unite unites the stores with one path. out is where the result is staged.
func (m *merger) unite(ctx context.Context, at slot, out string) (err error) {
	all, rel := m.found[at], at.rel
	format := m.reg.Lookup(all[0].text())
	if format.Merge == nil {
		return &formats.Error{Format: format.Name, At: all[0].loc.Path, Err: errors.New("stores of this format cannot be merged"),
			Hint: "convert each to text (`rehome convert SRC TEXT --to canonical`), merge the texts, and run `rehome migrate`"}
	}
	if format.Merge.Sessions != nil {
		return m.uniteSessions(ctx, rel, all, format, out)
	}
	form := &shape{to: all[0].format, via: all[0].format.Merge.Via != ""}
	if form.via {
		if err := m.toText(ctx, all, format, form); err != nil {
			return err
		}
	}
	u := m.newUnion(format)
	for _, s := range all {
		if err := m.read(ctx, u, s, format); err != nil {
			return err
		}
	}
	if err := u.settle(ctx); err != nil {
		return err
	}
	if len(u.sessions) == 0 && m.opts.Base != "" {
		return nil // removed
	}
	m.report(u, rel, slices.Sorted(maps.Keys(u.sessions))...)
	as := m.archived
	if !form.via || form.to.Text {
		as = nil
	}
	defer func() {
		archived := slices.ContainsFunc(all, func(s source) bool { return s.original != nil })
		if archived && as != nil && err == nil && u.one(all) == nil {
			m.remark(rel + ": the archive no longer marks where secrets were withheld")
		}
	}()
	defer func() { err = errors.Join(err, os.RemoveAll(filepath.Join(m.temp.Path, "text"))) }()
	if from := u.one(all); from != nil {
		return copyText(from.original, out)
	}
	switch {
	case form.via:
		return m.fromText(ctx, u, form, out, as)
	case !all[0].loc.IsDir() && rel != "." && at.format == "":
		out = filepath.Dir(out)
	}
	return u.write(out)
}

// shape is what the union of some stores becomes.
type shape struct {
	via  bool // they are united as text of another form
	to   *formats.Format
	flat bool // the client's own few files
}

// toText converts stores to the text as which they are united. What has text among its
// sources is text, and gets no secrets of the others.
func (m *merger) toText(ctx context.Context, all []source, format *formats.Format, form *shape) error {
	mixed := false
	for _, s := range all {
		if mixed = mixed || s.format != form.to; s.format.Text {
			form.to = s.format
		}
	}
	if m.text != nil && m.archived == nil && !form.to.Text {
		mixed, form.to = true, m.text
	}
	for i, s := range all {
		form.flat = form.flat || s.format == format && len(format.Records.Parts(s.loc)) == 1
		at := filepath.Join(m.temp.Path, "text", fmt.Sprint(i))
		if err := os.MkdirAll(filepath.Dir(at), 0o777); err != nil {
			return err
		}
		if err := m.convert(ctx, s.loc.Path, at, format.Name, false, !mixed); err != nil {
			return err
		}
		loc, err := formats.Locate(at)
		if err != nil {
			return err
		}
		all[i].loc = loc
	}
	return nil
}

// fromText converts united text to a store, or to an archive of it.
func (m *merger) fromText(ctx context.Context, u *union, form *shape, out string, as *formats.Format) (err error) {
	text := filepath.Join(m.temp.Path, "merged")
	defer func() { err = errors.Join(err, os.RemoveAll(text)) }()
	if err := errors.Join(u.write(text), os.MkdirAll(filepath.Dir(out), 0o777)); err != nil {
		return err
	}
	if as == nil {
		return m.convert(ctx, text, out, form.to.Name, form.flat, true)
	}
	restored := filepath.Join(m.temp.Path, "restored", "merged")
	if err := m.convert(ctx, text, restored, form.to.Name, form.flat, true); err != nil {
		return err
	}
	return m.archive(ctx, restored, out, as.Name)
}

// one returns a store, restored from an archive, that is the result as it is; nil if there
// is none.
func (u *union) one(all []source) *source {
	for i := range all {
		whole := all[i].original != nil && all[i].n > 0
		for _, copies := range u.sessions {
			whole = whole && len(copies) == 1 && slices.Contains(copies[0].from, all[i].n)
		}
		if whole {
			return &all[i]
		}
	}
	return nil
}

// newUnion returns a union of stores of a format.
func (m *merger) newUnion(format *formats.Format) *union {
	return &union{format: format, of: format.Merge, titles: map[string]string{}, sessions: map[string][]*version{}, settled: map[string]bool{}, forked: map[string]string{}, newer: map[string]bool{}, copies: map[copyOf]int{}, remarks: m.remark, progress: m.progress}
}

// convert converts a store exactly.
func (m *merger) convert(ctx context.Context, from, to, format string, flat, secrets bool) error {
	rep, err := convert.Convert(ctx, m.reg, from, to, convert.Options{To: format, Flat: flat, WithSecrets: secrets, Live: m.opts.Live, Jobs: m.opts.Jobs, OnNotice: m.opts.OnNotice, OnProgress: m.opts.OnProgress, Verbose: m.opts.Verbose})
	for _, s := range rep.Stores {
		at := from
		if strings.HasPrefix(from, m.temp.Path) {
			at = filepath.Base(to)
		}
		m.lost(at, s.Losses...)
	}
	switch {
	case err != nil:
		return err
	case !rep.Placed || rep.Failed() > 0 || rep.Lane != convert.ExactConversion:
		return &formats.Error{At: from, Err: errors.New("cannot be converted exactly"), Hint: "run `rehome check` on it"}
	}
	return nil
}

// read adds the files of a store.
func (m *merger) read(ctx context.Context, u *union, s source, format *formats.Format) error {
	root, names, err := list(ctx, s.loc, format, m.opts)
	if err != nil {
		return err
	}
	for _, name := range names {
		if err := ctx.Err(); err != nil {
			return err
		}
		local, err := filepath.Localize(name)
		if err != nil {
			return &formats.Error{At: name, Err: errors.New("not a valid path inside a store")}
		}
		at := filepath.Join(root, local)
		info, err := os.Stat(at)
		if err != nil {
			return &formats.Error{At: at, Err: formats.Cause(err)}
		}
		if err := u.add(s.n, &file{path: name, real: at, info: info}); err != nil {
			return err
		}
	}
	if format.Sessions == nil || format.Sessions.Heads == nil {
		return nil
	}
	for h, err := range format.Sessions.Heads(ctx, s.loc, m.view()) {
		if err == nil && h.Title != "" {
			u.titles[h.ID] = max(u.titles[h.ID], h.Title)
		}
	}
	return ctx.Err()
}

// list returns the files of a store.
func list(ctx context.Context, l *formats.Location, format *formats.Format, o Options) (root string, names []string, err error) {
	if !l.IsDir() {
		return filepath.Dir(l.Path), []string{filepath.Base(l.Path)}, nil
	}
	if format.Records.Has(formats.PlainFiles) {
		v := formats.FullView(o.Jobs)
		v.OnNotice = o.OnNotice
		r, err := format.Records.Open(ctx, l, v)
		if err != nil {
			return "", nil, err
		}
		for _, set := range r.Schema().Sets {
			names = append(names, set.File)
		}
		return l.Path, names, r.Close()
	}
	err = fs.WalkDir(os.DirFS(l.Path), ".", func(p string, e fs.DirEntry, err error) error {
		switch {
		case err != nil || !e.Type().IsRegular():
		case isPart(format, p):
			names = append(names, p)
		default: // settings and keys can be beside sessions
			o.OnNotice(p + " left out: not a file of sessions")
		}
		return err
	})
	return l.Path, names, err
}

// isPart reports whether a file of a folder can be of its sessions.
func isPart(format *formats.Format, p string) bool {
	rule, _ := ruleFor(format.Merge, p)
	return rule != nil || format.Records != nil // which say what belongs to a store
}
