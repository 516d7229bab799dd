package check_test

import (
	"bytes"
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"reflect"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"rehome/convert"
	"rehome/convert/check"
	"rehome/formats"
	"rehome/formats/all"
	"rehome/formats/loss"
	"rehome/formats/rule"
	"rehome/formats/store"
	"rehome/golden"
)

// flipsOf names the variable that makes TestEveryBit flip all bits of each byte
// instead of one, which takes a quarter of an hour.
const flipsOf = "REHOME_FLIPS"

// flipSample is a small store, or its text.
type flipSample struct {
	name    string
	check   string                         // what of the sample is checked
	files   string                         // the files that are flipped: a pattern of their names
	make    func(t *testing.T, dir string) // the sample
	restore string                         // the format that text is restored to; "" where it is read as it is
	free    func(f *flipped) bool          // whether a change may pass: docs/check.md says which
}

// flipped is what a flip came to that nothing was found of.
type flipped struct {
	file       string
	was, is    []byte
	at         int
	from, then *content
}

// TestEveryBit flips bits of small stores and of their text, one at a time. Each
// flip is a finding of check; or what is read, and restored, is as before; or it
// is one of those that docs/check.md names.
func TestEveryBit(t *testing.T) {
	for _, s := range flipSamples() {
		t.Run(s.name, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			s.make(t, filepath.Join(dir, "sample"))
			var files []string
			err := filepath.WalkDir(filepath.Join(dir, "sample"), func(path string, e fs.DirEntry, err error) error {
				if ok, _ := filepath.Match(s.files, filepath.Base(path)); err == nil && e.Type().IsRegular() && ok {
					rel, _ := filepath.Rel(filepath.Join(dir, "sample"), path)
					files = append(files, rel)
				}
				return err
			})
			if err != nil {
				t.Fatal(err)
			}
			r := &flipRun{t: t, s: &s, left: map[string]int{}, passed: map[string]int{}}
			work := make(chan flipWork)
			var all sync.WaitGroup
			for n := range runtime.GOMAXPROCS(0) {
				own := filepath.Join(dir, fmt.Sprint(n))
				if err := os.CopyFS(own, os.DirFS(filepath.Join(dir, "sample"))); err != nil {
					t.Fatal(err)
				}
				all.Go(func() {
					w := r.begin(own)
					for job := range work {
						w.flip(job)
					}
				})
			}
			for _, f := range files {
				info, err := os.Stat(filepath.Join(dir, "sample", f))
				if err != nil {
					t.Fatal(err)
				}
				step := 1
				switch {
				case golden.Race: // flips of any byte meet the same goroutines
					step = 101
				case testing.Short():
					step = 7 // no divisor of a width
				}
				for at := 0; at < int(info.Size()); at += step {
					work <- flipWork{f, at}
				}
			}
			close(work)
			all.Wait()
			r.report()
		})
	}
}

type flipWork struct {
	file string
	at   int
}

type flipRun struct {
	t      *testing.T
	s      *flipSample
	mu     sync.Mutex
	n      int
	left   map[string]int // what was not found, with an example each
	passed map[string]int // the exceptions, by file
}

func (r *flipRun) report() {
	r.t.Logf("%d flips, %v", r.n, r.passed)
	for _, what := range slices.Sorted(keysOf(r.left)) {
		r.t.Errorf("%d times: %s", r.left[what], what)
	}
}

func keysOf(m map[string]int) func(func(string) bool) {
	return func(yield func(string) bool) {
		for k := range m {
			if !yield(k) {
				return
			}
		}
	}
}

// flipper flips bits in its own copy of the sample.
type flipper struct {
	*flipRun
	dir   string
	found map[string]bool // in the sample as it is
	whole *content
	err   error
	reg   *formats.Registry // kept: what it learns of schemas saves time
}

func (r *flipRun) begin(dir string) *flipper {
	w := &flipper{flipRun: r, dir: dir, reg: all.Registry()}
	if err := w.age(); err != nil {
		r.t.Error(err)
	}
	w.found, w.err = w.findings()
	if w.whole, _ = w.read(); w.err != nil || w.whole == nil {
		r.t.Errorf("the sample is not whole: %v", w.err)
	}
	return w
}

// age makes all files old enough for nobody to wait for their clocks.
func (w *flipper) age() error {
	old := time.Now().Add(-time.Hour)
	return filepath.WalkDir(w.dir, func(path string, e fs.DirEntry, err error) error {
		if err != nil || e.IsDir() {
			return err
		}
		return os.Chtimes(path, old, old)
	})
}

func (w *flipper) flip(job flipWork) {
	path := filepath.Join(w.dir, job.file)
	was, err := os.ReadFile(path)
	if err != nil {
		w.t.Error(err)
		return
	}
	bits := []int{job.at % 8}
	if os.Getenv(flipsOf) != "" {
		bits = []int{0, 1, 2, 3, 4, 5, 6, 7}
	}
	for _, bit := range bits {
		is := bytes.Clone(was)
		is[job.at] ^= 1 << bit
		if err := w.put(path, is); err != nil {
			w.t.Error(err)
		}
		w.judge(job, was, is)
	}
	if err := w.put(path, was); err != nil {
		w.t.Error(err)
	}
}

func (w *flipper) put(path string, b []byte) error {
	old := time.Now().Add(-time.Hour)
	f, err := os.OpenFile(path, os.O_WRONLY, 0)
	if err != nil {
		return err
	}
	_, err = f.WriteAt(b, 0)
	return errors.Join(err, f.Close(), os.Chtimes(path, old, old))
}

func (w *flipper) judge(job flipWork, was, is []byte) {
	found, err := w.findings()
	if err == nil {
		for f := range found {
			if !w.found[f] {
				err = errors.New(f)
			}
		}
	}
	w.mu.Lock()
	w.n++
	w.mu.Unlock()
	if err != nil {
		return // an error of checking or a finding: it is said
	}
	then, err := w.read()
	what := ""
	switch {
	case err != nil:
		what = "check says nothing, and it cannot be read: " + strings.ReplaceAll(err.Error(), w.dir, "")
	case then.equal(w.whole):
		return
	default:
		f := &flipped{job.file, was, is, job.at, w.whole, then}
		if w.s.free(f) {
			w.mu.Lock()
			w.passed[job.file]++
			w.mu.Unlock()
			return
		}
		what = fmt.Sprintf("check says nothing of %s, and %s", job.file, then.differs(w.whole))
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.left[what] == 0 && len(w.left) < 40 {
		lo, hi := max(0, job.at-30), min(len(is), job.at+30)
		w.t.Logf("%s\n  byte %d: %q\n       -> %q", what, job.at, was[lo:hi], is[lo:hi])
	}
	if len(w.left) < 40 || w.left[what] > 0 {
		w.left[what]++
	}
}

// findings are what check finds, by rule and place.
func (w *flipper) findings() (map[string]bool, error) {
	r, err := check.Check(context.Background(), w.reg, check.Options{
		Paths: []string{filepath.Join(w.dir, w.s.check)}, Layers: rule.Container | rule.Schema | rule.References | rule.Meaning, Jobs: 1,
	})
	if err != nil {
		return nil, err
	}
	out := map[string]bool{fmt.Sprint(len(r.Stores), " stores"): true}
	for _, s := range r.Stores {
		if s.Err != nil {
			return nil, s.Err
		}
		out[s.Format] = true
		for _, said := range s.Remarks {
			out[said] = true
		}
		for _, b := range s.Findings {
			for _, p := range b.Places {
				out[p.Rule+" "+p.At.String()+" "+p.Pointer+" "+p.Text()] = true
			}
		}
	}
	return out, nil
}

// content is what is read of a store by tables, as convert does.
type content struct {
	schema *store.Schema
	sum    store.Summary
	rows   [][]flipRow // by set
}

type flipRow struct {
	id    int64
	cells []store.Cell
}

// read reads the sample, or what is restored from it.
func (w *flipper) read() (*content, error) {
	path := filepath.Join(w.dir, w.s.check)
	if w.s.restore == "" {
		return w.contentOf(path)
	}
	to, err := os.MkdirTemp(filepath.Dir(w.dir), "restored")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(to)
	to = filepath.Join(to, "store")
	if _, err := convert.Convert(context.Background(), w.reg, path, to, convert.Options{To: w.s.restore, Sidecar: "", Allow: loss.Unreadable, Jobs: 1}); err != nil {
		return nil, err
	}
	return w.contentOf(to)
}

func (w *flipper) contentOf(path string) (*content, error) {
	l, err := formats.Locate(path)
	if err != nil {
		return nil, err
	}
	found, err := w.reg.Detect(context.Background(), l)
	if err != nil || len(found) == 0 {
		return nil, fmt.Errorf("not recognized: %w", err)
	}
	f := found[0].Format
	r, err := f.Records.Open(context.Background(), l, formats.View{Kind: formats.Tables, RequireRestorable: true, Secrets: formats.KeepSecrets, Jobs: 1})
	if err != nil {
		return nil, err
	}
	c := &content{schema: r.Schema(), rows: make([][]flipRow, len(r.Schema().Sets))}
	for b, err := range r.Batches(context.Background()) {
		if err != nil {
			return nil, errors.Join(err, r.Close())
		}
		for i := range b.Rows() {
			row := flipRow{id: b.RowID(i)}
			for col := range b.Width() {
				row.cells = append(row.cells, b.Cell(i, col).Clone())
			}
			c.rows[b.Set] = append(c.rows[b.Set], row)
		}
		b.Release()
	}
	c.sum = r.Summary()
	return c, r.Close()
}

func (c *content) equal(o *content) bool {
	return reflect.DeepEqual(c.schema, o.schema) && slices.Equal(c.sum, o.sum)
}

// differs names what is another.
func (c *content) differs(o *content) string {
	if !reflect.DeepEqual(c.schema, o.schema) {
		return "its schema differs"
	}
	for i, set := range c.schema.Sets {
		if c.sum[i] != o.sum[i] {
			return fmt.Sprintf("rows of %s/%s differ", set.File, set.Name)
		}
	}
	return "nothing differs"
}

// oneText reports that nothing but the bytes of one text differ.
func (c *content) oneText(o *content) bool {
	texts := 0
	if !reflect.DeepEqual(c.schema, o.schema) {
		return false
	}
	for i := range c.rows {
		if len(c.rows[i]) != len(o.rows[i]) {
			return false
		}
		for n, row := range c.rows[i] {
			other := o.rows[i][n]
			if row.id != other.id || len(row.cells) != len(other.cells) {
				return false
			}
			for k, cell := range row.cells {
				is := other.cells[k]
				if cell.Class == is.Class && cell.Bits() == is.Bits() && bytes.Equal(cell.Bytes(), is.Bytes()) {
					continue
				}
				if texts++; cell.Class != store.Text || is.Class != store.Text || len(cell.Bytes()) != len(is.Bytes()) {
					return false
				}
			}
		}
	}
	return texts == 1
}

// small is a database with small pages, and nothing between its rows.
func small(t *testing.T, path string) {
	t.Helper()
	db, err := sql.Open("sqlite", "file:"+filepath.ToSlash(path))
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	db.SetMaxOpenConns(1)
	for _, s := range []string{"PRAGMA journal_mode=DELETE", "PRAGMA page_size=1024", "VACUUM"} {
		if _, err := db.Exec(s); err != nil {
			t.Fatal(err)
		}
	}
}
