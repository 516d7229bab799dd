package convert

import (
	"context"
	"errors"
	"fmt"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"rehome/convert/internal/leaks"
	"rehome/formats"
	"rehome/formats/loss"
	"rehome/formats/rule"
	"rehome/formats/store"
)

// The rules about credentials. Neither a finding nor a message ever holds one.
const (
	ruleToken   = "RH501" // of a known kind
	ruleGeneric = "RH502" // what only looks like one
	ruleOwnKey  = "RH503" // a client's own key in text that is bound for git
)

// secrets looks for credentials in all that a store holds.
func (c *checker) secrets(ctx context.Context, one *examined, v formats.View, q *rule.Pass) error {
	if !q.Enabled(rule.Secrets) {
		return nil
	}
	err := c.lookThrough(ctx, one, v, q)
	if err != nil && ctx.Err() == nil && !errors.Is(err, formats.ErrBusy) && one.tally.wrong() {
		one.tally.say("not fully searched for secrets: fix the errors first")
		return nil // why has been said, as a finding
	}
	return err
}

func (c *checker) lookThrough(ctx context.Context, one *examined, v formats.View, q *rule.Pass) error {
	scanner, err := c.scanner()
	if err != nil {
		return err
	}
	s := &secretive{one: one, found: q.Report, scanner: scanner, told: map[string]bool{}}
	alone := !one.loc.IsDir() && !slices.Contains(one.f.Families, formats.Tables) // one session: its codec reads records of whole stores only
	if one.f.Text || one.f.Open == nil || alone {
		own := s.ownKeys(ctx, v)
		packed, err := s.files(ctx)
		if err != nil {
			return err
		}
		if packed && (one.f.Open == nil || alone) {
			one.tally.say("compressed files were not searched for secrets")
		}
		if packed && one.f.Open != nil && !alone {
			if err := s.records(ctx, v, true); err != nil {
				return err
			}
		}
		return own
	}
	return s.records(ctx, v, false)
}

// secretive looks through one store.
type secretive struct {
	one     *examined
	found   func(rule.Finding)
	scanner *leaks.Scanner
	own     bool            // keys of clients are looked for
	told    map[string]bool // the places of those that a reader withholds
}

// look scans some bytes, and what they hold in another alphabet. at says where
// an offset is.
func (s *secretive) look(ctx context.Context, b []byte, at func(offset int64) (f rule.Finding, news bool)) {
	tell := func(offset int64, h leaks.Hit) {
		id := ruleToken
		if h.Generic {
			id = ruleGeneric
		}
		if f, news := at(offset); news {
			s.found(named(f, id, h.Rule))
		}
	}
	owned := func(offset int64, name string) {
		if f, news := at(offset); news && !s.told[placeOf(f.At)] {
			s.found(named(f, ruleOwnKey, name))
		}
	}
	s.scanner.Scan(ctx, b, func(h leaks.Hit) { tell(h.Offset, h) })
	for k := range s.ownKeysIn(b) {
		owned(k.offset, k.name)
	}
	for run := range encoded(b) {
		s.scanner.Scan(ctx, run.bytes, func(h leaks.Hit) { tell(run.offset, h) })
		for k := range s.ownKeysIn(run.bytes) {
			owned(run.offset+k.offset, k.name)
		}
	}
}

// named is a finding that says where a credential is, and of what kind.
func named(f rule.Finding, id, kind string) rule.Finding {
	f.Rule, f.Message, f.Args = id, "%s, "+f.Message, append([]any{kind}, f.Args...)
	return f
}

// records reads a store record by record. Of a store whose text has been read
// from its files only the tables are left to do.
func (s *secretive) records(ctx context.Context, v formats.View, text bool) (err error) {
	v.Secrets, v.OnLoss, v.OnOmit = formats.KeepSecrets, func(loss.Loss) {}, func(store.SidecarItem) {}
	r, err := s.one.f.Open(ctx, s.one.loc, v)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, r.Close()) }()
	sets := r.Schema().Sets
	for i := range sets {
		if sets[i].Kind == store.Plain && !text {
			if _, err := s.file(ctx, filepath.Join(s.one.loc.Path, filepath.FromSlash(sets[i].File)), sets[i].File); err != nil {
				return err
			}
		}
	}
	batches := make(chan *store.Batch)
	var workers sync.WaitGroup
	for range max(1, v.Jobs) {
		workers.Go(func() {
			for b := range batches {
				s.batch(ctx, b, &sets[b.Set])
				b.Release()
			}
		})
	}
	for b, e := range r.Batches(ctx) {
		if e != nil {
			err = e
			break
		}
		if sets[b.Set].Kind == store.Plain {
			b.Release()
			continue
		}
		batches <- b
	}
	close(batches)
	workers.Wait()
	return err
}

func (s *secretive) batch(ctx context.Context, b *store.Batch, set *store.Set) {
	for i := range b.Rows() {
		named := false // the row's own name is one
		for col := range b.Width() {
			c := b.Cell(i, col)
			if c.Class != store.Text && c.Class != store.Blob {
				continue
			}
			s.look(ctx, c.Bytes(), func(offset int64) (rule.Finding, bool) {
				at := store.Addr{File: set.File, Set: set.Name, RowID: b.RowID(i), HasID: set.RowIDs}
				named = named || col == 0
				if !named {
					at.Key = b.Cell(i, 0).Clone()
				}
				name := fmt.Sprint(col + 1)
				if col < len(set.Columns) {
					name = set.Columns[col]
				}
				return rule.Finding{At: at, Message: "byte %d of column %q", Args: []any{offset, name}}, true
			})
		}
	}
}

// mask takes credentials out of what other rules say, where credentials are
// looked for: a name that is repeated there can be one.
func (c *checker) mask(ctx context.Context, t *checkTally) {
	if !c.o.Layers.Has(rule.Secrets) {
		return
	}
	scanner, err := c.scanner()
	if err != nil {
		return // and all stores say so
	}
	for _, b := range t.rules {
		for i := range b.Places {
			f := &b.Places[i]
			f.Message, f.Pointer, f.Args = masked(ctx, scanner, f.Text()), masked(ctx, scanner, f.Pointer), nil
			if key := f.At.Key; key.Class == store.Text {
				f.At.Key = store.TextCell([]byte(masked(ctx, scanner, string(key.Bytes()))))
			}
		}
	}
}

func masked(ctx context.Context, scanner *leaks.Scanner, s string) string {
	var out strings.Builder
	done := int64(0)
	scanner.Scan(ctx, []byte(s), func(h leaks.Hit) {
		out.WriteString(s[done:h.Offset] + "…")
		done = h.Offset + h.Length
	})
	return out.String() + s[done:]
}

// ownKeys reports the keys of clients in text that is bound for git: what its
// codec would have left at home.
func (s *secretive) ownKeys(ctx context.Context, v formats.View) (err error) {
	if s.own = rule.Lookup(ruleOwnKey).AppliesTo(s.one.f.Name); !s.own {
		return nil
	}
	v.Secrets, v.OnOmit, v.OnLeftover = formats.WithholdSecrets, func(store.SidecarItem) {}, func(store.SidecarItem) {}
	var mu sync.Mutex
	var notes []loss.Loss
	v.OnLoss = func(n loss.Loss) {
		if n.Code.Secret() {
			n.At.Key = n.At.Key.Clone()
			mu.Lock()
			notes = append(notes, n)
			mu.Unlock()
		}
	}
	r, err := s.one.f.Open(ctx, s.one.loc, v)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, r.Close()) }()
	for b, err := range r.Batches(ctx) {
		if err != nil {
			return err
		}
		b.Release()
	}
	for _, n := range notes {
		at := s.line(r.Schema(), n.At)
		s.told[placeOf(at)] = true
		s.found(rule.Finding{Rule: ruleOwnKey, At: at, Message: "%s", Args: []any{strings.Join(n.Args, " ")}})
	}
	return nil
}

// line is where a record of a table stands in the text that the table became:
// in a file, or a folder of shards, of the table's name. Where it cannot be
// told the record itself is the place.
func (s *secretive) line(schema *store.Schema, at store.Addr) store.Addr {
	if at.Set == "" || !at.HasID {
		return at
	}
	for _, dir := range []string{at.File, ""} {
		base := path.Join(dir, strings.ToLower(at.Set))
		for _, file := range s.shards(base) {
			if n := lineThat(filepath.Join(s.one.loc.Path, filepath.FromSlash(file)), fmt.Sprintf("[%d,", at.RowID)); n > 0 {
				return store.Addr{File: file, Line: n}
			}
		}
	}
	return at
}
