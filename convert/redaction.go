package convert

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"iter"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"rehome/convert/internal/pipe"
	"rehome/convert/internal/redact"
	"rehome/convert/sessions"
	"rehome/formats"
	"rehome/formats/loss"
	"rehome/formats/session"
	"rehome/formats/store"
)

// Redaction says what to redact besides secrets.
type Redaction struct {
	File  string   // words and patterns, besides those of the files that are found; "" = none
	Dirs  []string // folders for which to look for such files, besides those of source and target
	Key   string   // the file of the key from which placeholders get their numbers; "" = they are counted
	Paths bool     // the names of home folders, too
}

// RedactedCount is how often values of a kind were redacted.
type RedactedCount struct {
	Rule     string   `json:"rule"` // of a secret; or word, pattern or user
	Values   int64    `json:"values,omitempty"`
	Places   int64    `json:"places"`
	Messages []string `json:"messages,omitempty"` // of a session: the ids of the first ones
	Records  []string `json:"records,omitempty"`  // of an exact conversion: the addresses of the first ones in the target
}

// Redactor redacts sessions that can be decoded twice.
type Redactor struct{ engine *redact.Redactor }

// NewRedactor reads the files that say what to redact. paths are those of source and target.
func NewRedactor(o Redaction, paths ...string) (*Redactor, error) {
	p := redact.Policy{Paths: o.Paths}
	var files []string
	for _, dir := range o.Dirs {
		files = append(files, redact.Files(dir)...)
	}
	for _, path := range paths {
		if path, err := filepath.Abs(path); err == nil {
			if info, err := os.Stat(path); err != nil || !info.IsDir() {
				path = filepath.Dir(path)
			}
			files = append(files, redact.Files(path)...)
		}
	}
	if o.File != "" {
		files = append(files, o.File)
	}
	slices.Sort(files)
	for _, file := range slices.Compact(files) {
		if err := p.ReadFile(file); err != nil {
			return nil, err
		}
	}
	if o.Key != "" {
		if err := p.ReadKey(o.Key); err != nil {
			return nil, err
		}
	}
	engine, err := redact.New(p)
	return &Redactor{engine}, err
}

// Sessions yields sessions without what is to be redacted. They are decoded twice: first are
// the same as all.
func (r *Redactor) Sessions(ctx context.Context, first, all iter.Seq2[*session.Session, error]) iter.Seq2[*session.Session, error] {
	return func(yield func(*session.Session, error) bool) {
		s := redact.Sessions{Redactor: r.engine}
		if err := s.Learn(ctx, first); err != nil {
			yield(nil, err)
			return
		}
		s.Redact(ctx, all, nil, nil)(yield)
	}
}

// Learn finds what is to be redacted in sessions, for other sessions that tell of the same.
func (r *Redactor) Learn(ctx context.Context, all iter.Seq2[*session.Session, error]) error {
	s := redact.Sessions{Redactor: r.engine}
	return s.Learn(ctx, all)
}

// LearnText finds what is to be redacted in a text for people. It returns the kind of what
// the text holds, and no placeholder for it: the rule of a secret or, if words are wanted,
// word, pattern or user; "" if there is nothing.
func (r *Redactor) LearnText(ctx context.Context, text []byte, words bool) (kind string) {
	r.engine.Learn(ctx, text, redact.Text)
	return r.engine.HeldIn(text, words)
}

// Secrets returns how many different secrets were found so far.
func (r *Redactor) Secrets() int { return r.engine.Secrets() }

// Counts returns what was redacted so far, sorted by kind.
func (r *Redactor) Counts() (out []RedactedCount) {
	for _, c := range r.engine.Counts() {
		out = append(out, RedactedCount{Rule: c.Kind, Values: c.Values, Places: c.Places})
	}
	return out
}

// redaction is what a run redacts.
type redaction struct {
	engine *redact.Redactor
	stores []redact.Sessions // as they were learned
}

// learn finds what is to be redacted in all sessions of all stores, in their order.
func (in *input) learn(ctx context.Context, keepFolder bool) error {
	if in.opts.Redact == nil {
		return nil
	}
	r, err := NewRedactor(*in.opts.Redact, in.src, in.dst)
	if err != nil {
		return err
	}
	in.redaction = &redaction{engine: r.engine, stores: make([]redact.Sessions, len(in.found))}
	for i, f := range in.found {
		one := &in.redaction.stores[i]
		if one.Redactor, one.KeepFolder = r.engine, keepFolder; f.Loc == nil || len(f.Detected) == 0 {
			continue
		}
		from := sessions.Readable(in.reg, f.Detected[0].Format)
		if from.Sessions == nil {
			continue // the second pass reports it
		}
		v := formats.View{
			Secrets: formats.WithholdSecrets, OnOmit: func(store.SidecarItem) {}, OnLoss: func(loss.Loss) {}, OnNotice: func(string) {},
			Live: in.opts.Live, Jobs: in.opts.Jobs,
		}
		sel, some, err := in.selectFrom(ctx, i, from, f.Loc, v)
		if err == nil && some {
			err = one.Learn(ctx, in.folders.DecodeAt(ctx, from, f.Loc, f.Loc.Path, v, sel))
		}
		if ctx.Err() != nil {
			return ctx.Err()
		}
		_ = err // the second pass ends with the same
	}
	return nil
}

// redacted yields the wanted sessions of a store as they are to be written.
func (c *sessionStore) redacted(ctx context.Context, all iter.Seq2[*session.Session, error]) iter.Seq2[*session.Session, error] {
	if c.redaction == nil {
		return c.selected(all)
	}
	one := c.redaction.stores[c.index] // a copy: a store can be converted a second time
	one.OnUnsigned = func(at string) { c.pipe.Note(loss.Loss{Code: loss.ThinkingEdited, At: store.Addr{File: at}}) }
	return func(yield func(*session.Session, error) bool) {
		for s, err := range one.Redact(ctx, all, c.wants, func(p *redact.Places) { c.places = p }) {
			if errors.Is(err, redact.ErrChanged) {
				err = &formats.Error{At: c.at.Loc.Path, Err: err, Hint: "run it again when its client is idle"}
			}
			if !yield(s, err) {
				return
			}
		}
	}
}

// Plan notes where the values of a session were.
func (c *sessionStore) Plan(s *session.Session) (pipe.Plan, error) {
	plan, err := c.Destination.Plan(s)
	if c.places != nil {
		plan.Redacted, c.places = c.places, nil
	}
	return plan, err
}

// redactedIn returns what was redacted in a session that was written.
func redactedIn(r *pipe.Result) (out []RedactedCount) {
	p, ok := r.Plan.Redacted.(*redact.Places)
	if !ok || p == nil {
		return nil
	}
	for _, kind := range slices.Sorted(maps.Keys(p.Counts)) {
		out = append(out, RedactedCount{Rule: kind, Places: p.Counts[kind], Messages: p.Messages[kind]})
	}
	return out
}

// redactedSums adds up what was redacted in the stores and sessions of a conversion.
func (j *job) redactedSums() []RedactedCount {
	if j.opts.Redact == nil {
		return nil
	}
	out := []RedactedCount{}
	for i := range j.rep.Stores {
		out = AddRedacted(out, j.rep.Stores[i].Redacted)
		for k := range j.rep.Stores[i].Sessions {
			out = AddRedacted(out, j.rep.Stores[i].Sessions[k].Redacted)
		}
	}
	if j.redaction == nil {
		return out
	}
	return j.redaction.withValues(out)
}

// AddRedacted adds the counts of a session to sums, which are sorted by rule. They stay nil
// only if nothing was to be redacted.
func AddRedacted(to, more []RedactedCount) []RedactedCount {
	if to == nil && more != nil {
		to = []RedactedCount{}
	}
	for _, c := range more {
		at, known := slices.BinarySearchFunc(to, c.Rule, func(c RedactedCount, rule string) int { return strings.Compare(c.Rule, rule) })
		if !known {
			to = slices.Insert(to, at, RedactedCount{Rule: c.Rule})
		}
		to[at].Places += c.Places
		to[at].Values += c.Values
	}
	return to
}

// withValues sets the number of different values.
func (r *redaction) withValues(counts []RedactedCount) []RedactedCount {
	for _, c := range r.engine.Counts() {
		for i := range counts {
			if counts[i].Rule == c.Kind {
				counts[i].Values = c.Values
			}
		}
	}
	return counts
}

// verify reads what was written, and returns an error if it holds a secret.
func (r *redaction) verify(of *pipe.Result) error {
	if r == nil || of.Path == "" {
		return nil
	}
	for _, path := range []string{of.Path, of.Path + of.Draft.Companion}[:1+min(1, len(of.Draft.Companion))] {
		err := filepath.WalkDir(path, func(path string, e fs.DirEntry, err error) error {
			if err != nil || !e.Type().IsRegular() {
				return err
			}
			f, err := os.Open(path)
			if err != nil {
				return err
			}
			defer f.Close()
			kind, err := r.engine.HeldBy(f)
			if err == nil && kind != "" {
				err = &formats.Error{At: of.ID, Err: fmt.Errorf("a secret is left in the result (%s)", kind), Hint: pipe.BugHint}
			}
			return err
		})
		if err != nil {
			return err
		}
	}
	return nil
}
