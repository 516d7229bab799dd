package archive

import (
	"bytes"
	"io"
	"slices"
	"sync"

	"rehome/formats/archive/internal/rowtext"
	"rehome/formats/internal/digest"
	"rehome/formats/internal/linecheck"
	"rehome/formats/internal/lines"
	"rehome/formats/internal/packed"
	"rehome/formats/rule"
	"rehome/formats/store"
)

// set checks the text of a table or plain file.
func (x *examination) set(i int) error {
	if x.lost(i) {
		x.broken[i] = true
		return nil
	}
	if x.r.schema.Sets[i].Kind == store.Plain {
		return x.plain(i)
	}
	for _, file := range x.r.lists[i] {
		if _, _, err := x.r.entry(i, file); err != nil && x.q.Enabled(rule.References) {
			x.found("RH384", store.Addr{File: file}, "", plainCause(err))
			x.broken[i] = true
		}
	}
	list := x.r.files[i]
	if len(list) > 0 && stream(list[0]) {
		return x.stream(i, list[0])
	}
	seen, err := x.shards(i, list)
	if err == nil && x.first(i) == i {
		x.settle(i, seen)
	}
	return err
}

// shards checks the files of a table in parallel.
func (x *examination) shards(i int, list []string) (seen text, err error) {
	next := make(chan string)
	var workers sync.WaitGroup
	var mu sync.Mutex
	for range min(x.r.jobs, len(list)) {
		workers.Go(func() {
			for file := range next {
				one, failed := x.shard(i, file)
				mu.Lock()
				seen.join(one)
				if err == nil {
					err = failed
				}
				mu.Unlock()
			}
		})
	}
	for _, file := range list {
		next <- file
	}
	close(next)
	workers.Wait()
	return seen, err
}

func (x *examination) shard(i int, file string) (text, error) {
	odd, sound, err := x.container(i, file)
	if err != nil || !sound {
		return text{}, err
	}
	t := x.rows(i, file, odd)
	if err := t.read(); err != nil {
		return text{}, err
	}
	t.end()
	return t.seen, nil
}

// container applies the rules of all JSON lines. It returns the lines that violate them,
// and whether the file as a whole does not; of these nothing more is reported.
func (x *examination) container(i int, file string) (odd map[int]bool, sound bool, err error) {
	if !x.q.Enabled(rule.Container) {
		return nil, true, nil
	}
	odd, sound = map[int]bool{}, true
	q := *x.q
	q.Report = func(f rule.Finding) {
		if r := rule.Lookup(f.Rule); r != nil && r.Severity == rule.Error {
			x.spoil(i)
			sound = sound && f.At.Line > 0
		}
		x.q.Report(f)
	}
	o := linecheck.Options{Format: name, Most: maxLine, Packed: stream(file), Arrays: true, Odd: func(n int) { odd[n] = true }}
	for _, err := range linecheck.Lines(x.ctx, x.r.path+"/"+file, file, x.view, &q, o) {
		if err != nil {
			return nil, false, x.r.fail(file, err)
		}
	}
	return odd, sound, nil
}

// settle compares what was read of a set with the manifest, unless the set is broken.
func (x *examination) settle(i int, seen text) {
	if x.broken[i] || !x.q.Enabled(rule.References) || x.r.version > 1 && x.r.schema.Sets[i].Kind == store.Table {
		return
	}
	set, claim := &x.r.schema.Sets[i], x.r.claims[i]
	at := store.Addr{File: set.File}
	if set.Kind == store.Table {
		at.File = tablePath(set.File, set.Name)
		if list := x.r.files[x.first(i)]; len(list) == 1 {
			at.File = list[0]
		}
	}
	switch {
	case seen.rows != claim.rows && set.Kind == store.Table:
		x.found("RH383", at, "", "%v, but the manifest lists %v", rule.Count(seen.rows, "row"), rule.Count(claim.rows, ""))
	case seen.bytes != claim.bytes && set.Kind == store.Plain:
		x.found("RH383", at, "", "%v, but %v stated", rule.Count(seen.bytes, "byte"), rule.Count(claim.bytes, ""))
	case seen.digest != claim.digest || seen.bytes != claim.bytes:
		x.found("RH384", at, "", "")
	}
}

// plain checks a plain file.
func (x *examination) plain(i int) error {
	if !x.q.Enabled(rule.References) {
		return nil
	}
	f, err := x.r.root.Open(x.r.schema.Sets[i].File)
	if err != nil {
		return x.r.fail(x.r.schema.Sets[i].File, err)
	}
	defer f.Close()
	sum := digest.NewStream()
	n, err := io.Copy(sum, &limited{x, f})
	if err != nil {
		return x.r.fail(x.r.schema.Sets[i].File, err)
	}
	x.settle(i, text{bytes: n, digest: sum.Sum()})
	return nil
}

// limited is a reader that fails when the context ends.
type limited struct {
	x *examination
	r io.Reader
}

func (l *limited) Read(p []byte) (int, error) {
	if err := l.x.ctx.Err(); err != nil {
		return 0, err
	}
	return l.r.Read(p)
}

// rows checks the rows of one table in one file.
type rows struct {
	*examination
	set  int
	file string
	at   place
	seen text
	last int64
	any  bool
	odd  map[int]bool
	line []byte

	said   *text // the trailer
	wrong  bool  // a line of the file has been reported
	merged merged
}

func (x *examination) rows(set int, file string, odd map[int]bool) *rows {
	t := &rows{examination: x, set: set, file: file, at: x.r.placeOf(set, file), odd: odd, wrong: len(odd) > 0}
	if x.keys != nil {
		t.merged = merged{r: x.r, set: set, keys: x.keys[set]}
		t.merged.enter(file)
	}
	return t
}

// error reports what is wrong with a line.
func (t *rows) error(id string, line int, says string, args ...any) {
	t.found(id, store.Addr{File: t.file, Line: line}, "", says, args...)
	t.wrong = true
	t.spoil(t.set)
}

// end compares the rows with their trailer.
func (t *rows) end() {
	at := store.Addr{File: t.file}
	switch {
	case t.r.version == 1 || common(t.file) || t.wrong || !t.q.Enabled(rule.References):
	case t.said == nil:
		t.found("RH383", at, "", "the last line, with the number of rows, is missing")
		t.spoil(t.set)
	case t.seen.rows != t.said.rows:
		t.found("RH383", at, "", "%v, but %v stated", rule.Count(t.seen.rows, "row"), rule.Count(t.said.rows, ""))
		t.spoil(t.set)
	case t.seen.digest != t.said.digest:
		t.found("RH384", at, "", "")
		t.spoil(t.set)
	}
}

func (t *rows) read() error {
	f, err := t.r.root.Open(t.file)
	if err != nil {
		return t.r.fail(t.file, err)
	}
	defer f.Close()
	for l, err := range lines.Each(t.ctx, f, maxLine) {
		if err != nil {
			return t.r.fail(t.file, err)
		}
		t.row(&l)
	}
	return nil
}

// ends reports whether a line is the trailer of the rows. Carriage returns change the
// digests of the rows, which is reported.
func (t *rows) ends(line []byte) bool {
	if t.r.version == 1 || t.said != nil || common(t.file) {
		return false
	}
	said, ok := parseTrailer(line)
	if ok {
		t.said = &said
	}
	return ok
}

// row checks a line. It counts its bytes in any case.
func (t *rows) row(l *lines.Line) {
	t.line = t.line[:0]
	if l.Number == 1 && l.Offset > 0 {
		t.line = append(t.line, "\ufeff"...)
	}
	t.line = append(t.line, l.Bytes...)
	if l.Ended {
		t.line = append(t.line, '\n')
	}
	if len(t.line) > 0 && t.line[0] == '{' && t.ends(bytes.ReplaceAll(t.line, []byte("\r\n"), []byte("\n"))) {
		return
	}
	t.seen.add(t.line, t.at)
	if t.odd[l.Number] || l.Long || !t.q.Enabled(rule.Schema) && !t.q.Enabled(rule.References) {
		return
	}
	set := &t.r.schema.Sets[t.set]
	b := store.NewBatch(t.set, len(set.Columns))
	defer b.Release()
	line := bytes.TrimSuffix(l.Bytes, []byte("\r"))
	if common(t.file) {
		row, err := t.at.unseal(t.line)
		if err != nil {
			if t.q.Enabled(rule.References) {
				t.error("RH384", l.Number, "")
			}
			return
		}
		line = row[:len(row)-1]
	}
	if err := rowtext.Parse(b, line, set.RowIDs); err != nil {
		if t.q.Enabled(rule.Schema) {
			t.error("RH203", l.Number, plainCause(err))
		}
		return
	}
	if !t.q.Enabled(rule.References) {
		return
	}
	if t.said != nil {
		t.error("RH385", l.Number, "row after the line with the number of rows")
		return
	}
	if id := b.RowID(0); set.RowIDs && !common(t.file) {
		if t.any && id <= t.last && !stream(t.file) {
			t.error("RH385", l.Number, "row id %d after %d", id, t.last)
			return
		}
		t.any, t.last = true, id
	}
	if first, same := t.merged.earlier(b, 0, l.Number); first > 0 && !same {
		t.error("RH385", l.Number, "line %d has this key, too", first)
	}
}

// stream checks the tables of a database in one compressed stream.
func (x *examination) stream(first int, file string) error {
	odd, sound, err := x.container(first, file)
	if err != nil {
		return err
	}
	for _, i := range x.r.tables[x.r.schema.Sets[first].File] {
		x.steps++
		x.broken[i] = x.broken[i] || x.broken[first]
	}
	if !sound {
		return nil
	}
	f, err := x.r.root.Open(file)
	if err != nil {
		return x.r.fail(file, err)
	}
	defer f.Close()
	in, err := packed.NewReader(f, x.r.jobs)
	if err == nil {
		defer in.Close()
		err = x.sections(first, file, in, odd)
	}
	switch {
	case err == nil:
		return nil
	case x.ctx.Err() != nil:
		return x.ctx.Err()
	case x.q.Enabled(rule.Container):
		return nil // container has reported it
	}
	return x.r.fail(file, err)
}

// sections checks the rows after each line that names a table.
func (x *examination) sections(first int, file string, in io.Reader, odd map[int]bool) error {
	db := x.r.schema.Sets[first].File
	tables := map[int]*rows{}
	var t *rows
	for l, err := range lines.Each(x.ctx, in, maxLine) {
		if err != nil {
			return err
		}
		if len(l.Bytes) == 0 || l.Bytes[0] != '{' {
			if t != nil {
				t.row(&l)
			}
			continue
		}
		line := append(slices.Clip(bytes.TrimSuffix(l.Bytes, []byte("\r"))), '\n')
		if t != nil && t.ends(line) {
			continue
		}
		if t = nil; odd[l.Number] {
			continue
		}
		if set, ok := x.r.announced(db, line); ok {
			if t = tables[set]; t == nil {
				t = x.rows(set, file, odd)
				tables[set] = t
			}
		}
		if t == nil {
			if x.q.Enabled(rule.References) {
				x.found("RH385", store.Addr{File: file, Line: l.Number}, "", "line does not name a table of this database")
			}
			return nil
		}
	}
	for _, i := range x.r.tables[db] {
		x.steps++
		t := tables[i]
		if t == nil {
			t = x.rows(i, file, nil)
		}
		t.end()
		x.settle(i, t.seen)
	}
	return nil
}
