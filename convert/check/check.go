package check

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"time"

	"rehome/convert"
	"rehome/convert/internal/ignore"
	"rehome/convert/internal/leaks"
	"rehome/convert/internal/notify"
	"rehome/convert/internal/workers"
	"rehome/convert/internal/worktree"
	"rehome/formats"
	"rehome/formats/rule"
	"rehome/internal/scratch"
	"rehome/schemas"
)

// Options are the options of Check.
type Options struct {
	Paths      []string // files, and folders in which to look for stores; none: where the clients of Machine keep them
	Machine    formats.Machine
	Sessions   map[string][]string // by path of a store: report only what belongs to these of its sessions and their subagents, or to all
	Exclude    []string            // skip what these patterns match, which mean what they mean in a .gitignore
	NoIgnore   bool                // obey no .gitignore and .rehomeignore
	Base       string              // read those from this git commit
	From       string              // read everything as this format, whatever it looks like
	Layers     rule.Layers
	Rules      []string  // only these rule ids, if set
	Skip       []string  // not these rule ids
	For        string    // also report what a conversion to this format would lose
	Baseline   *Baseline // known findings, which do not count; may be nil
	Require    bool      // it is an error if a path has no store
	Verbose    bool      // also report which stores are read from a copy
	Live       bool
	Jobs       int
	OnProgress func(convert.Progress)
}

// Check runs the rules of its format on every store below the paths, and
// changes nothing. Problems of a store are in the report; the error is a
// mistake in the options, or that of the context.
func Check(ctx context.Context, reg *formats.Registry, o Options) (*Report, error) {
	if err := o.validate(reg); err != nil {
		return nil, err
	}
	scratch.Sweep()
	c := &checker{o: o, reg: reg, talk: &notify.Notifier{OnProgress: o.OnProgress}, seen: map[string]bool{}, scanner: sync.OnceValues(leaks.New)}
	if err := c.findAll(ctx); err != nil {
		return nil, err
	}
	c.run(ctx)
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	for _, one := range c.found {
		c.maskSecrets(ctx, &one.findings)
	}
	return c.report(), nil
}

func (o *Options) validate(reg *formats.Registry) error {
	for _, id := range slices.Concat(o.Rules, o.Skip) {
		if rule.Lookup(id) == nil {
			return convert.Misuse{Err: &formats.Error{Err: errors.New("no such rule: " + id), Hint: "run `rehome check --rules` for the list"}}
		}
	}
	for _, name := range []string{o.From, o.For} {
		if _, err := reg.Find(name); name != "" && err != nil {
			return convert.Misuse{Err: err}
		}
	}
	for _, id := range o.Rules {
		if !o.wanted(id) && !slices.Contains(o.Skip, id) {
			return convert.Misuse{Err: &formats.Error{Err: errors.New("rule " + id + " is not enabled"), Hint: enableHint(id)}}
		}
	}
	if o.For != "" && reg.Lookup(o.For).Writer == nil {
		return convert.Misuse{Err: &formats.Error{At: o.For, Err: errors.New("sessions cannot be written in this format"), Hint: "run `rehome formats` to see which formats can"}}
	}
	return nil
}

type checker struct {
	o     Options
	reg   *formats.Registry
	talk  *notify.Notifier
	found []*storeCheck
	seen  map[string]bool               // resolved paths: two paths can lead to one
	trees map[string]*ignore.Tree       // by the paths of the options
	bases map[string]*worktree.Revision // by the roots of work trees

	merging sync.Mutex
	merges  map[string]map[string]worktree.Sides // files with conflicts, by the roots of work trees

	scanner func() (*leaks.Scanner, error) // one for all stores: it is costly to create
}

// storeCheck is one store and its findings.
type storeCheck struct {
	store    Store
	loc      *formats.Location
	f        *formats.Format
	size     int64
	sessions []string // report only what belongs to these; none = all
	pathOnly bool     // not a store: findings about a path of the walk
	findings findingSet
}

// report adds a finding. A store that is a file has no name inside itself.
func (e *storeCheck) report(f rule.Finding) {
	if !e.reports(&f) {
		e.findings.addOther()
		return
	}
	if e.loc != nil && !e.loc.IsDir() && f.At.File == filepath.Base(e.store.Path) {
		f.At.File = ""
	}
	e.findings.add(f)
}

// reports tells whether a finding can concern the sessions to check. One that belongs
// to no session does if it is an error or a secret, or damage to the files.
func (e *storeCheck) reports(f *rule.Finding) bool {
	r := rule.Lookup(f.Rule)
	shared := f.Session == "" && (r.Severity == rule.Error || (rule.Container | rule.Secrets).Has(r.Layer))
	return len(e.sessions) == 0 || shared || slices.Contains(e.sessions, f.Session)
}

// maxDepth is how deep subagents can be nested.
const maxDepth = 64

// addSubagents adds the subagents of the sessions to check.
func (e *storeCheck) addSubagents(ctx context.Context, v formats.View) {
	if len(e.sessions) == 0 || e.f.Sessions == nil || e.f.Sessions.Heads == nil {
		return
	}
	parents := map[string]string{}
	for h := range e.f.Sessions.Heads(ctx, e.loc, v) { // what cannot be read is a finding
		if h != nil && h.Parent != nil {
			parents[h.ID] = h.Parent.Session
		}
	}
	var added []string
	for id := range parents {
		up := id
		for range maxDepth {
			if up = parents[up]; slices.Contains(e.sessions, up) && !slices.Contains(e.sessions, id) {
				added = append(added, id)
				break
			}
		}
	}
	slices.Sort(added)
	e.sessions = slices.Concat(e.sessions, added)
}

// run checks the stores.
func (c *checker) run(ctx context.Context) {
	jobs := workers.Count(c.o.Jobs)
	c.talk.Update(func(p *convert.Progress) { p.Stage, p.Stores = notify.Checking, len(c.found) })
	var sizes []int64
	asked := 0 // paths without a format have nothing to check
	for _, one := range c.found {
		sizes = append(sizes, one.size)
		if one.f != nil {
			asked++
		}
	}
	workers.Run(ctx, jobs, slices.Values(workers.LargestFirst(sizes)), func(i int, last bool) bool {
		one := c.found[i]
		c.checkStore(ctx, one, max(1, jobs/max(1, asked)))
		again := !last && one.f != nil && workers.TooManyFiles(one.store.Err)
		if again {
			one.store.Err = nil
		} else {
			c.talk.Update(func(p *convert.Progress) { p.StoresDone++ })
		}
		return again
	})
}

// checkStore checks one store.
func (c *checker) checkStore(ctx context.Context, one *storeCheck, jobs int) {
	if one.store.Err != nil || one.f == nil || ctx.Err() != nil {
		return
	}
	one.store.Bytes, one.findings.format = one.size, one.f.Name
	if one.f.Check == nil {
		one.store.Err = &formats.Error{Format: one.f.Name, At: one.store.Path, Err: errors.New("no rules for this format")}
		return
	}
	var err error
	for n := 1; ; n++ {
		one.findings.reset(c.o.Baseline.known(one.store.Path))
		if err = c.checkOnce(ctx, one, jobs); !errors.Is(err, formats.ErrBusy) || n == maxTries || ctx.Err() != nil {
			break
		}
		select {
		case <-ctx.Done():
		case <-time.After(retryDelay << n):
		}
	}
	if errors.Is(err, formats.ErrBusy) { // the findings may mix two states of the store
		one.findings.reset(nil)
	}
	if _, there := os.Stat(os.TempDir()); errors.Is(err, os.ErrNotExist) && there == nil { // else the folder for temporary files is missing
		err = &formats.Error{At: one.store.Path, Err: errors.New("moved or deleted during the check"), Hint: "run check again when no program is moving the files"}
	}
	one.store.Err = err
}

// A store that changes while it is read is read again after a delay: clients
// write in bursts.
const (
	maxTries   = 4
	retryDelay = 50 * time.Millisecond
)

func (c *checker) checkOnce(ctx context.Context, one *storeCheck, jobs int) error {
	q := &rule.Pass{Layers: c.o.Layers, Report: func(f rule.Finding) {
		if c.o.wanted(f.Rule) {
			one.report(f)
		}
	}}
	if q.Enabled(rule.Schema) {
		q.Schema = validator
	}
	view := formats.View{Live: c.o.Live, Jobs: jobs, OnNotice: one.findings.say, Verbose: c.o.Verbose}
	one.addSubagents(ctx, view)
	err := one.f.Check(ctx, one.loc, view, q)
	for _, further := range []func(context.Context, *storeCheck, formats.View, *rule.Pass) error{c.checkMerged, c.checkRestored, c.checkSidecar, c.checkLosses, c.checkSecrets} {
		if err == nil {
			err = further(ctx, one, view, q)
		}
	}
	return err
}

// wanted reports whether a rule is enabled. Loss rules need a target format.
func (o *Options) wanted(id string) bool {
	if len(o.Rules) > 0 && !slices.Contains(o.Rules, id) || slices.Contains(o.Skip, id) {
		return false
	}
	if slices.Contains(lossRules(), id) {
		return o.For != ""
	}
	r := rule.Lookup(id)
	if r == nil {
		panic("check: codec reports unknown rule " + id)
	}
	return o.Layers.Has(r.Layer)
}

// enableHint returns the flag that enables a rule.
func enableHint(id string) string {
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
	if err != nil { // a schema with few documents, each of its own shape
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
