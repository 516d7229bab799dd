package fleet

import (
	"bytes"
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

	"rehome/cmd/rehome-fleet/internal/bucket"
	"rehome/formats"
	"rehome/internal/fsx"
	"rehome/internal/scratch"
)

// Worker does the units of a shard.
type Worker struct {
	Source, Out bucket.Bucket
	Scratch     string // the folder for copies of stores; "": that of the system
	Jobs        int    // stores at a time
	Limits      Limits
	Remark      func(string)
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
	done := &Done{Units: int64(len(units)), Outcomes: map[outcome]int64{}}
	slots := make(chan struct{}, w.Jobs)
	var next atomic.Int64
	var wait sync.WaitGroup
	var mu sync.Mutex
	var first error
	failed := 0
	for range min(w.Jobs, len(units)) {
		wait.Go(func() {
			for ctx.Err() == nil {
				i := int(next.Add(1)) - 1
				if i >= len(units) {
					return
				}
				if err := w.unit(ctx, p, units[i], slots, done); err != nil {
					mu.Lock()
					if failed++; first == nil {
						first = err
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
		first = fmt.Errorf("%d units have no receipt; the first: %w", failed, first)
	}
	return done, first
}

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
	verdicts := make([]json.RawMessage, len(u.Stores))
	var wait sync.WaitGroup
	errs := make([]error, len(u.Stores))
	for i, s := range u.Stores {
		slots <- struct{}{}
		if ctx.Err() != nil {
			<-slots
			break
		}
		wait.Go(func() {
			defer func() { <-slots }()
			to := filepath.Join(stage.Dir, storeFolder(i))
			r.Stores[i], verdicts[i], errs[i] = w.store(ctx, u, s, verbNamed(recipe.Verb), to)
		})
	}
	wait.Wait()
	if err := errors.Join(ctx.Err(), errors.Join(errs...)); err != nil {
		return err
	}
	return w.commit(ctx, stage, u, &r, verdicts, done)
}

// commit publishes the results of a unit.
func (w *Worker) commit(ctx context.Context, stage *bucket.Stage, u *Unit, r *Receipt, verdicts []json.RawMessage, done *Done) error {
	var lines bytes.Buffer
	for i, v := range verdicts {
		if v == nil {
			v = json.RawMessage("null")
		}
		fmt.Fprintf(&lines, `{"store":%d,"path":`, i)
		name, err := encode(r.Stores[i].Path)
		if err != nil {
			return err
		}
		lines.Write(bytes.TrimSpace(name))
		lines.WriteString(`,"result":`)
		if err := json.Compact(&lines, v); err != nil {
			return err
		}
		lines.WriteString("}\n")
	}
	err := os.WriteFile(filepath.Join(stage.Dir, verdictsName), lines.Bytes(), 0o666)
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

// store does one store. An error is one of this machine or of the buckets, and says nothing
// of the store.
func (w *Worker) store(ctx context.Context, u *Unit, s Store, v *verb, to string) (r StoreReceipt, verdict json.RawMessage, err error) {
	r = StoreReceipt{Path: s.Path, Kind: s.Kind, Bytes: s.Bytes, Outcome: giant}
	if u.Giant {
		return r, nil, nil
	}
	d, err := scratch.New(w.Scratch, "fleet")
	if err != nil {
		return r, nil, err
	}
	defer d.Remove()
	if free, err := freeSpace(d.Path); err != nil || free < v.scratch(s) {
		return r, nil, errors.Join(err, &formats.Error{At: d.Path, Err: fmt.Errorf("%w for %q: %d MB free, %d MB needed", formats.ErrFull, s.Path, free>>20, v.scratch(s)>>20), Hint: "use --scratch with a larger disk, or fewer --jobs"})
	}
	in, tmp, out := filepath.Join(d.Path, "in"), filepath.Join(d.Path, "tmp"), filepath.Join(d.Path, "out")
	for _, dir := range []string{in, tmp, out} {
		if err := os.Mkdir(dir, 0o700); err != nil {
			return r, nil, err
		}
	}
	switch err := w.fetch(ctx, s, in); {
	case errors.Is(err, bucket.ErrChanged) || errors.Is(err, bucket.ErrGone):
		r.Outcome, r.Detail = changed, err.Error()
		return r, nil, nil
	case errors.Is(err, errLayout):
		r.Outcome, r.Detail = refused, errLayout.Error()
		return r, nil, nil
	case err != nil:
		return r, nil, err
	}
	args := append([]string{"--json"}, v.args("./"+s.Path, "../out/"+v.output, s, u)...)
	var c childResult
	for try := range tries {
		if try > 0 {
			if err := errors.Join(os.RemoveAll(out), os.Mkdir(out, 0o700), os.RemoveAll(tmp), os.Mkdir(tmp, 0o700)); err != nil {
				return r, nil, err
			}
		}
		l := w.Limits
		l.Output += 4 * s.Bytes
		if c, err = l.run(ctx, in, tmp, out, args); err != nil || c.limit == "" {
			break
		}
	}
	if err == nil && (c.exit == 1 || c.limit != "") && full(string(c.json)+c.stderr) {
		err = &formats.Error{At: s.Path, Err: fmt.Errorf("this machine cannot read it: %s", firstLine(c.stderr))}
	}
	if err != nil {
		return r, nil, err
	}
	judge(&r, c, s)
	if v.output != "" && c.limit == "" {
		if err := adopt(out, to); err != nil {
			return r, nil, err
		}
	}
	return r, c.json, nil
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

func firstLine(text string) string {
	line, _, _ := strings.Cut(text, "\n")
	return line
}
