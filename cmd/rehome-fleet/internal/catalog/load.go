package catalog

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
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

// content is what is loaded of one store.
type content struct {
	report   *StoreReport
	Sessions []*tables.Session
	Losses   []*tables.Loss
	Findings []Finding
}

// Finding is a row of the table findings.
type Finding struct {
	Rule     string
	Severity string
	Title    string
	Count    int64
}

// digest identifies the content.
func (c *content) digest() (string, error) {
	h := sha256.New()
	err := json.NewEncoder(h).Encode(c)
	return hex.EncodeToString(h.Sum(nil)), err
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
	d, err := parse(address)
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
	scratch.Sweep()
	dir, err := scratch.New("", "catalog")
	if err != nil {
		return nil, err
	}
	defer func() { _ = dir.Remove() }()
	at := filepath.Join(dir.Path, "tables")
	made, err := tables.Write(ctx, reg, src, at, m, tables.Options{Redact: o.Redact, Live: o.Live, Jobs: o.Jobs, OnProgress: o.OnProgress, OnNotice: o.OnNotice})
	if err != nil {
		return nil, formats.ReplacePath(err, at, d.Name())
	}
	found, err := findings(ctx, reg, src, o)
	if err != nil {
		return nil, err
	}
	l := &loader{database: d, meta: m, base: tables.PathText(filepath.ToSlash(o.Base))}
	if err := l.open(ctx); err != nil {
		return nil, err
	}
	defer func() { _ = l.conn.Close(context.WithoutCancel(ctx)) }()
	rep := &Report{Source: src, Target: d.Name(), Stores: make([]StoreReport, len(made.Stores))}
	for first := 0; first < len(made.Stores); {
		first, err = l.some(ctx, at, made.Stores, first, found, rep)
		if err != nil {
			return nil, err
		}
	}
	return rep, nil
}

// some loads the stores from the first one on, and returns the one with which to go on.
func (l *loader) some(ctx context.Context, dir string, stores []tables.StoreReport, first int, found map[string][]Finding, rep *Report) (next int, err error) {
	of := map[string]*content{}
	var list []*content
	for n := 0; first < len(stores) && n < maxSessions; first++ {
		s, r := stores[first], &rep.Stores[first]
		*r = StoreReport{Path: s.Path, Format: s.Format, Status: Failed, Failed: len(s.Failed), Error: s.Error}
		if s.Error == nil {
			c := &content{report: r, Findings: found[s.Found()]}
			of[s.Path], list = c, append(list, c)
		}
		n += s.Sessions + len(s.Failed)
	}
	err = tables.Each(dir, "sessions", func(row *tables.Session) error {
		if c := of[row.Store]; c != nil {
			one := *row
			c.Sessions = append(c.Sessions, &one)
		}
		return nil
	})
	if err == nil {
		err = tables.Each(dir, "losses", func(row *tables.Loss) error {
			if c := of[row.Store]; c != nil {
				one := *row
				c.Losses = append(c.Losses, &one)
			}
			return nil
		})
	}
	for _, c := range list {
		if err == nil {
			err = l.load(ctx, c)
		}
	}
	return first, err
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
			out[filepath.ToSlash(rel)] = append(out[filepath.ToSlash(rel)], Finding{f.Rule.ID, f.Rule.Severity.String(), f.Rule.Title, f.Count})
		}
	}
	return out, nil
}
