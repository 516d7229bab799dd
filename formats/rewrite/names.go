package rewrite

import (
	"context"
	"errors"
	"io/fs"
	"path"
	"slices"
	"strings"

	"rehome/formats"
	"rehome/formats/store"
)

// renameFiles rewrites the names of plain files, element by element, and sorts the files
// by their new names.
func (r *Reader) renameFiles(ctx context.Context) error {
	sets := slices.Clone(r.schema.Sets)
	order := make([]int, len(sets))
	taken := map[string]bool{}
	for i := range sets {
		order[i] = i
		if sets[i].Kind == store.Table {
			continue
		}
		name, err := r.Path(ctx, sets[i].File)
		if err != nil {
			return err
		}
		if taken[name] {
			return &formats.Error{At: sets[i].File, Err: errors.New("two files would have the same name"), Hint: "rename one of them"}
		}
		sets[i].File, taken[name] = name, true
	}
	files := max(0, slices.IndexFunc(sets, func(s store.Set) bool { return s.Kind == store.Plain })) // the last sets
	if len(sets) > 0 && sets[files].Kind == store.Plain {
		slices.SortStableFunc(order[files:], func(a, b int) int { return strings.Compare(sets[a].File, sets[b].File) })
	}
	r.sorted = !slices.IsSorted(order)
	r.to = make([]int, len(sets))
	r.schema.Sets = make([]store.Set, len(sets))
	for at, i := range order {
		r.to[i], r.schema.Sets[at] = at, sets[i]
	}
	return nil
}

// Path returns what becomes of a slash path.
func (r *Reader) Path(ctx context.Context, name string) (string, error) {
	elements := strings.Split(name, "/")
	for i, e := range elements {
		out, err := r.rw.Value(ctx, []byte(e), false, nil)
		if err != nil {
			return "", &formats.Error{At: path.Dir(name), Err: err}
		}
		if string(out) == e {
			continue
		}
		elements[i] = string(out)
		if !fs.ValidPath(elements[i]) || strings.ContainsAny(elements[i], `/\:*?"<>|`) {
			return "", &formats.Error{At: path.Dir(name), Err: errors.New("the name of a file in it cannot be redacted"), Hint: "rename the file"}
		}
	}
	return strings.Join(elements, "/"), nil
}
