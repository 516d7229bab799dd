package archive

import (
	"context"
	"errors"
	"fmt"
	"iter"

	"rehome/formats"
	"rehome/formats/internal/digest"
	"rehome/formats/internal/secret"
	"rehome/formats/internal/tally"
	"rehome/formats/store"
)

// Batches yields every record, after checking it. It compares a set with the manifest
// after the last record of the set.
func (r *reader) Batches(ctx context.Context) iter.Seq2[*store.Batch, error] {
	return func(yield func(*store.Batch, error) bool) {
		r.summary = tally.Scan(len(r.schema.Sets), yield, func(t *tally.Tally) error {
			s := &scan{r: r, tally: t, filter: r.filter(), seen: make([]text, len(r.schema.Sets))}
			return s.run(ctx)
		})
	}
}

// scan is one pass over the archive.
type scan struct {
	r       *reader
	filter  *secret.Filter
	seen    []text
	tally   *tally.Tally
	set     int            // the current set
	file    string         // the file of the last unit
	lines   int            // the lines of that file so far
	last    int64          // the last row id in that file
	fileSet int            // the set of that row
	plain   *digest.Stream // digest of a plain file
}

func (s *scan) run(ctx context.Context) error {
	for u, err := range s.r.units(ctx) {
		if err != nil {
			return err
		}
		if err := s.pass(u); err != nil {
			return err
		}
	}
	return s.reach(len(s.r.schema.Sets))
}

// pass checks a parsed unit and passes its batches on.
func (s *scan) pass(u *unit) error {
	defer u.release()
	if u.file != s.file {
		s.file, s.lines, s.fileSet = u.file, 0, -1
	}
	if u.err != nil {
		at := u.file
		if u.line > 0 {
			at = fmt.Sprintf("%s:%d", u.file, s.lines+u.line)
		}
		return s.r.fail(at, u.err)
	}
	if u.set < 0 {
		s.lines++ // the line that names a table
		return nil
	}
	if err := s.reach(u.set); err != nil {
		return err
	}
	if s.r.schema.Sets[u.set].RowIDs && !stream(u.file) && s.fileSet == u.set && s.lines > 0 && u.first <= s.last {
		return s.r.fail(fmt.Sprintf("%s:%d", u.file, s.lines+1), errOrder)
	}
	if s.fileSet != u.set {
		s.filter.Break(u.set)
	}
	s.fileSet, s.last = u.set, u.last
	s.lines += int(u.seen.rows)
	t := &s.seen[u.set]
	t.join(u.seen)
	if claim := s.r.claims[u.set]; t.bytes > claim.bytes {
		return s.r.fail(u.file, fmt.Errorf("text is longer than the %d bytes that the manifest lists", claim.bytes))
	}
	line := s.lines - int(u.seen.rows) + 1
	for i, b := range u.batches {
		u.batches[i] = nil
		s.r.file, s.r.line = u.file, line
		line += b.Rows()
		if s.plain != nil {
			for row := range b.Rows() {
				_, _ = s.plain.Write(b.Cell(row, 0).Bytes())
			}
		}
		if err := s.tally.Give(s.filter.Apply(b)); err != nil {
			return err
		}
	}
	return nil
}

// reach moves to a set and settles the ones before it.
func (s *scan) reach(set int) error {
	for s.set < set {
		if err := s.settle(s.set); err != nil {
			return err
		}
		s.set++
	}
	if s.set > set {
		return s.r.fail(s.file, fmt.Errorf("table %s is duplicated or out of order", quote(s.r.schema.Sets[set].Name)))
	}
	if set < len(s.r.schema.Sets) && s.plain == nil && s.r.schema.Sets[set].Kind == store.Plain {
		s.plain = digest.NewStream()
	}
	return nil
}

// settle compares what was read of a set with the manifest.
func (s *scan) settle(i int) error {
	if err := s.tally.Give(s.filter.Flush(i)); err != nil {
		return err
	}
	hint := "restore the archive from git; it was edited or is incomplete"
	set, got, claim := &s.r.schema.Sets[i], s.seen[i], s.r.claims[i]
	at, what := tablePath(set.File, set.Name), "row"
	if set.Kind == store.Plain {
		at, what = set.File, "piece"
		if s.plain == nil {
			s.plain = digest.NewStream()
		}
		got.digest, claim.rows = s.plain.Sum(), got.rows
		s.plain = nil
		if len(s.r.files[i]) == 0 {
			return s.r.fail(at, &formats.Error{Err: errors.New("the manifest lists this file, and it is not here"), Hint: hint})
		}
	}
	switch {
	case got.rows != claim.rows:
		return s.r.fail(at, &formats.Error{Err: fmt.Errorf("found %d %ss, but the manifest lists %d", got.rows, what, claim.rows), Hint: hint})
	case got.bytes != claim.bytes:
		return s.r.fail(at, &formats.Error{Err: fmt.Errorf("found %d bytes of text, but the manifest lists %d", got.bytes, claim.bytes), Hint: hint})
	case got.digest != claim.digest:
		return s.r.fail(at, &formats.Error{Err: errors.New("text does not match its digest in the manifest"), Hint: hint})
	}
	return nil
}
