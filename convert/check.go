package convert

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"sync"

	"rehome/formats"
	"rehome/formats/rule"
	"rehome/schemas"
)

// CheckOptions is what Check needs to know.
type CheckOptions struct {
	Paths      []string // files and folders; stores are looked for in folders
	From       string   // read as this format, whatever they look like
	Layers     rule.Layers
	Rules      []string // only these ids, where set
	Skip       []string // not these
	For        string   // also what a conversion to this format would lose
	Live       bool
	Jobs       int
	OnProgress func(Progress)
}

// Check asks every store below the paths what its format's rules ask, and
// changes nothing. What is wrong with a store is in the report; an error is a
// mistake in the options, or the end of the context.
func Check(ctx context.Context, reg *formats.Registry, o CheckOptions) (*CheckReport, error) {
	if err := o.vet(reg); err != nil {
		return nil, err
	}
	c := &checker{o: o, reg: reg, talk: &talker{progress: o.OnProgress}}
	for _, path := range o.Paths {
		c.find(ctx, path)
	}
	c.run(ctx)
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	return c.report(), nil
}

func (o *CheckOptions) vet(reg *formats.Registry) error {
	for _, id := range slices.Concat(o.Rules, o.Skip) {
		if rule.Named(id) == nil {
			return Misuse{&formats.Error{Err: errors.New("no rule is named " + id), Hint: "rehome check --rules lists them"}}
		}
	}
	for _, name := range []string{o.From, o.For} {
		if name != "" && reg.Named(name) == nil {
			return unknownFormat(reg, name)
		}
	}
	return nil
}

type checker struct {
	o     CheckOptions
	reg   *formats.Registry
	talk  *talker
	found []*examined
}

// examined is one store, and what is found in it.
type examined struct {
	store CheckedStore
	loc   *formats.Location
	f     *formats.Format
	size  int64
	tally checkTally
}

// find looks for stores. Two paths can lead to one store: it is asked once.
func (c *checker) find(ctx context.Context, path string) {
	for found, err := range stores(ctx, c.reg, path, c.o.From, func(string) {}) {
		at := path
		if found.Rel != "" && found.Rel != "." {
			at = filepath.Join(path, filepath.FromSlash(found.Rel))
		}
		one := &examined{store: CheckedStore{Path: at, Err: err}}
		c.found = append(c.found, one)
		if err != nil {
			continue
		}
		one.loc, one.f = found.Loc, found.Detected[0].Format
		one.store.Format = one.f.Name
		one.size = sizeOf(one.loc)
	}
}

// run asks the largest stores first, so that all workers are busy to the end.
func (c *checker) run(ctx context.Context) {
	jobs := c.o.Jobs
	if jobs <= 0 {
		jobs = runtime.GOMAXPROCS(0)
	}
	order := slices.Clone(c.found)
	slices.SortStableFunc(order, func(a, b *examined) int { return int(min(1, max(-1, b.size-a.size))) })
	c.talk.change(func(p *Progress) { p.Stage, p.Stores = checking, len(order) })
	next := make(chan *examined)
	var workers sync.WaitGroup
	for range min(jobs, len(order)) {
		workers.Go(func() {
			for one := range next {
				c.ask(ctx, one, max(1, jobs/max(1, len(order))))
				c.talk.change(func(p *Progress) { p.StoresDone++ })
			}
		})
	}
	for _, one := range order {
		next <- one
	}
	close(next)
	workers.Wait()
}

// ask examines one store.
func (c *checker) ask(ctx context.Context, one *examined, jobs int) {
	if one.store.Err != nil || ctx.Err() != nil {
		return
	}
	one.store.Bytes = one.size
	if one.f.Check == nil {
		one.store.Err = &formats.Error{Format: one.f.Name, At: one.store.Path, Err: errors.New("no rules are known for this format")}
		return
	}
	q := &rule.Inquiry{Layers: c.o.Layers, Found: func(f rule.Finding) {
		if c.wanted(f.Rule) {
			one.tally.add(f)
		}
	}}
	if q.Asks(rule.Schema) {
		q.Schema = validator
	}
	view := formats.View{Live: c.o.Live, Jobs: jobs, Say: func(s string) { one.tally.say(s) }}
	one.store.Err = one.f.Check(ctx, one.loc, view, q)
	if errors.Is(one.store.Err, os.ErrNotExist) {
		one.store.Err = &formats.Error{At: one.store.Path, Err: errors.New("it vanished while it was read"), Hint: "run it again when nothing moves the files"}
	}
}

func (c *checker) wanted(id string) bool {
	if len(c.o.Rules) > 0 && !slices.Contains(c.o.Rules, id) {
		return false
	}
	return !slices.Contains(c.o.Skip, id) && c.o.Layers.Has(rule.Named(id).Layer)
}

func validator(name string) rule.Validator {
	lines, err := schemas.NewLines(name)
	if err != nil {
		return func([]byte) error { return err } // every document says so
	}
	return lines.Validate
}
