package convert

import (
	"context"
	"fmt"
	"iter"
	"slices"
	"strings"

	"rehome/convert/internal/walk"
	"rehome/formats"
)

// Found is a store that a walk found.
type Found = walk.Found

// Stores walks a file or folder and yields the stores in it, sorted by name. In the
// folder of a store it enters only what is not of that store, see formats.Format.Strays.
// It does not enter .git, node_modules, links to folders, and rehome's own backups; it
// enters other hidden folders. A mere guess (formats.Guess) counts only at the start of
// the walk. With from, it tries only that format; a source without any store is then
// taken to have that format.
//
// A path that cannot be read is yielded with its Rel and an error, and the walk
// goes on. An error without a Rel ends it: it wraps formats.ErrUnknown if there
// was no store at all. say, which may be nil, is told what is skipped and users might miss.
func Stores(ctx context.Context, reg *formats.Registry, path, from string, say func(string)) iter.Seq2[Found, error] {
	if say == nil {
		say = func(string) {}
	}
	return func(yield func(Found, error) bool) {
		of, err := reg.Find(from)
		if from != "" && err != nil {
			yield(Found{}, Misuse{err})
			return
		}
		unknown := 0
		skipped := func(it walk.Item) {
			switch it.Why {
			case walk.Backup:
				say(it.Rel + " skipped: a backup of " + it.Of + ", made by --replace")
			case walk.ClientCopy:
				say(it.Rel + " skipped: a copy made by its client; pass it as SRC to read it")
			case walk.SessionLike:
				if unknown++; unknown <= maxNamedUnknown {
					say(it.Rel + " looks like a session, but no format recognizes it")
				}
			}
		}
		for f, err := range walk.Stores(ctx, reg, path, of, nil, skipped) {
			if !yield(f, err) {
				break
			}
		}
		if n := unknown - maxNamedUnknown; n > 0 {
			say(fmt.Sprintf("and %d more: run `rehome ls --all` to list them", n))
		}
	}
}

// maxNamedUnknown is how many files are named that look like a session, but that
// no format recognizes.
const maxNamedUnknown = 3

func formatNames(list []*formats.Format) string {
	if len(list) == 0 {
		return "none"
	}
	var out []string
	for _, f := range list {
		out = append(out, f.Name)
	}
	return strings.Join(slices.Clip(out), ", ")
}
