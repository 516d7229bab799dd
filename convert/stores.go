package convert

import (
	"context"
	"fmt"
	"iter"
	"os"
	"path"
	"slices"
	"strings"

	"rehome/formats"
)

// Found is a store that a walk came upon.
type Found struct {
	Rel      string // slash path below where the walk began; "." is that place itself
	Loc      *formats.Location
	Detected []formats.Detected // best first, never empty
}

// Stores walks a file or folder and yields the stores in it, in the order of
// their names. A folder that is a store is not descended into; hidden folders
// are entered; .git, node_modules, links to folders and rehome's own backups of
// what stands beside them are not. A mere guess (formats.Guess) counts only
// where the walk begins. With from,
// only that format is asked, and a source that it does not recognize but that
// holds nothing else is taken at the user's word.
//
// A place that could not be looked at is yielded with its Rel and an error and
// the walk goes on. An error without a Rel ends it: it wraps formats.ErrUnknown
// when there was no store at all.
func Stores(ctx context.Context, reg *formats.Registry, path, from string) iter.Seq2[Found, error] {
	return stores(ctx, reg, path, from, func(string) {})
}

// stores is Stores that says what it passes over and people might miss.
func stores(ctx context.Context, reg *formats.Registry, path, from string, say func(string)) iter.Seq2[Found, error] {
	return walkStores(ctx, reg, path, from, say, func(string, passing) {})
}

// storesPassing is Stores that tells of what it goes past.
func storesPassing(ctx context.Context, reg *formats.Registry, path, from string, passed func(rel string, why passing)) iter.Seq2[Found, error] {
	return walkStores(ctx, reg, path, from, func(string) {}, passed)
}

func walkStores(ctx context.Context, reg *formats.Registry, path, from string, say func(string), passed func(rel string, why passing)) iter.Seq2[Found, error] {
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
		if n := w.strange - fewStrange; n > 0 {
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
		yield(Found{}, &formats.Error{At: path, Err: fmt.Errorf("%w (tried %s)", formats.ErrUnknown, names(reg.All())),
			Hint: "pass the store itself, or its format with --from (convert, check)"})
	}
}

type walk struct {
	ctx   context.Context
	reg   *formats.Registry
	yield func(Found, error) bool
	say   func(string)
	any   bool // something was yielded

	strange int // files that look like a session, and that no format recognizes

	passed func(rel string, why passing)
}

// fewStrange is how many files of the kind are worth naming.
const fewStrange = 3

// visit reports whether the walk goes on.
func (w *walk) visit(l *formats.Location, rel string) bool {
	if err := w.ctx.Err(); err != nil {
		w.yield(Found{}, err)
		return false
	}
	if !l.IsDir() && !l.IsRegular() {
		w.passed(rel, noFile)
		return true // a pipe or device: opening it could block for ever
	}
	d, err := w.reg.Detect(w.ctx, l)
	if err != nil {
		return w.bad(rel, err)
	}
	if len(d) > 0 && (rel == "." || d[0].Score > formats.Guess) {
		w.any = true
		return w.yield(Found{rel, l, d}, nil)
	}
	if l.IsDir() {
		return w.descend(l, rel)
	}
	why := judged(l)
	if why == sessionish {
		w.strange++
	}
	if why == sessionish && w.strange <= fewStrange {
		w.say(rel + " looks like a session, but no format recognizes it")
	}
	w.passed(rel, why)
	return true
}

func (w *walk) descend(l *formats.Location, rel string) bool {
	list, err := os.ReadDir(l.Path)
	if err != nil {
		return w.bad(rel, &formats.Error{At: l.Path, Err: bare(err)})
	}
	for s := range entries(w.reg, l, list) {
		at, more := path.Join(rel, s.name), true
		switch s.why {
		case entered:
			more = w.visit(s.loc, at)
		case broken:
			more = w.bad(at, s.err)
		case backup:
			w.say(at + " skipped: a backup of " + s.of + ", made by --replace")
		case ownCopy:
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

func (w *walk) bad(rel string, err error) bool {
	if w.ctx.Err() != nil {
		w.yield(Found{}, w.ctx.Err())
		return false
	}
	w.any = true
	return w.yield(Found{Rel: rel}, err)
}

func unknownFormat(reg *formats.Registry, name string) error {
	return &formats.Error{At: name, Err: fmt.Errorf("unknown format; use one of %s", names(reg.All())), Hint: "run `rehome formats` for details"}
}

func names(list []*formats.Format) string {
	if len(list) == 0 {
		return "none"
	}
	var out []string
	for _, f := range list {
		out = append(out, f.Name)
	}
	return strings.Join(slices.Clip(out), ", ")
}
