package audit

import (
	"context"
	"crypto/sha256"
	"strings"
	"sync"
	"unicode/utf8"

	"rehome/formats"
	"rehome/formats/cursoride/internal/lists"
	"rehome/formats/internal/sqlitefile"
	"rehome/formats/internal/sqlitepages"
	"rehome/formats/rule"
	"rehome/formats/store"
)

// pending holds references to other rows, which are looked up after the scan.
type pending struct {
	mu          sync.Mutex
	contents    map[[sha256.Size]byte]named
	checkpoints []named
	calls       map[string][]named // tools that have not ended, by session
	changed     map[int64]bool     // blobs that do not match their ids: findings in them are consequences
	misplaced   map[string]bool    // bubbles under another key, as session:bubble
}

// named is a reference and its place.
type named struct {
	at      store.Addr
	pointer string
	id      string
}

// values checks every value of cursorDiskKV in the order of the rows, during the walk
// over the container: looking each up would take ten times as long. One goroutine reads
// and workers check.
type values struct {
	ctx        context.Context
	key, value int
	judges     []*judge
	batch      *store.Batch
	places     []sqlitepages.Place
	work       chan piled
	workers    sync.WaitGroup
	unknown    map[string]int64 // rows of no known kind, by the start of their keys
}

// piled is a batch of rows for a worker, and their places.
type piled struct {
	batch  *store.Batch
	places []sqlitepages.Place
}

func (x *examination) values(b *base, t *sqlitefile.PlanTable, held *withheld) *values {
	jobs := formats.Workers(x.view.Jobs)
	q := *x.q
	q.Report = held.add
	b.keyAt, b.valueAt = t.Column("key"), t.Column("value")
	v := &values{ctx: x.ctx, key: b.keyAt, value: b.valueAt, work: make(chan piled, jobs), unknown: map[string]int64{}}
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

// row takes one row. Values that no check of its family needs are not read.
func (v *values) row(r *sqlitepages.Row) error {
	key := r.Cell(v.key)
	if key.Class == store.Text && judged(key.Bytes()).Prefix == "" && utf8.Valid(key.Bytes()) {
		v.count(key.Bytes())
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
		v.batch.Add(store.IntCell(0)) // never checked
	} else {
		v.batch.Add(r.Cell(v.value))
	}
	if v.places = append(v.places, r.Place); v.batch.Full() {
		v.hand()
	}
	return nil
}

// count counts a row if its key is of no known kind.
func (v *values) count(key []byte) {
	if lists.FamilyOf(key).Prefix != "" {
		return
	}
	if kind := kindOf(key); !strings.Contains(otherRows, " "+kind+" ") && (len(v.unknown) < maxUnknown || v.unknown[kind] > 0) {
		v.unknown[kind]++
	}
}

// otherRows are the kinds of rows that are in no session.
const otherRows = " agentKv:artifact: cloudAgent: ai_hashes. composer.autoAccept. inlineDiff: inlineDiffs- inlineDiffsData inlineDiffUndoRedo- "

// maxUnknown is how many unknown kinds of rows are reported.
const maxUnknown = 100

// kindOf returns the start of a key, without what identifies the row.
func kindOf(key []byte) string {
	n := wordEnd(key, 0)
	if lead := string(key[:n]); lead == "agentKv:" || lead == "composer." {
		n = wordEnd(key, n)
	}
	return string(key[:n])
}

// wordEnd returns where a word ends, with what separates it from the rest.
func wordEnd(key []byte, n int) int {
	const longest = 64
	for end := min(len(key), n+longest); n < end && (key[n]|0x20 >= 'a' && key[n]|0x20 <= 'z' || key[n] == '_'); {
		n++
	}
	return min(n+1, len(key))
}

// tell reports the unknown kinds of rows.
func (v *values) tell(q *rule.Pass, file string) {
	for kind, n := range v.unknown {
		q.Add("RH204", store.Addr{File: file, Set: lists.DiskTable, Key: store.TextCell([]byte(kind))}, "", "%s", rule.Count(n, "row"))
	}
}

func (v *values) hand() {
	v.work <- piled{v.batch, v.places}
	v.batch, v.places = nil, nil
}

// end waits for the workers.
func (v *values) end() {
	if v.batch != nil {
		v.hand()
	}
	close(v.work)
	v.workers.Wait()
}

// withheld holds the findings of a file until it is known whether the file is damaged:
// then findings in its rows are consequences.
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
