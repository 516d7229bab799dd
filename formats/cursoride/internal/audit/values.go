package audit

import (
	"context"
	"crypto/sha256"
	"sync"
	"unicode/utf8"

	"rehome/formats"
	"rehome/formats/internal/sqlitefile"
	"rehome/formats/internal/sqlitepages"
	"rehome/formats/rule"
	"rehome/formats/store"
)

// pending is what rows of one scan name in others: those are looked up when
// the scan is over.
type pending struct {
	mu          sync.Mutex
	contents    map[[sha256.Size]byte]named
	checkpoints []named
	calls       map[string][]named // tools that have not ended, by session
	changed     map[int64]bool     // blobs that are not what they were: what they say is no news
	misplaced   map[string]bool    // bubbles that lie under another key, as session:bubble
}

// named is a place that names something.
type named struct {
	at      store.Addr
	pointer string
	id      string
}

// values looks at every value of cursorDiskKV in the order of the rows, while
// the container is looked at: a look-up of each would take ten times as long.
// Workers judge what one reads.
type values struct {
	ctx        context.Context
	key, value int
	judges     []*judge
	batch      *store.Batch
	places     []sqlitepages.Place
	work       chan piled
	workers    sync.WaitGroup
}

// piled are rows on their way to a worker, and where they lie.
type piled struct {
	batch  *store.Batch
	places []sqlitepages.Place
}

func (x *examination) values(b *base, t *sqlitefile.PlanTable, held *withheld) *values {
	jobs := formats.Workers(x.view.Jobs)
	q := *x.q
	q.Report = held.add
	b.keyAt, b.valueAt = t.Column("key"), t.Column("value")
	v := &values{ctx: x.ctx, key: b.keyAt, value: b.valueAt, work: make(chan piled, jobs)}
	for range jobs {
		j := newJudge(&q, b)
		v.judges = append(v.judges, j)
		v.workers.Go(func() {
			for p := range v.work {
				j.batch(p)
				p.batch.Release()
			}
		})
	}
	return v
}

// row takes one row. What its family does not ask for is left where it lies.
func (v *values) row(r *sqlitepages.Row) error {
	key := r.Cell(v.key)
	if key.Class == store.Text && judged(key.Bytes()).Prefix == "" && utf8.Valid(key.Bytes()) {
		return nil
	}
	if v.batch == nil {
		if err := v.ctx.Err(); err != nil {
			return err
		}
		v.batch = store.NewBatch(0, 2)
	}
	v.batch.Row(r.RowID)
	v.batch.Add(key)
	if r.Long {
		v.judges[0].long(r, v.value, key)
		v.batch.Add(store.IntCell(0)) // what is never asked
	} else {
		v.batch.Add(r.Cell(v.value))
	}
	if v.places = append(v.places, r.Place); v.batch.Full() {
		v.hand()
	}
	return nil
}

func (v *values) hand() {
	v.work <- piled{v.batch, v.places}
	v.batch, v.places = nil, nil
}

// end waits for what is on its way.
func (v *values) end() {
	if v.batch != nil {
		v.hand()
	}
	close(v.work)
	v.workers.Wait()
}

// withheld are findings of a file that may turn out to be damaged: then what
// its rows say is no news.
type withheld struct {
	mu   sync.Mutex
	list []rule.Finding
}

func (w *withheld) add(f rule.Finding) {
	f.At.Key = f.At.Key.Clone()
	w.mu.Lock()
	defer w.mu.Unlock()
	w.list = append(w.list, f)
}

func (w *withheld) tell(q *rule.Pass) {
	for _, f := range w.list {
		q.Report(f)
	}
	w.list = nil
}
