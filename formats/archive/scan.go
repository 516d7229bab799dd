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
			return newScan(ctx, r, t).run()
		})
	}
}

// scan is one pass over the archive.
type scan struct {
	ctx     context.Context
	r       *reader
	filter  *secret.Filter
	seen    []text // of each set
	here    text   // since the last trailer
	settled []bool // sets whose own file or section has a trailer
	keys    []keys // of version 2
	merged  merged
	listing *listing // of the current set; nil if it has no entries
	tally   *tally.Tally
	set     int            // the current set
	file    string         // the file of the last unit
	lines   int            // the lines of that file so far
	last    int64          // the last row id in that file
	fileSet int            // the set of that row
	plain   *digest.Stream // digest of a plain file
}

func newScan(ctx context.Context, r *reader, t *tally.Tally) *scan {
	s := &scan{ctx: ctx, r: r, tally: t, filter: r.filter(), set: -1, seen: make([]text, len(r.schema.Sets)), settled: make([]bool, len(r.schema.Sets)), merged: merged{r: r}}
	if r.version > 1 && !r.packed {
		s.keys = keysOf(r.schema)
	}
	return s
}

func (s *scan) run() error {
	if err := s.reach(0); err != nil {
		return err
	}
	for u, err := range s.r.units(s.ctx) {
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
		if u.wrong > 0 {
			at = fmt.Sprintf("%s:%d", u.file, s.lines+u.wrong)
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
	if u.trailer != nil {
		s.lines++
		return s.end(u)
	}
	if s.r.schema.Sets[u.set].RowIDs && !stream(u.file) && !common(u.file) && s.fileSet == u.set && s.lines > 0 && u.first <= s.last {
		return s.r.fail(fmt.Sprintf("%s:%d", u.file, s.lines+1), errOrder)
	}
	if s.fileSet != u.set || common(u.file) {
		s.filter.Break(u.set)
	}
	s.fileSet, s.last = u.set, u.last
	s.lines += int(u.seen.rows)
	t := &s.seen[u.set]
	t.join(u.seen)
	if !common(u.file) {
		s.here.join(u.seen)
	}
	if claim := s.r.claims[u.set]; s.stated(u.set) && t.bytes > claim.bytes {
		return s.r.fail(u.file, fmt.Errorf("text is longer than the %d bytes that the manifest lists", claim.bytes))
	}
	line := s.lines - int(u.seen.rows) + 1
	for i, b := range u.batches {
		u.batches[i] = nil
		n := b.Rows()
		if s.plain != nil {
			for row := range b.Rows() {
				_, _ = s.plain.Write(b.Cell(row, 0).Bytes())
			}
		}
		err := error(nil)
		if s.listing != nil {
			if b, err = s.listing.join(b); err != nil {
				b.Release()
				return s.r.fail(fmt.Sprintf("%s:%d", u.file, line), err)
			}
		}
		if s.keys == nil || s.plain != nil {
			err = s.give(b, u.file, line)
		} else {
			err = s.merged.sift(b, u.file, line, func(b *store.Batch, line int) error { return s.give(b, u.file, line) })
		}
		if err != nil {
			return err
		}
		line += n
	}
	return nil
}

// give passes on a batch, whose first row is at a line of a file.
func (s *scan) give(b *store.Batch, file string, line int) error {
	s.r.file, s.r.line = file, line
	return s.tally.Give(s.filter.Apply(b))
}

// stated reports whether the bytes and digest of a whole set are stated.
func (s *scan) stated(set int) bool {
	return s.r.version == 1 || s.r.schema.Sets[set].Kind == store.Plain
}

// end compares the rows of a file, or of a table in a stream, with their trailer.
func (s *scan) end(u *unit) error {
	if err := s.here.differs(*u.trailer); err != nil {
		return s.r.fail(u.file, &formats.Error{Err: err, Hint: hintEdited})
	}
	s.here = text{}
	if set := &s.r.schema.Sets[u.set]; stream(u.file) || u.file == tablePath(set.File, set.Name)+".ndjson" {
		s.settled[u.set] = true
	}
	return nil
}

const hintEdited = "restore the archive from git; it was edited or is incomplete"

// reach moves to a set and settles the ones before it.
func (s *scan) reach(set int) error {
	for s.set < set {
		if s.set >= 0 {
			if err := s.settle(s.set); err != nil {
				return err
			}
		}
		s.set++
		s.here = text{}
		if s.keys != nil && s.set < len(s.keys) {
			s.merged.begin(s.set, s.keys[s.set])
		}
		if s.listing = nil; s.set < len(s.r.lists) && len(s.r.lists[s.set]) > 0 {
			l, at, err := s.r.list(s.set)
			if err != nil {
				return s.r.fail(at, err)
			}
			s.listing = l
		}
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
	if len(s.merged.held) > 0 {
		s.filter.Break(i)
		if err := s.merged.renumber(s.ctx, s.give); err != nil {
			return err
		}
	}
	if s.listing != nil {
		for key := range s.listing.entries {
			return s.r.fail(s.listing.file[key], &formats.Error{Err: fmt.Errorf("entry of a list, but the table has no row %s", quote(key)), Hint: hintEdited})
		}
	}
	if err := s.tally.Give(s.filter.Flush(i)); err != nil {
		return err
	}
	hint := hintEdited
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
			return s.r.fail(at, &formats.Error{Err: errors.New("file of the store is missing"), Hint: hint})
		}
	}
	if !s.stated(i) {
		if !s.settled[i] {
			return s.r.fail(at+".ndjson", &formats.Error{Err: errors.New("the text of this table is missing"), Hint: hint})
		}
		return nil
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
