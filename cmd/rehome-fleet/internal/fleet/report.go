package fleet

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"

	"rehome/cmd/internal/screen"
	"rehome/cmd/rehome-fleet/internal/bucket"
)

// maxListed bounds the stores that a report names.
const maxListed = 1000

// Report compares the receipts with the plan: schema fleet-report-1.
type Report struct {
	Verb     string            `json:"verb"`
	Complete bool              `json:"complete"`
	Units    int64             `json:"units"`
	Missing  int64             `json:"units_missing"` // without a receipt
	Stores   int64             `json:"stores"`
	Bytes    int64             `json:"bytes"`
	Outcomes map[outcome]int64 `json:"outcomes"`
	NotDone  int64             `json:"stores_missing"` // in units without a receipt
	Findings map[string]int64  `json:"findings"`
	Files    int64             `json:"files"`
	Written  int64             `json:"bytes_written"`
	Verified bool              `json:"verified"`
	Damaged  int64             `json:"units_damaged"`
	Listed   []Listed          `json:"listed"` // stores that are not ok, and units that are not there
	Unlisted int64             `json:"unlisted"`
	Others   int64             `json:"others"` // objects that belong to no store
}

// Listed is a store or a unit that a report names.
type Listed struct {
	Unit    string `json:"unit"`
	Path    string `json:"path,omitempty"`
	Outcome string `json:"outcome"` // of a store; missing, damaged
	Detail  string `json:"detail,omitempty"`
}

// readers is how many receipts are read at a time.
const readers = 16

// makeReport reads the receipts of a plan; with verify, also every file they list.
func makeReport(ctx context.Context, p *planFile, out bucket.Bucket, verify bool) (*Report, error) {
	r := &Report{Verb: p.header.Recipe.Verb, Outcomes: map[outcome]int64{}, Findings: map[string]int64{}, Listed: []Listed{}, Others: p.total.Others, Verified: verify}
	err := eachReceipt(ctx, p, out, verify, func(u *Unit, receipt *Receipt, damage error) error {
		r.add(u, receipt, damage)
		return nil
	})
	if err != nil {
		return nil, err
	}
	r.Complete = r.NotDone == 0
	sum := r.NotDone
	for n := range maps.Values(r.Outcomes) {
		sum += n
	}
	if r.Units != p.total.Units || r.Stores != p.total.Stores || sum != r.Stores {
		return nil, damaged(p.Name(), "its lines do not add up to its last line")
	}
	return r, nil
}

// eachReceipt calls f with each unit of a plan, in order: its receipt, or why it has none.
// With verify, a receipt whose files are damaged is damaged, too.
func eachReceipt(ctx context.Context, p *planFile, out bucket.Bucket, verify bool, f func(u *Unit, receipt *Receipt, damage error) error) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	type read struct {
		unit    *Unit
		receipt *Receipt
		damage  error
		err     error
	}
	queue := make(chan chan read, readers)
	go func() {
		defer close(queue)
		for _, at := range p.units {
			one := make(chan read, 1)
			select {
			case queue <- one:
			case <-ctx.Done():
				return
			}
			go func() {
				var got read
				if got.unit, got.err = p.unit(at); got.err == nil {
					got.receipt, _, got.err = readReceipt(ctx, out, got.unit, p.header.Recipe)
				}
				if errors.Is(got.err, errDamaged) {
					got.damage, got.err = got.err, nil
				}
				if got.receipt != nil && verify {
					got.damage, got.err = verifyFiles(ctx, out, got.receipt)
				}
				one <- got
			}()
		}
	}()
	for one := range queue {
		got := <-one
		if got.err == nil {
			got.err = f(got.unit, got.receipt, got.damage)
		}
		if got.err != nil {
			return got.err
		}
	}
	return ctx.Err()
}

// list adds to what is listed, as far as there is room.
func list(to *[]Listed, unlisted *int64, one Listed) {
	if len(*to) == maxListed {
		*unlisted++
		return
	}
	*to = append(*to, one)
}

func (r *Report) list(l Listed) { list(&r.Listed, &r.Unlisted, l) }

// missing lists a unit that has no valid receipt.
func missing(u *Unit, damage error) Listed {
	if damage != nil {
		return Listed{u.ID, u.Stores[0].Path, "damaged", damage.Error()}
	}
	return Listed{u.ID, u.Stores[0].Path, "missing", "no receipt for " + string(screen.Plural(int64(len(u.Stores)), "store"))}
}

// add adds a unit: its receipt, or why it has none.
func (r *Report) add(u *Unit, receipt *Receipt, damage error) {
	r.Units++
	r.Stores += int64(len(u.Stores))
	r.Bytes += u.Bytes
	if receipt == nil || damage != nil {
		if damage != nil {
			r.Damaged++
		} else {
			r.Missing++
		}
		r.NotDone += int64(len(u.Stores))
		r.list(missing(u, damage))
		return
	}
	for _, f := range receipt.Files {
		r.Files++
		r.Written += f.Size
	}
	for _, s := range receipt.Stores {
		r.Outcomes[s.Outcome]++
		for severity, n := range s.Findings {
			r.Findings[severity] += n
		}
		if s.Outcome != ok {
			r.list(Listed{u.ID, s.Path, string(s.Outcome), s.Detail})
		}
	}
}

// verifyFiles reads the files of a receipt and compares their digests.
func verifyFiles(ctx context.Context, out bucket.Bucket, r *Receipt) (damaged, err error) {
	for _, f := range r.Files {
		what, err := verifyFile(ctx, out, unitsName+"/"+r.Unit+"/"+f.Name, f)
		if err != nil || what != "" {
			if what != "" {
				return fmt.Errorf("%s: %s", f.Name, what), nil
			}
			return nil, err
		}
	}
	return nil, nil
}

func verifyFile(ctx context.Context, out bucket.Bucket, key string, f File) (what string, err error) {
	in, err := out.Open(ctx, key)
	if errors.Is(err, fs.ErrNotExist) {
		return "missing", nil
	}
	if err != nil {
		return "", err
	}
	defer in.Close()
	sum := sha256.New()
	n, err := io.Copy(sum, in)
	if err == nil && (n != f.Size || hex.EncodeToString(sum.Sum(nil)) != f.Digest) {
		what = "its digest does not match"
	}
	return what, err
}
