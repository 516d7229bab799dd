package convert

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"os"
	"path"
	"slices"
	"strings"

	"rehome/formats"
)

// Found is a store that a walk found.
type Found struct {
	Rel      string // slash path below the start of the walk; "." is the start itself
	Loc      *formats.Location
	Detected []formats.Detected // best first, never empty
}

// Stores walks a file or folder and yields the stores in it, sorted by name. It
// does not enter folders that are stores, .git, node_modules, links to folders,
// and rehome's own backups; it enters other hidden folders. A mere guess
// (formats.Guess) counts only at the start of the walk. With from, it tries
// only that format; a source without any store is then taken to have that
// format.
//
// A path that cannot be read is yielded with its Rel and an error, and the walk
// goes on. An error without a Rel ends it: it wraps formats.ErrUnknown if there
// was no store at all.
func Stores(ctx context.Context, reg *formats.Registry, path, from string) iter.Seq2[Found, error] {
	return stores(ctx, reg, path, from, func(string) {})
}

// stores is Stores with remarks about what it skips and users might miss.
func stores(ctx context.Context, reg *formats.Registry, path, from string, say func(string)) iter.Seq2[Found, error] {
	return walkStores(ctx, reg, path, from, say, func(string, skipReason) {})
}

// storesReporting is Stores with a callback for what it skips.
func storesReporting(ctx context.Context, reg *formats.Registry, path, from string, passed func(rel string, why skipReason)) iter.Seq2[Found, error] {
	return walkStores(ctx, reg, path, from, func(string) {}, passed)
}

func walkStores(ctx context.Context, reg *formats.Registry, path, from string, say func(string), passed func(rel string, why skipReason)) iter.Seq2[Found, error] {
	return func(yield func(Found, error) bool) {
		asked := reg
		if from != "" {
			f := reg.Lookup(from)
			if f == nil {
				yield(Found{}, unknownFormat(reg, from))
				return
			}
			asked = formats.NewRegistry(f)
		}
		root, err := formats.Locate(path)
		if err != nil {
			yield(Found{}, err)
			return
		}
		w := &walk{ctx: ctx, reg: asked, yield: yield, say: say, passed: passed}
		more := w.visit(root, ".")
		if n := w.unknown - maxNamedUnknown; n > 0 {
			say(fmt.Sprintf("and %d more: run `rehome ls --all` to list them", n))
		}
		if !more || w.any {
			return
		}
		if from != "" {
			d := formats.Detected{Format: asked.All()[0], Match: formats.Match{Evidence: []string{"named by --from"}}}
			yield(Found{Rel: ".", Loc: root, Detected: []formats.Detected{d}}, nil)
			return
		}
		yield(Found{}, &formats.Error{At: path, Err: formats.ErrUnknown, Hint: "run `rehome formats` to list the supported formats"})
	}
}

type walk struct {
	ctx   context.Context
	reg   *formats.Registry
	yield func(Found, error) bool
	say   func(string)
	any   bool // a store or error was yielded

	unknown int // number of files that look like a session, but that no format recognizes

	passed func(rel string, why skipReason)
}

// maxNamedUnknown is how many such files are named.
const maxNamedUnknown = 3

// visit reports whether to go on.
func (w *walk) visit(l *formats.Location, rel string) bool {
	if err := w.ctx.Err(); err != nil {
		w.yield(Found{}, err)
		return false
	}
	if !l.IsDir() && !l.IsRegular() {
		w.passed(rel, specialFile)
		return true // a pipe or device: opening it could block forever
	}
	d, err := w.reg.Detect(w.ctx, l)
	if err != nil {
		return w.yieldError(rel, err)
	}
	if len(d) > 0 && (rel == "." || d[0].Score > formats.Guess) {
		w.any = true
		return w.yield(Found{rel, l, d}, nil)
	}
	if l.IsDir() {
		return w.descend(l, rel)
	}
	why := classify(l)
	if why == sessionLike {
		w.unknown++
	}
	if why == sessionLike && w.unknown <= maxNamedUnknown {
		w.say(rel + " looks like a session, but no format recognizes it")
	}
	w.passed(rel, why)
	return true
}

func (w *walk) descend(l *formats.Location, rel string) bool {
	list, err := os.ReadDir(l.Path)
	if err != nil {
		return w.yieldError(rel, &formats.Error{At: l.Path, Err: formats.Cause(err)})
	}
	for s := range entries(w.reg, l, list) {
		at, more := path.Join(rel, s.name), true
		switch s.why {
		case entered:
			more = w.visit(s.loc, at)
		case broken:
			more = w.yieldError(at, s.err)
		case backup:
			w.say(at + " skipped: a backup of " + s.of + ", made by --replace")
		case clientCopy:
			w.say(at + " skipped: a copy made by its client; pass it as SRC to read it")
		default:
			w.passed(at, s.why)
		}
		if !more {
			return false
		}
	}
	return true
}

func (w *walk) yieldError(rel string, err error) bool {
	if w.ctx.Err() != nil {
		w.yield(Found{}, w.ctx.Err())
		return false
	}
	w.any = true
	return w.yield(Found{Rel: rel}, err)
}

func unknownFormat(reg *formats.Registry, name string) error {
	return Misuse{&formats.Error{At: name, Err: errors.New("unknown format"), Hint: "run `rehome formats` to list the supported formats"}}
}

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
