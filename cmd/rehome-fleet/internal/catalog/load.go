package catalog

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"os"
	"path"
	"path/filepath"

	"rehome/cmd/rehome-fleet/internal/tables"
	"rehome/convert"
	"rehome/convert/check"
	"rehome/formats"
	"rehome/formats/rule"
	"rehome/internal/scratch"
)

// maxSessions is about how many sessions are in memory at the same time.
const maxSessions = 20_000

// The states of a store in the report.
const (
	Loaded    = "loaded"
	Unchanged = "unchanged"
	Written   = "written"
	Failed    = "failed"
)

// Report is the result of Load. Its JSON is the output of `rehome-fleet catalog --json`.
type Report struct {
	Source string        `json:"source"`
	Target string        `json:"target"` // without credentials
	Stores []StoreReport `json:"stores"` // in the order of the walk
}

// StoreReport is one store.
type StoreReport struct {
	Path     string               `json:"path"`
	Format   string               `json:"format,omitempty"`
	Status   string               `json:"status"`
	Sessions int                  `json:"sessions"`
	Failed   int                  `json:"failed"`   // of the sessions: could not be read
	Losses   int                  `json:"losses"`   // rows
	Findings int                  `json:"findings"` // rows
	Error    *convert.ErrorReport `json:"error,omitempty"`
}

// Options are the options of Load.
type Options struct {
	Base       string             // the path under which SRC is known; "" = its absolute path
	Redact     *convert.Redaction // what to redact; nil = nothing
	Live       bool               // read a store in use in place
	Jobs       int                // workers; 0 = one per CPU
	OnProgress func(convert.Progress)
	OnNotice   func(string)
}

// Load loads the sessions of a store, or of a folder of stores, into the catalog at an
// address. Each store is loaded as a whole, or not at all.
func Load(ctx context.Context, reg *formats.Registry, src, address string, m tables.Meta, o Options) (*Report, error) {
	l, err := Open(address)
	if err == nil && o.Base == "" {
		// A store is the same through a symbolic link.
		if o.Base, err = filepath.Abs(src); err == nil {
			if real, err := filepath.EvalSymlinks(o.Base); err == nil {
				o.Base = real
			}
		}
	}
	if err != nil {
		return nil, err
	}
	r, err := read(ctx, reg, src, l.Name(), m, o)
	if err != nil {
		return nil, err
	}
	defer r.dir.Remove()
	defer l.Close(ctx)
	base := tables.PathText(filepath.ToSlash(o.Base))
	stores, err := r.each(func(c *content) error {
		f, digest, err := c.file(filepath.Join(r.dir.Path, "rows"))
		if err != nil {
			return err
		}
		defer f.Close()
		_, c.report.Status, err = l.Load(ctx, Key{m.Machine, path.Join(base, c.report.Path), m.Unit}, f, digest)
		return c.report.refused(err)
	})
	return &Report{Source: src, Target: l.Name(), Stores: stores}, err
}

// file writes the rows to a file, and returns its digest.
func (c *content) file(at string) (*os.File, string, error) {
	f, err := os.Create(at)
	if err != nil {
		return nil, "", err
	}
	sum := sha256.New()
	if err := writeFile(io.MultiWriter(f, sum), c.report.Format, c.write); err != nil {
		return nil, "", errors.Join(err, f.Close())
	}
	return f, hex.EncodeToString(sum.Sum(nil)), nil
}

// refused notes that the rows of a store cannot be loaded.
func (r *StoreReport) refused(err error) error {
	if !errors.Is(err, ErrRows) {
		return err
	}
	r.Status, r.Error = Failed, &convert.ErrorReport{Message: err.Error()}
	r.Sessions, r.Losses, r.Findings = 0, 0, 0
	return nil
}

// reading is what was read of the stores of a source.
type reading struct {
	dir    *scratch.Dir // with the tables
	stores []tables.StoreReport
	found  map[string][]Finding
}

func (r *reading) tables() string { return filepath.Join(r.dir.Path, "tables") }

// read reads a source. target takes the place of private folders in errors.
func read(ctx context.Context, reg *formats.Registry, src, target string, m tables.Meta, o Options) (_ *reading, err error) {
	scratch.Sweep()
	r := &reading{}
	if r.dir, err = scratch.New("", "catalog"); err != nil {
		return nil, err
	}
	made, err := tables.Write(ctx, reg, src, r.tables(), m, tables.Options{Redact: o.Redact, Live: o.Live, Jobs: o.Jobs, OnProgress: o.OnProgress, OnNotice: o.OnNotice})
	if err == nil {
		r.stores = made.Stores
		r.found, err = findings(ctx, reg, src, o)
	}
	if err != nil {
		return nil, errors.Join(formats.ReplacePath(err, r.tables(), target), r.dir.Remove())
	}
	return r, nil
}

// each calls f with each store that could be read, and reports on all.
func (r *reading) each(f func(*content) error) ([]StoreReport, error) {
	out := make([]StoreReport, len(r.stores))
	for first := 0; first < len(r.stores); {
		list, err := r.some(&first, out)
		if err != nil {
			return nil, err
		}
		for _, c := range list {
			if err := f(c); err != nil {
				return nil, err
			}
		}
	}
	return out, nil
}

// some returns stores from the first one on, and sets that with which to go on.
func (r *reading) some(first *int, reports []StoreReport) (list []*content, err error) {
	of := map[string]*content{}
	for n := 0; *first < len(r.stores) && n < maxSessions; *first++ {
		s, rep := r.stores[*first], &reports[*first]
		*rep = StoreReport{Path: s.Path, Format: s.Format, Status: Failed, Failed: len(s.Failed), Error: s.Error}
		if s.Error == nil {
			c := &content{report: rep, Findings: r.found[s.Found()]}
			of[s.Path], list = c, append(list, c)
		}
		n += s.Sessions + len(s.Failed)
	}
	err = tables.Each(r.tables(), "sessions", func(row *tables.Session) error {
		if c := of[row.Store]; c != nil {
			one := *row
			c.Sessions = append(c.Sessions, &one)
		}
		return nil
	})
	if err == nil {
		err = tables.Each(r.tables(), "losses", func(row *tables.Loss) error {
			if c := of[row.Store]; c != nil {
				one := *row
				c.Losses = append(c.Losses, &one)
			}
			return nil
		})
	}
	return list, err
}

// findings returns what check finds, by path of the store below the source.
func findings(ctx context.Context, reg *formats.Registry, src string, o Options) (map[string][]Finding, error) {
	rep, err := check.Check(ctx, reg, check.Options{Paths: []string{src}, NoIgnore: true, Layers: rule.Container | rule.Schema | rule.References | rule.Meaning, Live: o.Live, Jobs: o.Jobs})
	if err != nil {
		return nil, err
	}
	out := map[string][]Finding{}
	for _, s := range rep.Stores {
		rel, err := filepath.Rel(src, s.Path)
		if err != nil {
			return nil, fmt.Errorf("%s: not below %s", s.Path, src)
		}
		for _, f := range s.Findings {
			out[filepath.ToSlash(rel)] = append(out[filepath.ToSlash(rel)], Finding{Rule: f.Rule.ID, Severity: f.Rule.Severity.String(), Title: f.Rule.Title, Count: f.Count})
		}
	}
	return out, nil
}
