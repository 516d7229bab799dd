package fleet

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"

	"rehome/cmd/internal/cli"
	"rehome/cmd/internal/screen"
	"rehome/cmd/rehome-fleet/internal/bucket"
	"rehome/cmd/rehome-fleet/internal/catalog"
	"rehome/formats"
	"rehome/internal/scratch"
)

// LoadCmd is the command load.
type LoadCmd struct {
	Plan string `arg:"" help:"Plan whose results to load; its verb is catalog"`
	To   string `arg:"" help:"postgres:// address; ?schema=NAME is the schema (default: rehome)"`
	Out  string `required:"" placeholder:"OUT" help:"Folder or s3://bucket/prefix with the results"`
}

// Help is what help prints after the flags.
func (LoadCmd) Help() string {
	return `Loads the sessions, losses and findings of every store with a receipt into the
tables that rehome-fleet catalog describes. Machine, store and unit of a row are
those of the plan, so a store must be in the folder of its machine. Each store is loaded in one transaction, which replaces what
was loaded of it before, so that it is safe to load again, or at the same time:
what was loaded stays as it is. A store that could not be read keeps its old
rows, and so does one that is not in the plan.

Exits with 4 if a unit has no receipt, or rows cannot be loaded.

Keep the password out of the address: PGPASSWORD, ~/.pgpass and PGSERVICEFILE
work as in psql.

Examples:

    rehome-fleet plan backups --verb catalog
    rehome-fleet do plan.ndjson --shard 0/1 --out results
    rehome-fleet load plan.ndjson postgres://db/team --out results`
}

// LoadResult is the result of load: schema fleet-load-result-1. Its stores are those that
// were loaded, unchanged, not read, failed and missing.
type LoadResult struct {
	Plan      string   `json:"plan"`
	Target    string   `json:"target"`   // without credentials
	Complete  bool     `json:"complete"` // nothing failed or missing
	Units     int64    `json:"units"`
	NoReceipt int64    `json:"units_missing"` // without a valid receipt
	Stores    int64    `json:"stores"`
	Loaded    int64    `json:"loaded"`
	Unchanged int64    `json:"unchanged"`
	NotRead   int64    `json:"not_read"` // by do, which says why in its receipt
	Failed    int64    `json:"failed"`   // their rows cannot be loaded
	Missing   int64    `json:"stores_missing"`
	Sessions  int64    `json:"sessions"` // of the stores that were loaded
	Listed    []Listed `json:"listed"`   // not read and failed stores, and units without a receipt
	Unlisted  int64    `json:"unlisted"`
}

// Run loads the results of a plan.
func (c *LoadCmd) Run(call *cli.Call) error {
	p, err := openPlan(call.Context, c.Plan)
	if err != nil {
		return err
	}
	defer p.Close()
	if verb := p.header.Recipe.Verb; verb != "catalog" {
		return &formats.Error{At: c.Plan, Err: fmt.Errorf("its verb is %s", verb), Hint: "make a plan with `rehome-fleet plan --verb catalog`"}
	}
	out, err := bucket.Open(c.Out, bucket.Options{Getenv: call.Getenv})
	if err != nil {
		return cli.Usage(err)
	}
	r, err := load(call.Context, p, out, c.To)
	if err != nil {
		return err
	}
	if r.Complete {
		return call.Print(r)
	}
	return call.PrintFindings(r, string(screen.Plural(r.Missing+r.Failed, "store"))+" of the plan not loaded")
}

// loading is a load in progress.
type loading struct {
	*LoadResult
	out  bucket.Bucket
	to   *catalog.Loader
	file *scratch.File // the rows of one store
}

// load loads the results of a plan.
func load(ctx context.Context, p *planFile, out bucket.Bucket, address string) (*LoadResult, error) {
	file, err := scratch.NewFile("load")
	if err != nil {
		return nil, err
	}
	defer file.Close()
	to, err := catalog.Open(address)
	if err != nil {
		return nil, err
	}
	defer to.Close(ctx)
	l := &loading{&LoadResult{Plan: p.Name(), Target: to.Name(), Listed: []Listed{}}, out, to, file}
	if err := eachReceipt(ctx, p, out, false, l.unit(ctx)); err != nil {
		return nil, err
	}
	if l.Units != p.total.Units || l.Stores != p.total.Stores || l.Stores != l.Loaded+l.Unchanged+l.NotRead+l.Failed+l.Missing {
		return nil, damaged(p.Name(), "its lines do not add up to its last line")
	}
	l.Complete = l.Missing == 0 && l.Failed == 0
	return l.LoadResult, nil
}

// unit returns what loads a unit.
func (l *loading) unit(ctx context.Context) func(*Unit, *Receipt, error) error {
	return func(u *Unit, receipt *Receipt, damage error) error {
		l.Units++
		l.Stores += int64(len(u.Stores))
		if receipt == nil || damage != nil {
			l.NoReceipt++
			l.Missing += int64(len(u.Stores))
			l.list(missing(u, damage))
			return nil
		}
		var paths []string
		for _, s := range u.Stores {
			paths = append(paths, s.Path)
		}
		there, err := l.to.Loaded(ctx, u.Machine, u.ID, paths)
		if err != nil {
			return err
		}
		files := map[string]File{}
		for _, f := range receipt.Files {
			files[f.Name] = f
		}
		for i, s := range receipt.Stores {
			f, found := files[storeFolder(i)+"/"+catalog.FileName]
			switch {
			case s.Outcome != ok && s.Outcome != findings:
				l.NotRead++
				l.list(Listed{u.ID, s.Path, string(s.Outcome), s.Detail})
			case u.Machine == "": // two such plans would replace each other's stores
				l.Failed++
				l.list(Listed{u.ID, s.Path, "failed", "in no machine's folder"})
			case found && there[s.Path] == f.Digest:
				l.Unchanged++
			default:
				if err := l.store(ctx, u, s.Path, f); err != nil {
					return err
				}
			}
		}
		return nil
	}
}

// store loads a store from its file. What is wrong with the file is not an error.
func (l *loading) store(ctx context.Context, u *Unit, path string, f File) error {
	reason, err := l.fetch(ctx, u, f)
	if err == nil && reason == "" {
		var n int64
		var status string
		n, status, err = l.to.Load(ctx, catalog.Key{Machine: u.Machine, Store: path, Unit: u.ID}, l.file, f.Digest)
		switch {
		case errors.Is(err, catalog.ErrRows):
			reason, err = clip(err.Error()), nil
		case err == nil && status == catalog.Unchanged: // another process loaded it
			l.Unchanged++
		case err == nil:
			l.Loaded++
			l.Sessions += n
		}
	}
	if reason != "" {
		l.Failed++
		l.list(Listed{u.ID, path, "failed", reason})
	}
	return err
}

// maxRows is the size of the largest file of rows that is loaded.
const maxRows = 4 << 30

// fetch copies a file and compares its digest. The reason is why it cannot be loaded.
func (l *loading) fetch(ctx context.Context, u *Unit, f File) (reason string, err error) {
	if f.Name == "" {
		return "not in the receipt", nil
	}
	if _, err := l.file.Seek(0, io.SeekStart); err != nil {
		return "", err
	}
	if err := l.file.Truncate(0); err != nil {
		return "", err
	}
	in, err := l.out.Open(ctx, unitsName+"/"+u.ID+"/"+f.Name)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return "missing", nil
	case errors.As(err, new(*fs.PathError)): // such as a link out of the folder
		return "cannot be read: " + formats.Cause(err).Error(), nil
	case err != nil:
		return "", err
	}
	defer in.Close()
	sum := sha256.New()
	n, err := io.Copy(io.MultiWriter(l.file, sum), io.LimitReader(in, maxRows+1))
	switch {
	case err != nil:
		return "", err
	case n > maxRows:
		return fmt.Sprintf("larger than %d GB", maxRows>>30), nil
	case n != f.Size || hex.EncodeToString(sum.Sum(nil)) != f.Digest:
		return "its digest does not match", nil
	}
	return "", nil
}

func (l *loading) list(one Listed) { list(&l.Listed, &l.Unlisted, one) }

// Text prints the result for people.
func (r *LoadResult) Text(p *cli.Page) {
	p.Linef("%s -> %s", screen.Visible(r.Plan), screen.Visible(r.Target))
	p.Linef("  %s: %s loaded, %s unchanged", screen.Plural(r.Sessions, "session"), screen.Plural(r.Loaded, "store"), screen.Grouped(r.Unchanged))
	if r.NotRead > 0 {
		p.Linef("  %s could not be read", screen.Plural(r.NotRead, "store"))
	}
	if r.Missing > 0 {
		p.Linef("  %s in %s without a valid receipt", screen.Plural(r.Missing, "store"), screen.Plural(r.NoReceipt, "unit"))
	}
	printListed(p, r.Listed, r.Unlisted)
}
