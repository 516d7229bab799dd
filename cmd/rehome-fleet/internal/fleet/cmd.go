package fleet

import (
	"cmp"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"time"

	"rehome/cmd/internal/cli"
	"rehome/cmd/internal/screen"
	"rehome/cmd/rehome-fleet/internal/bucket"
	"rehome/formats"
)

// Commands are the commands of a fleet.
type Commands struct {
	Plan   PlanCmd   `cmd:"" group:"Fleets:" help:"Plan work on the stores of many machines"`
	Do     DoCmd     `cmd:"" group:"Fleets:" help:"Do one part of a plan"`
	Report ReportCmd `cmd:"" group:"Fleets:" help:"Compare results with a plan"`
	Load   LoadCmd   `cmd:"" group:"Fleets:" help:"Load results of a plan into PostgreSQL"`
}

// PlanCmd is the command plan.
type PlanCmd struct {
	Src      string `arg:"" help:"Folder or s3://bucket/prefix with one folder per machine. Never modified."`
	Out      string `default:"plan.ndjson" placeholder:"FILE" help:"Plan to write (default: plan.ndjson)"`
	Verb     string `default:"check" placeholder:"VERB" help:"What to do: check (default), archive, canonical, redacted, parquet or catalog"`
	UnitSize string `default:"256MB" placeholder:"SIZE" help:"Max size of a unit of several stores (default: 256MB)"`
	MaxStore string `default:"16GB" placeholder:"SIZE" help:"Do not read stores above this size (default: 16GB)"`
	DryRun   bool   `help:"Print the totals, but do not write the plan"`
}

// Help is what help prints after the flags.
func (PlanCmd) Help() string {
	return `Lists SRC once and groups its objects into stores by their names, and the stores
of a machine into units. The first path element below SRC is the machine. An
object that belongs to no store is listed in the plan, too. The same listing
gives the same plan.

Credentials for s3:// come from AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, the
shared credentials file or the role of the machine. AWS_ENDPOINT_URL names
another server.

Examples:

    rehome-fleet plan backups
    rehome-fleet plan s3://backups/laptops --verb canonical --out canonical.ndjson`
}

// DoCmd is the command do.
type DoCmd struct {
	Plan    string        `arg:"" help:"Plan to do a part of"`
	Shard   string        `required:"" placeholder:"I/N" help:"Do part I of N, from 0/N on; auto or auto/N takes I from the scheduler"`
	Out     string        `required:"" placeholder:"OUT" help:"Folder or s3://bucket/prefix for the results"`
	Source  string        `placeholder:"SRC" help:"Read stores from here (default: where they were listed)"`
	Jobs    int           `placeholder:"N" help:"Max number of stores at a time (default: one per CPU)"`
	Scratch string        `placeholder:"DIR" help:"Folder for temporary copies of stores (default: that of the system)"`
	Memory  string        `default:"2GB" placeholder:"SIZE" help:"Max memory of the process that reads a store (default: 2GB)"`
	Timeout time.Duration `default:"30m" placeholder:"TIME" help:"Max time for a store (default: 30m)"`
}

// Help is what help prints after the flags.
func (DoCmd) Help() string {
	return `Reads each store in a process of its own with limited memory, time and output,
and writes the results of each unit to OUT/units/ID. A unit is done when its
_receipt.json exists; done units are skipped, so that it is safe to run a part
again, or twice at the same time. A bad store does not stop the others: its
outcome is in the receipt. Exits with 0 when every unit of the part is done, and
with 5 if the others changed after they were listed: make a new plan for these.
What has not changed stays done. To read a store again with other limits, remove
the folder of its unit.

--shard auto takes I and N from the variables of Slurm, AWS Batch or Cloud Run.
Kubernetes tells only I: use --shard auto/N. All count from 0, except that the
first task of a Slurm array is 0 whatever its index is.

Examples:

    rehome-fleet do plan.ndjson --shard 0/1 --out results
    rehome-fleet do plan.ndjson --shard auto --out s3://results/check`
}

// ReportCmd is the command report.
type ReportCmd struct {
	Plan   string `arg:"" help:"Plan to compare with"`
	Out    string `required:"" placeholder:"OUT" help:"Folder or s3://bucket/prefix with the results"`
	Verify bool   `help:"Also read all results and compare their digests"`
}

// Help is what help prints after the flags.
func (ReportCmd) Help() string {
	return `Adds up the receipts in OUT and compares them with the plan. Exits with 4 if
a unit has none.

Examples:

    rehome-fleet report plan.ndjson --out results
    rehome-fleet report plan.ndjson --out s3://results/check --verify`
}

// Run makes a plan.
func (c *PlanCmd) Run(call *cli.Call) error {
	unit, errUnit := parseSize("--unit-size", c.UnitSize)
	store, errStore := parseSize("--max-store", c.MaxStore)
	if err := errors.Join(errUnit, errStore); err != nil {
		return cli.Usage(err)
	}
	if verbNamed(c.Verb) == nil {
		var list []string
		for _, v := range allVerbs() {
			list = append(list, v.name)
		}
		return cli.Usage(&formats.Error{At: "--verb", Err: fmt.Errorf("unknown verb %q", c.Verb), Hint: "use " + strings.Join(list, ", ")})
	}
	src, err := bucket.Open(c.Src, bucket.Options{Getenv: call.Getenv})
	if err != nil {
		return cli.Usage(err)
	}
	if err := apart(c.Src, c.Out, "--out"); err != nil && !c.DryRun {
		return err
	}
	p := Planner{Recipe{c.Verb, cli.Version()}, src, unit, store}
	r := &PlanResult{Source: src.Name(), Verb: c.Verb}
	if !c.DryRun {
		r.Plan = c.Out
	}
	if r.Total, r.Unchanged, err = p.place(call.Context, r.Plan); err != nil {
		return err
	}
	return call.Print(r)
}

// Run does a shard.
func (c *DoCmd) Run(call *cli.Call) error {
	i, n, err := parseShard(c.Shard, call.Getenv)
	if err != nil {
		return cli.Usage(err)
	}
	memory, err := parseSize("--memory", c.Memory)
	if err == nil && (c.Jobs < 0 || c.Timeout <= 0) {
		err = errors.New("--jobs and --timeout must be positive")
	}
	if err != nil {
		return cli.Usage(err)
	}
	dir, err := filepath.Abs(cmp.Or(c.Scratch, os.TempDir())) // the processes run in folders of their own
	if err != nil {
		return err
	}
	p, err := openPlan(call.Context, c.Plan)
	if err != nil {
		return err
	}
	defer p.Close()
	if v := cli.Version(); p.header.Recipe.Version != v {
		return &formats.Error{At: c.Plan, Err: fmt.Errorf("made by version %s, but this is %s", p.header.Recipe.Version, v), Hint: "use the same version, or make a new plan"}
	}
	from := cmp.Or(c.Source, p.header.Source)
	o := bucket.Options{Getenv: call.Getenv, Scratch: dir}
	source, errSource := bucket.Open(from, o)
	out, errOut := bucket.Open(c.Out, o)
	if err := errors.Join(errSource, errOut); err != nil {
		return cli.Usage(err)
	}
	if err := apart(from, c.Out, "--out"); err != nil {
		return err
	}
	program, err := os.Executable()
	if err != nil {
		return err
	}
	w := &Worker{Source: source, Out: out, Scratch: dir, Jobs: cmp.Or(c.Jobs, runtime.GOMAXPROCS(0))}
	w.Limits = Limits{Program: []string{program}, Memory: memory, Time: c.Timeout, Output: 1 << 30, CPUs: max(1, runtime.GOMAXPROCS(0)/w.Jobs)}
	done, err := w.do(call.Context, p, p.shard(i, n))
	if err != nil {
		return err
	}
	return call.Print(&DoResult{Plan: c.Plan, Shard: i, Shards: n, Done: done})
}

// Run reports on a plan.
func (c *ReportCmd) Run(call *cli.Call) error {
	p, err := openPlan(call.Context, c.Plan)
	if err != nil {
		return err
	}
	defer p.Close()
	out, err := bucket.Open(c.Out, bucket.Options{Getenv: call.Getenv})
	if err != nil {
		return cli.Usage(err)
	}
	r, err := makeReport(call.Context, p, out, c.Verify)
	if err != nil {
		return err
	}
	if r.Complete {
		return call.Print(r)
	}
	return call.PrintFindings(r, string(screen.Plural(r.NotDone, "store"))+" of the plan not done")
}

// parseSize reads a size such as 256MB.
func parseSize(flag, text string) (int64, error) {
	number := strings.TrimRight(text, "kMGTB")
	i := slices.Index([]string{"", "kB", "MB", "GB", "TB"}, strings.TrimPrefix(text[len(number):], "B"))
	n, err := strconv.ParseInt(number, 10, 32)
	if err != nil || i < 0 || n <= 0 || text == number {
		return 0, &formats.Error{At: flag, Err: fmt.Errorf("invalid size %q", text), Hint: "use a number and kB, MB, GB or TB"}
	}
	for range i {
		n *= 1000
	}
	return n, nil
}

// apart returns an error if what is written would be in a folder that is read: the next plan
// would list it.
func apart(from, to, flag string) error {
	if strings.Contains(from, "://") || strings.Contains(to, "://") {
		if inside, ok := strings.CutPrefix(strings.TrimRight(to, "/")+"/", strings.TrimRight(from, "/")+"/"); !ok || !strings.Contains(from, "://") || inside == to {
			return nil
		}
		return &formats.Error{At: flag, Err: errors.New("is in SRC"), Hint: "write to another prefix"}
	}
	a, errA := real(from)
	b, errB := real(to)
	if err := errors.Join(errA, errB); err != nil {
		return err
	}
	if rel, err := filepath.Rel(a, b); err == nil && filepath.IsLocal(rel) {
		return &formats.Error{At: to, Err: errors.New("is in SRC"), Hint: "write to another folder"}
	}
	return nil
}

// real returns a path without links, as far as it exists.
func real(path string) (string, error) {
	abs, err := filepath.Abs(path)
	if err != nil {
		return "", err
	}
	if there, err := filepath.EvalSymlinks(abs); err == nil {
		return there, nil
	}
	if up := filepath.Dir(abs); up != abs {
		there, err := real(up)
		return filepath.Join(there, filepath.Base(abs)), err
	}
	return abs, nil
}
