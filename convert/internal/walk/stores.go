package walk

import (
	"context"
	"iter"

	"rehome/formats"
)

// Stores yields the stores that Items yields below a path, and passes what is
// skipped to skipped. Items explains skip. With from, it tries only that format; a source without any
// store is then taken to have that format.
//
// A path that cannot be read is yielded with its Rel and an error, and the walk
// goes on. An error without a Rel ends it: it wraps formats.ErrUnknown if there
// was no store at all.
func Stores(ctx context.Context, reg *formats.Registry, path string, from *formats.Format, skip func(rel string, isFolder bool) bool, skipped func(Item)) iter.Seq2[Found, error] {
	return func(yield func(Found, error) bool) {
		if from != nil {
			reg = formats.NewRegistry(from)
		}
		start, err := formats.Locate(path)
		if err != nil {
			yield(Found{}, err)
			return
		}
		some := false
		for it := range Items(ctx, reg, start, skip) {
			switch it.Why {
			case Store:
				some = true
				if !yield(it.Found, nil) {
					return
				}
			case Unreadable:
				some = true
				if !yield(Found{Rel: it.Rel}, it.Err) {
					return
				}
			default:
				skipped(it)
			}
		}
		switch {
		case ctx.Err() != nil:
			yield(Found{}, ctx.Err())
		case some:
		case from != nil:
			d := formats.Detected{Format: from, Match: formats.Match{Evidence: []string{"named by --from"}}}
			yield(Found{Rel: ".", Loc: start, Detected: []formats.Detected{d}}, nil)
		default:
			yield(Found{}, &formats.Error{At: path, Err: formats.ErrUnknown, Hint: "run `rehome formats` to list the supported formats"})
		}
	}
}
