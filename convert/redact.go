package convert

import (
	"cmp"
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"rehome/convert/internal/redact"
	"rehome/convert/internal/sidecar"
	"rehome/formats"
	"rehome/formats/rewrite"
	"rehome/formats/store"
)

// maxRecords is how many records are named for each kind of value.
const maxRecords = 10

// recordRedaction redacts the records of one store: a rewrite.Rewriter.
type recordRedaction struct {
	*redact.Redactor
	places  map[string]*RedactedCount
	learned bool // the first scan is over
}

// Learn finds values.
func (r *recordRedaction) Learn(ctx context.Context, b []byte, blob bool) error {
	r.Redactor.Learn(ctx, b, form(blob))
	return ctx.Err()
}

// Value replaces them.
func (r *recordRedaction) Value(ctx context.Context, b []byte, blob bool, onHit func(kind string)) ([]byte, error) {
	r.learned = true
	out, changed, err := r.Redactor.Value(ctx, nil, b, form(blob), onHit)
	if changed && r.Holds(out, form(blob)) { // nothing is held by what does not change
		return nil, leftError("")
	}
	if o := (*redact.Opaque)(nil); errors.As(err, &o) {
		err = &formats.Error{Err: err, Hint: "delete this record from a copy of the store, or convert the sessions: `rehome convert SRC DST --to canonical --redact`"}
	}
	return out, err
}

func form(blob bool) redact.Form {
	if blob {
		return redact.Protobuf
	}
	return redact.Unknown
}

// hit counts a replacement.
func (r *recordRedaction) hit(kind string, at store.Addr) {
	p := r.places[kind]
	if p == nil {
		p = &RedactedCount{Rule: kind}
		r.places[kind] = p
	}
	p.Places++
	if name := at.String(); len(p.Records) < maxRecords && (len(p.Records) == 0 || p.Records[len(p.Records)-1] != name) {
		p.Records = append(p.Records, name)
	}
}

// report returns the counts, sorted by kind.
func (r *recordRedaction) report() (out []RedactedCount) {
	for _, c := range r.Counts() {
		if p := r.places[c.Kind]; p != nil {
			p.Values = c.Values
			out = append(out, *p)
		}
	}
	slices.SortFunc(out, func(a, b RedactedCount) int { return cmp.Compare(a.Rule, b.Rule) })
	return out
}

// redactable returns the format with the ability to read and write its files as they
// are, if it has no records of its own.
func redactable(f *formats.Format, l *formats.Location) *formats.Format {
	if f.Records != nil && (l.IsDir() || !f.Records.Has(formats.PlainFiles) || f.Records.Has(formats.Tables)) {
		return f
	}
	plain := *f
	plain.Records = f.Plain
	return &plain
}

// redactFrom returns a reader of what src reads, redacted.
func (c *exactConversion) redactFrom(ctx context.Context, src store.Reader, to *formats.Format) (store.Reader, error) {
	c.records = &recordRedaction{Redactor: c.redactor.engine.Fork(), places: map[string]*RedactedCount{}}
	out, err := rewrite.New(ctx, src, c.records, rewrite.Options{
		Name: c.source.Loc.Name(), Client: !to.Text && c.kind == formats.Tables, OnLoss: withFileName(c.source.Loc, c.losses.Add), OnHit: c.records.hit,
	})
	if err != nil {
		return nil, err
	}
	if c.out.place, err = out.Path(ctx, c.source.Rel); err != nil {
		return nil, errors.Join(err, out.Close())
	}
	c.staged = c.storePath(c.out)
	return out, nil
}

func leftError(at string) error {
	return &formats.Error{Op: "verify", At: at, Err: errors.New("the result still holds a value to redact"), Hint: bugHint}
}

// searchFiles returns an error if the bytes of a staged file, whatever it is, hold a
// secret, or if the result is no store of its format any more.
func (c *exactConversion) searchFiles(ctx context.Context, from, to *formats.Format) error {
	if c.records == nil {
		return nil
	}
	err := filepath.WalkDir(c.staged, func(path string, e fs.DirEntry, err error) error {
		if err != nil || e.IsDir() {
			return cmp.Or(err, ctx.Err())
		}
		f, err := os.Open(path)
		if err != nil {
			return err
		}
		defer f.Close()
		held, err := c.records.HeldBy(f)
		if held != "" {
			err = leftError(strings.TrimPrefix(strings.TrimPrefix(path, c.staged), string(filepath.Separator)))
		}
		return err
	})
	if err != nil || filepath.Ext(c.staged) != filepath.Ext(c.source.Loc.Path) {
		return err
	}
	l, err := formats.Locate(c.staged)
	if err != nil {
		return err
	}
	found, err := c.reg.Detect(ctx, l)
	if err == nil && (len(found) == 0 || found[0].Format.Name != to.Name) {
		err = &formats.Error{At: c.source.Loc.Path, Err: errors.New("what is left is not a store of " + to.Name), Hint: "a word or pattern to redact is also a name in the format: omit it"}
	}
	if err != nil {
		return err
	}
	return c.sameOutline(ctx, from, to, l)
}

// prepareRedaction reads what is to be redacted.
func (j *job) prepareRedaction() (err error) {
	if j.opts.Redact == nil {
		return nil
	}
	if j.opts.WithSecrets {
		return Misuse{&formats.Error{Err: errors.New("--with-secrets cannot be combined with --redact"), Hint: "omit one of them"}}
	}
	if at, err := sidecar.PathOf(j.src); err == nil {
		if _, err := os.Lstat(at); err == nil {
			j.notify.Say(at + " not used: what it holds would not be redacted")
		}
	}
	j.opts.Sidecar = "none"
	j.redactor, err = NewRedactor(*j.opts.Redact, j.src, j.dst)
	return err
}
