package check

import (
	"context"
	"errors"
	"fmt"
	"path"
	"path/filepath"
	"strings"
	"sync"

	"rehome/convert/internal/leaks"
	"rehome/formats"
	"rehome/formats/loss"
	"rehome/formats/rule"
	"rehome/formats/store"
)

// The rules about secrets. No finding and no message contains one.
const (
	ruleToken   = "RH501" // a known kind of token
	ruleGeneric = "RH502" // only looks like one
	ruleOwnKey  = "RH503" // a client's own key in text for git
)

// checkSecrets searches everything in a store for secrets.
func (c *checker) checkSecrets(ctx context.Context, one *storeCheck, v formats.View, q *rule.Pass) error {
	if !q.Enabled(rule.Secrets) {
		return nil
	}
	err := c.searchSecrets(ctx, one, v, q)
	if err != nil && ctx.Err() == nil && !errors.Is(err, formats.ErrBusy) && one.findings.hasErrors() {
		one.findings.say("not fully searched for secrets: fix the errors first")
		return nil // the errors are findings already
	}
	return err
}

func (c *checker) searchSecrets(ctx context.Context, one *storeCheck, v formats.View, q *rule.Pass) error {
	scanner, err := c.scanner()
	if err != nil {
		return err
	}
	s := &secretSearch{one: one, found: q.Report, scanner: scanner, withheld: map[string]bool{}}
	alone := !one.loc.IsDir() && !one.f.Records.Has(formats.Tables) // one session, and its codec reads records only of whole stores
	if one.f.Text || one.f.Records == nil || alone {
		own := s.searchOwnKeys(ctx, v)
		packed, err := s.files(ctx)
		if err != nil {
			return err
		}
		if packed && (one.f.Records == nil || alone) {
			one.findings.say("compressed files were not searched for secrets")
		}
		if packed && one.f.Records != nil && !alone {
			if err := s.records(ctx, v, true); err != nil {
				return err
			}
		}
		return own
	}
	return s.records(ctx, v, false)
}

// secretSearch is the search of one store.
type secretSearch struct {
	one         *storeCheck
	found       func(rule.Finding)
	scanner     *leaks.Scanner
	wantOwnKeys bool            // also look for clients' own keys
	withheld    map[string]bool // places of secrets that the reader withholds
}

// scan searches bytes, and what they hold in base64 or hexadecimal. at returns
// the place of an offset, and whether it is new.
func (s *secretSearch) scan(ctx context.Context, b []byte, at func(offset int64) (f rule.Finding, news bool)) {
	tell := func(offset int64, h leaks.Hit) {
		id := ruleToken
		if h.Generic {
			id = ruleGeneric
		}
		if f, news := at(offset); news {
			s.found(secretFinding(f, id, h.Rule))
		}
	}
	owned := func(offset int64, name string) {
		if f, news := at(offset); news && !s.withheld[placeKey(f.At)] {
			s.found(secretFinding(f, ruleOwnKey, name))
		}
	}
	s.scanner.Scan(ctx, b, func(h leaks.Hit) { tell(h.Offset, h) })
	for k := range s.findOwnKeys(b) {
		owned(k.offset, k.name)
	}
	for run := range encodedRuns(b) {
		s.scanner.Scan(ctx, run.bytes, func(h leaks.Hit) { tell(run.offset, h) })
		for k := range s.findOwnKeys(run.bytes) {
			owned(run.offset+k.offset, k.name)
		}
	}
}

// secretFinding returns a finding with the place and kind of a secret.
func secretFinding(f rule.Finding, id, kind string) rule.Finding {
	f.Rule, f.Message, f.Args = id, "%s, "+f.Message, append([]any{kind}, f.Args...)
	return f
}

// records searches a store record by record. If its text was searched file by
// file, it searches only tables.
func (s *secretSearch) records(ctx context.Context, v formats.View, text bool) (err error) {
	v.Secrets, v.OnLoss, v.OnOmit = formats.KeepSecrets, func(loss.Loss) {}, func(store.SidecarItem) {}
	r, err := s.one.f.Records.Open(ctx, s.one.loc, v)
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

func (s *secretSearch) batch(ctx context.Context, b *store.Batch, set *store.Set) {
	for i := range b.Rows() {
		named := false // the row's key is a secret
		for col := range b.Width() {
			c := b.Cell(i, col)
			if c.Class != store.Text && c.Class != store.Blob {
				continue
			}
			s.scan(ctx, c.Bytes(), func(offset int64) (rule.Finding, bool) {
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

// maskSecrets masks secrets in the findings of other rules, if secrets are
// searched for: a name that they quote can be one.
func (c *checker) maskSecrets(ctx context.Context, t *findingSet) {
	if !c.o.Layers.Has(rule.Secrets) {
		return
	}
	scanner, err := c.scanner()
	if err != nil {
		return // every store reports the error
	}
	for _, b := range t.rules {
		for i := range b.Places {
			f := &b.Places[i]
			f.Message, f.Pointer, f.Args = maskString(ctx, scanner, f.Text()), maskString(ctx, scanner, f.Pointer), nil
			if key := f.At.Key; key.Class == store.Text {
				f.At.Key = store.TextCell([]byte(maskString(ctx, scanner, string(key.Bytes()))))
			}
		}
	}
}

func maskString(ctx context.Context, scanner *leaks.Scanner, s string) string {
	var out strings.Builder
	done := int64(0)
	scanner.Scan(ctx, []byte(s), func(h leaks.Hit) {
		out.WriteString(s[done:h.Offset] + "…")
		done = h.Offset + h.Length
	})
	return out.String() + s[done:]
}

// searchOwnKeys reports clients' own keys in text for git: what its codec would
// have withheld.
func (s *secretSearch) searchOwnKeys(ctx context.Context, v formats.View) (err error) {
	if s.wantOwnKeys = rule.Lookup(ruleOwnKey).AppliesTo(s.one.f.Name, s.one.f.Family); !s.wantOwnKeys {
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
	r, err := s.one.f.Records.Open(ctx, s.one.loc, v)
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
		at := s.textLine(n.At)
		s.withheld[placeKey(at)] = true
		s.found(rule.Finding{Rule: ruleOwnKey, At: at, Message: "%s", Args: []any{strings.Join(n.Args, " ")}})
	}
	return nil
}

// textLine returns the place of a table's record in its text: a file, or a
// folder of shards, with the name of the table. If it is not found, the record
// itself is the place.
func (s *secretSearch) textLine(at store.Addr) store.Addr {
	begins := fmt.Sprintf("[%d,", at.RowID)
	if !at.HasID {
		begins = fmt.Sprintf("[%q,", at.Key.Bytes()) // as JSON, unless control characters are in it
	}
	if at.Set == "" || !at.HasID && at.Key.Class != store.Text {
		return at
	}
	for _, dir := range []string{at.File, ""} {
		base := path.Join(dir, strings.ToLower(at.Set))
		for _, file := range s.shards(base) {
			if n := lineWithPrefix(filepath.Join(s.one.loc.Path, filepath.FromSlash(file)), begins); n > 0 {
				return store.Addr{File: file, Line: n}
			}
		}
	}
	return at
}
