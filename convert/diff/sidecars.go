package diff

import (
	"cmp"
	"context"
	"errors"
	"os"
	"path"
	"path/filepath"
	"strings"

	"rehome/convert/internal/sidecar"
	"rehome/formats"
	"rehome/formats/store"
)

// sidecars compares the sidecars of two texts in one format, or of two stores that both
// have some. Otherwise only one side needs them: then they are reported.
func (x *Exact) sidecars(ctx context.Context, sides [2]*side, at [2]place, s *Store) error {
	var readers [2]store.Reader
	var some [2]bool
	for i := range at {
		list, err := sidecarsOf(at[i])
		if err != nil {
			return errors.Join(err, closeAll(readers))
		}
		readers[i], some[i] = list, len(list.schema.Sets) > 0
	}
	if at[0].of == at[1].of && (at[0].of.Text || some[0] && some[1]) {
		return x.compare(ctx, readers, s)
	}
	for i, r := range readers {
		for _, set := range r.Schema().Sets {
			x.NotCompared = append(x.NotCompared, sides[i].Show(filepath.Join(r.(*files).root.Name(), filepath.FromSlash(set.File))))
		}
	}
	return closeAll(readers)
}

// sidecarsOf opens the sidecars of a store: the one beside it or its file, and those of its
// parts.
func sidecarsOf(at place) (*files, error) {
	beside, err := sidecar.PathOf(at.path)
	if err != nil {
		return nil, err
	}
	dir, name := filepath.Split(beside)
	base := strings.TrimSuffix(strings.TrimSuffix(name, formats.SidecarSuffix), formats.OldSidecarSuffix)
	names := []string{name}
	if at.loc.IsDir() {
		inside, err := os.ReadDir(at.path)
		if err != nil {
			return nil, &formats.Error{At: at.path, Err: formats.Cause(err)}
		}
		for _, e := range inside {
			if strings.HasSuffix(e.Name(), formats.SidecarSuffix) {
				names = append(names, path.Join(base, e.Name()))
			}
		}
	}
	if parts := at.of.Records.Parts; parts != nil {
		for _, part := range parts(at.loc) {
			names = append(names, path.Join(base, part, formats.PartSidecar))
		}
	}
	f, err := someFiles(cmp.Or(dir, "."), names...)
	if err == nil {
		f.base = base
	}
	return f, err
}
