package convert

import (
	"cmp"
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"time"

	"rehome/convert/internal/leaks"
	"rehome/formats"
	"rehome/formats/rule"
	"rehome/internal/scratch"
	"rehome/schemas"
)

// CheckOptions is what Check needs to know.
type CheckOptions struct {
	Paths      []string // files and folders; stores are looked for in folders
	From       string   // read as this format, whatever they look like
	Layers     rule.Layers
	Rules      []string  // only these ids, where set
	Skip       []string  // not these
	For        string    // also what a conversion to this format would lose
	Baseline   *Baseline // what is known of, and does not count
	Require    bool      // the working directory, too, must hold a session
	Verbose    bool      // also report which stores are read from a copy
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
	scratch.Sweep()
	c := &checker{o: o, reg: reg, talk: &talker{progress: o.OnProgress}, seen: map[string]bool{}, scanner: sync.OnceValues(leaks.New)}
	for _, path := range o.Paths {
		c.find(ctx, path)
	}
	c.run(ctx)
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	for _, one := range c.found {
		c.mask(ctx, &one.tally)
	}
	return c.report(), nil
}

func (o *CheckOptions) vet(reg *formats.Registry) error {
	for _, id := range slices.Concat(o.Rules, o.Skip) {
		if rule.Lookup(id) == nil {
			return Misuse{&formats.Error{Err: errors.New("no such rule: " + id), Hint: "run `rehome check --rules` for the list"}}
		}
	}
	for _, name := range []string{o.From, o.For} {
		if name != "" && reg.Lookup(name) == nil {
			return unknownFormat(reg, name)
		}
	}
	for _, id := range o.Rules {
		if !o.wanted(id) && !slices.Contains(o.Skip, id) {
			return Misuse{&formats.Error{Err: errors.New("rule " + id + " is not enabled"), Hint: unasked(id)}}
		}
	}
	if o.For != "" && reg.Lookup(o.For).Encode == nil {
		return Misuse{&formats.Error{At: o.For, Err: errors.New("sessions cannot be written in this format"), Hint: "run `rehome formats` to see which formats can"}}
	}
	return nil
}

type checker struct {
	o     CheckOptions
	reg   *formats.Registry
	talk  *talker
	found []*examined
	seen  map[string]bool // places without links: two paths can lead to one

	scanner func() (*leaks.Scanner, error) // one for all stores: it is costly to make
}

// examined is one store, and what is found in it.
type examined struct {
	store CheckedStore
	loc   *formats.Location
	f     *formats.Format
	size  int64
	walk  bool // it is no store: what the walk has to say of a path
	tally checkTally
}

// report takes a finding. A store that is a file has no name inside itself.
func (e *examined) report(f rule.Finding) {
	if e.loc != nil && !e.loc.IsDir() && f.At.File == filepath.Base(e.store.Path) {
		f.At.File = ""
	}
	e.tally.add(f)
}

// run asks the largest stores first, so that all workers are busy to the end.
func (c *checker) run(ctx context.Context) {
	jobs := jobsOr(c.o.Jobs)
	order := make([]int, len(c.found))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(c.found[b].size, c.found[a].size) })
	c.talk.change(func(p *Progress) { p.Stage, p.Stores = checking, len(order) })
	asked := 0 // what was found besides is asked nothing
	for _, one := range c.found {
		if one.f != nil {
			asked++
		}
	}
	spread(ctx, jobs, order, func(i int, last bool) bool {
		one := c.found[i]
		c.ask(ctx, one, max(1, jobs/max(1, asked)))
		again := !last && one.f != nil && filesUsedUp(one.store.Err)
		if again {
			one.store.Err = nil
		} else {
			c.talk.change(func(p *Progress) { p.StoresDone++ })
		}
		return again
	})
}

// ask examines one store.
func (c *checker) ask(ctx context.Context, one *examined, jobs int) {
	if one.store.Err != nil || one.f == nil || ctx.Err() != nil {
		return
	}
	one.store.Bytes, one.tally.kind = one.size, one.f.Name
	if one.f.Check == nil {
		one.store.Err = &formats.Error{Format: one.f.Name, At: one.store.Path, Err: errors.New("no rules for this format")}
		return
	}
	var err error
	for n := 1; ; n++ {
		one.tally.forget(c.o.Baseline.of(one.store.Path))
		if err = c.askOnce(ctx, one, jobs); !errors.Is(err, formats.ErrBusy) || n == mostTries || ctx.Err() != nil {
			break
		}
		select {
		case <-ctx.Done():
		case <-time.After(breather << n):
		}
	}
	if errors.Is(err, formats.ErrBusy) { // what was seen may be half of one state and half of the next
		one.tally.forget(nil)
	}
	if _, there := os.Stat(os.TempDir()); errors.Is(err, os.ErrNotExist) && there == nil { // else it is that folder that is missing
		err = &formats.Error{At: one.store.Path, Err: errors.New("moved or deleted during the check"), Hint: "run check again when no program is moving the files"}
	}
	one.store.Err = err
}

// A store that changes while it is read is read again after a breather: clients
// write in bursts.
const (
	mostTries = 4
	breather  = 50 * time.Millisecond
)

func (c *checker) askOnce(ctx context.Context, one *examined, jobs int) error {
	q := &rule.Pass{Layers: c.o.Layers, Report: func(f rule.Finding) {
		if c.o.wanted(f.Rule) {
			one.report(f)
		}
	}}
	if q.Enabled(rule.Schema) {
		q.Schema = validator
	}
	view := formats.View{Live: c.o.Live, Jobs: jobs, OnNotice: one.tally.say, Verbose: c.o.Verbose}
	err := one.f.Check(ctx, one.loc, view, q)
	for _, further := range []func(context.Context, *examined, formats.View, *rule.Pass) error{c.inner, c.besides, c.lost, c.secrets} {
		if err == nil {
			err = further(ctx, one, view, q)
		}
	}
	return err
}

// wanted reports whether a rule is asked at all. Those of what a session loses
// are asked with a target only.
func (o *CheckOptions) wanted(id string) bool {
	if len(o.Rules) > 0 && !slices.Contains(o.Rules, id) || slices.Contains(o.Skip, id) {
		return false
	}
	if slices.Contains(lossRules(), id) {
		return o.For != ""
	}
	r := rule.Lookup(id)
	if r == nil {
		panic("convert: codec reports unknown rule " + id)
	}
	return o.Layers.Has(r.Layer)
}

// unasked is what asks a rule that nothing else does.
func unasked(id string) string {
	layer := rule.Lookup(id).Layer
	switch {
	case slices.Contains(lossRules(), id):
		return "add --for FORMAT"
	case layer == rule.Secrets:
		return "add --secrets"
	}
	return "add --layer " + layer.String()
}

func validator(name string) rule.Validator {
	lines, err := schemas.NewLines(name)
	if err != nil { // a schema of few documents, each of its own shape
		return causesOf(func(doc []byte) error { return schemas.Validate(name, doc) })
	}
	return causesOf(lines.Validate)
}

// causesOf makes a validator of a function that returns an error.
func causesOf(validate func([]byte) error) rule.Validator {
	return func(doc []byte) (out []rule.Cause) {
		for _, c := range schemas.Causes(validate(doc)) {
			out = append(out, rule.Cause(c))
		}
		return out
	}
}
