package fleet

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"

	"rehome/cmd/internal/screen"
	"rehome/cmd/rehome-fleet/internal/bucket"
	"rehome/formats"
	"rehome/internal/fsx"
	"rehome/internal/scratch"
)

// Worker does the units of a shard.
type Worker struct {
	Source, Out bucket.Bucket
	Scratch     string // the folder for copies of stores
	Jobs        int    // stores at a time
	Limits      Limits
}

// Done is what a worker did.
type Done struct {
	Units    int64             `json:"units"`
	Already  int64             `json:"already_done"` // of these units
	Stores   int64             `json:"stores"`       // of the others
	Bytes    int64             `json:"bytes"`
	Outcomes map[outcome]int64 `json:"outcomes"`

	mu sync.Mutex
}

// do does units, several at a time. It goes on after an error, and returns the first.
func (w *Worker) do(ctx context.Context, p *planFile, units []unitAt) (*Done, error) {
	w.Out.Sweep()
	scratch.SweepBeside(w.Scratch, scratchPrefix, func(string, error) {})
	done := &Done{Units: int64(len(units)), Outcomes: map[outcome]int64{}}
	slots := make(chan struct{}, w.Jobs)
	var next atomic.Int64
	var wait sync.WaitGroup
	var mu sync.Mutex
	var first, outdated error
	failed, changed := 0, 0
	for range min(w.Jobs, len(units)) {
		wait.Go(func() {
			for ctx.Err() == nil {
				i := int(next.Add(1)) - 1
				if i >= len(units) {
					return
				}
				if err := w.unit(ctx, p, units[i], slots, done); err != nil {
					mu.Lock()
					if errors.As(err, new(stale)) {
						changed++
						outdated = cmp.Or(outdated, err)
					} else {
						failed++
						first = cmp.Or(first, err)
					}
					stop := failed >= maxFailures
					mu.Unlock()
					if stop {
						return
					}
				}
			}
		})
	}
	wait.Wait()
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	if failed > 1 {
		first = fmt.Errorf("%d units failed, such as: %w", failed, first)
	}
	if first == nil && changed > 0 {
		first = &formats.Error{At: w.Source.Name(), Err: fmt.Errorf("%w: %s changed since the listing, such as %w", formats.ErrBusy, screen.Plural(int64(changed), "unit"), outdated), Hint: "make a new plan: what has not changed stays done"}
	}
	return done, first
}

// stale is the error of a store that is not as it was listed. Its unit gets no receipt: the
// folder may only be mounted in another place, and a new plan has another unit.
type stale struct{ error }

// scratchPrefix begins the names of the folders with copies of stores.
const scratchPrefix = "rehome-fleet-"

// maxFailures is after how many units without a receipt a worker gives up.
const maxFailures = 20

func (w *Worker) unit(ctx context.Context, p *planFile, at unitAt, slots chan struct{}, done *Done) error {
	u, err := p.unit(at)
	if err != nil {
		return err
	}
	recipe := p.header.Recipe
	there, _, err := readReceipt(ctx, w.Out, u, recipe)
	if err != nil {
		return err
	}
	if there != nil {
		done.mu.Lock()
		done.Already++
		done.mu.Unlock()
		return nil
	}
	stage, err := w.Out.Stage()
	if err != nil {
		return err
	}
	defer stage.Close()
	r := Receipt{Schema: 1, Unit: u.ID, Recipe: recipe, Stores: make([]StoreReceipt, len(u.Stores))}
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	var wait sync.WaitGroup
	for i, s := range u.Stores {
		slots <- struct{}{}
		if ctx.Err() != nil {
			<-slots
			break
		}
		wait.Go(func() {
			defer func() { <-slots }()
			var err error
			if r.Stores[i], err = w.store(ctx, u, s, verbNamed(recipe.Verb), filepath.Join(stage.Dir, storeFolder(i))); err != nil {
				cancel(err)
			}
		})
	}
	wait.Wait()
	if err := context.Cause(ctx); err != nil {
		return err
	}
	return w.commit(ctx, stage, u, &r, done)
}

// verdictEnding ends the names of files with results, until they are lines of one file.
const verdictEnding = ".result"

// join makes one file of the results of all stores.
func join(dir string, stores []StoreReceipt) (err error) {
	f, err := os.Create(filepath.Join(dir, verdictsName))
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	for i, s := range stores {
		at := filepath.Join(dir, storeFolder(i)+verdictEnding)
		text, err := os.ReadFile(at)
		if errors.Is(err, fs.ErrNotExist) {
			text, err = []byte("null"), nil
		}
		if err != nil {
			return err
		}
		line, err := encode(struct {
			Store  int             `json:"store"`
			Path   string          `json:"path"`
			Result json.RawMessage `json:"result"`
		}{i, s.Path, text})
		if err != nil {
			return err
		}
		if _, err := f.Write(line); err != nil {
			return err
		}
		if err := os.Remove(at); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
	}
	return nil
}

// commit publishes the results of a unit.
func (w *Worker) commit(ctx context.Context, stage *bucket.Stage, u *Unit, r *Receipt, done *Done) error {
	err := join(stage.Dir, r.Stores)
	if err != nil {
		return err
	}
	if r.Files, err = listFiles(stage.Dir); err != nil {
		return err
	}
	text, err := encode(r)
	if err == nil {
		err = os.WriteFile(filepath.Join(stage.Dir, receiptName), text, 0o666)
	}
	if err != nil {
		return err
	}
	prefix := path.Join(unitsName, u.ID)
	if err = stage.Commit(ctx, prefix, receiptName); errors.Is(err, bucket.ErrExists) {
		there, old, err := readReceipt(ctx, w.Out, u, r.Recipe)
		if err == nil && there == nil {
			err = &formats.Error{At: w.Out.Name() + "/" + prefix, Err: errors.New("exists, without a receipt"), Hint: "remove it and run `rehome-fleet do` again"}
		}
		if err != nil {
			return err
		}
		if err := agree(w.Out.Name()+"/"+prefix, old, text); err != nil {
			return err
		}
	} else if err != nil {
		return err
	}
	done.mu.Lock()
	defer done.mu.Unlock()
	for _, s := range r.Stores {
		done.Stores++
		done.Bytes += s.Bytes
		done.Outcomes[s.Outcome]++
	}
	return nil
}

// store does one store. Its errors are those of this machine and of the buckets; what is
// wrong with the store itself is an outcome.
func (w *Worker) store(ctx context.Context, u *Unit, s Store, v *verb, to string) (r StoreReceipt, err error) {
	r = StoreReceipt{Path: s.Path, Kind: s.Kind, Bytes: s.Bytes, Outcome: giant}
	switch {
	case u.Giant:
		return r, nil
	case s.Lacks != "":
		r.Outcome, r.Detail = refused, clip(s.Lacks)
		return r, nil
	}
	d, err := scratch.Make(w.Scratch, scratchPrefix)
	if err != nil {
		return r, err
	}
	defer d.Remove()
	if err := w.room(d.Path, v.scratch(s)); err != nil {
		return r, err
	}
	in, tmp, out := filepath.Join(d.Path, "in"), filepath.Join(d.Path, "tmp"), filepath.Join(d.Path, "out")
	if err := errors.Join(os.Mkdir(in, 0o700), os.Mkdir(tmp, 0o700), os.Mkdir(out, 0o777)); err != nil {
		return r, err
	}
	switch err := w.fetch(ctx, s, in); {
	case errors.Is(err, bucket.ErrChanged) || errors.Is(err, bucket.ErrGone):
		return r, stale{fmt.Errorf("%q: %w", s.Path, err)}
	case errors.Is(err, errLayout):
		r.Outcome, r.Detail = refused, errLayout.Error()
		return r, nil
	case err != nil:
		return r, err
	}
	args := append([]string{"--json"}, v.args("./"+s.Path, "../out/"+v.output, s, u)...)
	var c childResult
	for try := range tries {
		if try > 0 {
			if err := errors.Join(os.RemoveAll(out), os.Mkdir(out, 0o777), os.RemoveAll(tmp), os.Mkdir(tmp, 0o700)); err != nil {
				return r, err
			}
		}
		l := w.Limits
		l.Output += 4 * s.Bytes
		if c, err = l.run(ctx, in, tmp, out, args); err != nil {
			return r, err
		}
		if c.limit == "" {
			break
		}
	}
	c.json = portable(c.json, d.Path)
	judge(&r, c, s)
	if r.Outcome == poison || r.Outcome == refused {
		if err := w.blame(d.Path, s, r.Detail); err != nil {
			return r, err
		}
	}
	if c.json != nil {
		if err := os.WriteFile(to+verdictEnding, c.json, 0o666); err != nil {
			return r, err
		}
	}
	if _, missing := os.Lstat(filepath.Join(out, v.output)); missing != nil && r.Outcome == ok {
		r.Detail = "no sessions: nothing was written"
	}
	if v.output != "" && c.limit == "" {
		err = adopt(out, to)
	}
	return r, err
}

// blame returns an error if a store could not be read because of this machine.
func (w *Worker) blame(dir string, s Store, detail string) error {
	for _, cause := range []string{"no space left on device", "disk is full", "disk quota exceeded", "input/output error", "read-only file system", "too many open files"} {
		if strings.HasSuffix(detail, cause) {
			return &formats.Error{At: s.Path, Err: errors.New(detail)}
		}
	}
	return w.room(dir, slack)
}

// room returns an error if a disk has less than n bytes left.
func (w *Worker) room(dir string, n int64) error {
	free, err := freeSpace(dir)
	if err == nil && free < n {
		err = &formats.Error{At: w.Scratch, Err: fmt.Errorf("%w: %d MB free, %d MB needed", formats.ErrFull, free>>20, n>>20), Hint: "use --scratch with a larger disk, or fewer --jobs"}
	}
	return err
}

// portable removes the path of a scratch folder from a result, which is the same on every
// machine then.
func portable(text []byte, dir string) []byte {
	real, err := filepath.EvalSymlinks(dir)
	if err != nil {
		real = dir
	}
	for _, path := range []string{dir, real} {
		text = bytes.ReplaceAll(text, []byte(path+string(filepath.Separator)), nil)
	}
	return text
}

// adopt moves what a process wrote to its place in the stage, if it is anything.
func adopt(out, to string) error {
	list, err := os.ReadDir(out)
	if err != nil || len(list) == 0 {
		return err
	}
	if os.Rename(out, to) == nil {
		return nil
	}
	return fsx.CopyTree(out, to, false) // to another disk
}

var errLayout = errors.New("its names are not those of files and folders")

// fetch brings a store to a folder, at the paths that it has in the bucket: clients name
// folders after what is in them.
func (w *Worker) fetch(ctx context.Context, s Store, in string) error {
	if s.Path != "" && bucket.Unsafe(s.Path) != "" {
		return errLayout
	}
	for _, m := range s.Members {
		if bucket.Unsafe(m.Key) != "" {
			return errLayout
		}
		to := filepath.Join(in, filepath.FromSlash(m.Key))
		if err := os.MkdirAll(filepath.Dir(to), 0o700); err != nil {
			return errLayout
		}
		if info, err := os.Lstat(to); err == nil && info.IsDir() {
			return errLayout
		}
		err := w.Source.Fetch(ctx, bucket.Object{Key: m.Key, Size: m.Size, Tag: m.Tag}, to)
		if pe := (*fs.PathError)(nil); errors.As(err, &pe) && pe.Path == to && errors.Is(err, fs.ErrExist) {
			return errLayout
		}
		if err != nil {
			return err
		}
	}
	return nil
}
