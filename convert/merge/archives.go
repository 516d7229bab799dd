package merge

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"

	"rehome/formats"
)

// isArchive reports whether a format is text of anybody's databases. Such text is united as
// the stores that it restores to.
func isArchive(f *formats.Format) bool {
	return f.Text && f.Sessions == nil && f.Records.Has(formats.Tables)
}

// restore restores the archives among the sources in the private folder.
func (m *merger) restore(ctx context.Context) error {
	for k, slot := range m.order {
		for i, s := range m.found[slot] {
			if !isArchive(s.format) {
				continue
			}
			at := filepath.Join(m.temp.Path, "restored", fmt.Sprint(s.n), fmt.Sprint(k), filepath.Base(s.loc.Path))
			if err := os.MkdirAll(filepath.Dir(at), 0o777); err != nil {
				return err
			}
			if err := m.convert(ctx, s.loc.Path, at, "", false, true); err != nil {
				return err
			}
			loc, err := formats.Locate(at)
			if err != nil {
				return err
			}
			found, err := m.reg.Detect(ctx, loc)
			if err == nil && len(found) == 0 {
				err = &formats.Error{At: s.loc.Path, Err: errors.New("restores to a store that no format recognizes")}
			}
			if err != nil {
				return err
			}
			m.found[slot][i] = source{s.n, loc, found[0].Format, s.format, s.loc}
		}
	}
	for _, w := range m.whole {
		m.note(w.source)
	}
	for _, slot := range m.order {
		for _, s := range m.found[slot] {
			m.note(s)
		}
		m.found[slot] = slices.DeleteFunc(m.found[slot], func(s source) bool {
			is := s.format.Merge != nil && s.format.Merge.Open != nil
			if is {
				m.whole = append(m.whole, whole{s, slot.rel})
			}
			return is
		})
	}
	m.order = slices.DeleteFunc(m.order, func(slot slot) bool { return len(m.found[slot]) == 0 })
	return nil
}

// archive converts a store of the result to an archive, and removes it.
func (m *merger) archive(ctx context.Context, from, to, format string) error {
	if err := os.MkdirAll(filepath.Dir(to), 0o777); err != nil {
		return err
	}
	if err := m.convert(ctx, from, to, format, false, !m.databases); err != nil {
		return err
	}
	return os.RemoveAll(from)
}

// copyText copies the files of an archive to a new folder as they are.
func copyText(from *formats.Location, to string) error {
	root, err := openNew(to)
	if err != nil {
		return err
	}
	defer root.Close()
	return fs.WalkDir(os.DirFS(from.Path), ".", func(p string, e fs.DirEntry, err error) error {
		if err != nil || !e.Type().IsRegular() {
			return err
		}
		out, err := create(root, p)
		if err != nil {
			return err
		}
		f := &file{real: filepath.Join(from.Path, filepath.FromSlash(p))}
		return errors.Join(f.each(out.write), out.finish())
	})
}

// note notes whether a source is a database or text of one. If some are text, all of the
// result is: it can be in git, where nobody expects the secrets of a database.
func (m *merger) note(s source) {
	switch {
	case s.archive != nil:
		m.archived = s.archive
	case s.format.Merge == nil || s.format.Merge.Open == nil && s.format.Merge.Via == "":
	case s.format.Text:
		m.text = s.format
	default:
		m.databases = true
	}
}
