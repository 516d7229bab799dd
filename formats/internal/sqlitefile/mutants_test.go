package sqlitefile

import (
	"bytes"
	"context"
	"database/sql"
	"errors"
	"fmt"
	"hash/crc32"
	"hash/maphash"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"rehome/formats/internal/sqlitepages"
)

// mutantSeeds are small files of many kinds, and what is known of their schemas.
func mutantSeeds(t testing.TB) (seeds [][]byte, known *Known) {
	t.Helper()
	known = &Known{}
	for i, script := range []string{
		"PRAGMA page_size=512; CREATE TABLE t(a TEXT PRIMARY KEY, b); CREATE TABLE w(a PRIMARY KEY) WITHOUT ROWID; CREATE INDEX x ON t(b) WHERE b IS NOT NULL; " +
			"WITH RECURSIVE s(i) AS (SELECT 1 UNION ALL SELECT i+1 FROM s WHERE i<40) INSERT INTO t SELECT i, zeroblob(i*30) FROM s; INSERT INTO w VALUES (1), (2); DELETE FROM t WHERE b IS zeroblob(90)",
		"PRAGMA page_size=512; " + keyed + "; INSERT INTO meta VALUES('0','abc'),('1','" + strings.Repeat("y", 200) + "')",
		"PRAGMA encoding='UTF-16le'; PRAGMA page_size=1024; CREATE TABLE n(a INTEGER PRIMARY KEY, b REAL NOT NULL, c); CREATE INDEX n_b ON n(b, c DESC); " +
			"WITH RECURSIVE s(i) AS (SELECT 1 UNION ALL SELECT i+1 FROM s WHERE i<60) INSERT INTO n SELECT i*3, i*1.5, hex(i) FROM s; DELETE FROM n WHERE a%5=0",
	} {
		path := filepath.Join(t.TempDir(), fmt.Sprint(i, ".db"))
		db, err := sql.Open("sqlite", uri(path, "mode=rwc"))
		if err != nil {
			t.Fatal(err)
		}
		db.SetMaxOpenConns(1)
		for s := range strings.SplitSeq(script, "; ") {
			if _, err := db.Exec(s); err != nil {
				t.Fatal(err)
			}
		}
		db.Close()
		m, err := OpenImage(context.Background(), path, Options{Known: known})
		if err != nil {
			t.Fatal(err)
		}
		if _, err := m.Look(context.Background(), Look{Found: func(f sqlitepages.Flaw) { t.Error(f) }}); err != nil {
			t.Fatal(err)
		}
		m.Close()
		b, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		seeds = append(seeds, b)
	}
	return seeds, known
}

// errUnknown is of a schema whose plan only SQLite could tell.
var errUnknown = errors.New("a schema that is not known")

// walked looks at the bytes of a file without SQLite. It reports whether anything
// is wrong with them, or looks odd enough to ask SQLite.
func walked(b []byte, known *Known) (odd bool, err error) {
	m := &Image{source: &source{path: "x.db", seam: func() {}}, File: &sqlitepages.File{Whole: b}, o: Options{Known: known}}
	if d := judge("x.db", b[:min(len(b), 4096)], state{db: side{there: true, size: int64(len(b))}}); d != nil {
		return true, nil
	}
	if err := m.measure(b, int64(len(b))); err != nil {
		return true, nil
	}
	k := &lookout{image: m, Walk: sqlitepages.NewWalk(context.Background(), m.File, func(f sqlitepages.Flaw) { odd = true }), Look: Look{Whole: true}, seed: maphash.MakeSeed(), utf8: m.UTF8(), roots: map[string]uint32{}}
	list, err := m.schema(k.Walk)
	if err != nil {
		return true, nil
	}
	plan := known.plans.get(planKey(list))
	if plan == nil || k.Flaws > 0 {
		return odd, errUnknown
	}
	for _, o := range list {
		k.roots[o.Type+o.Name] = o.Root
	}
	var places []sqlitepages.Place
	k.Rows = func(*PlanTable) (func(*sqlitepages.Row) error, error) {
		return func(r *sqlitepages.Row) error {
			for i := range r.Len() {
				r.Cell(i)
			}
			places = append(places, r.Place)
			return nil
		}, nil
	}
	for i := range plan.Tables {
		if err := k.table(&plan.Tables[i]); err != nil {
			return odd, err
		}
	}
	if err := errors.Join(k.sideTrees(&Seen{Objects: list, Plan: plan}), k.unused(), k.lost()); err != nil {
		return odd, err
	}
	for _, p := range places {
		if r, err := m.Again(p); err == nil {
			r.Cell(0)
		}
	}
	if v, ok := m.glimpse("meta", "0"); ok && len(v) > len(b) {
		return odd, fmt.Errorf("%d bytes come out of %d", len(v), len(b))
	}
	if k.Steps > int64(len(b)) {
		return odd, fmt.Errorf("%d steps for %d bytes", k.Steps, len(b))
	}
	return odd || len(k.doubt) > 0 || m.Head[52]|m.Head[53]|m.Head[54]|m.Head[55] != 0, nil
}

// look walks over bytes, and holds one in a hundred against SQLite's verdict:
// what that finds wrong we do, too.
func look(t *testing.T, b []byte, known *Known, judged bool) {
	odd, err := walked(b, known)
	if err != nil && !errors.Is(err, errUnknown) {
		t.Error(err)
	}
	if odd || err != nil || !judged {
		return
	}
	path := filepath.Join(t.TempDir(), "x.db")
	if err := os.WriteFile(path, b, 0o600); err != nil {
		t.Fatal(err)
	}
	db, err := sql.Open("sqlite", uri(path, "mode=ro&immutable=1"))
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	var said string
	if err := db.QueryRow("PRAGMA integrity_check").Scan(&said); err != nil || said != "ok" {
		t.Errorf("SQLite says %q, %v", said, err)
	}
}

// mutated changes a few bytes, where pages say most of themselves or anywhere.
func mutated(rng *rand.Rand, seed []byte) []byte {
	b := bytes.Clone(seed)
	for range 1 + rng.IntN(3) {
		at := rng.IntN(len(b))
		if rng.IntN(2) == 0 {
			at = at/512*512 + rng.IntN(16)
		}
		switch rng.IntN(4) {
		case 0:
			b[at] ^= 1 << rng.IntN(8)
		case 1:
			b[at] = byte(rng.IntN(4))*85 + byte(rng.IntN(3))
		case 2:
			b[at] = byte(rng.Uint32())
		default:
			from := rng.IntN(len(b))
			copy(b[at:], b[from:min(from+1+rng.IntN(8), len(b))])
		}
	}
	if rng.IntN(50) == 0 {
		b = b[:rng.IntN(len(b)+1)]
	}
	return b
}

// TestMutants: whatever becomes of a file's bytes, looking at it ends and does not
// panic, and one in ten mutants is held against SQLite.
func TestMutants(t *testing.T) {
	seeds, known := mutantSeeds(t)
	for _, seed := range seeds {
		if odd, err := walked(seed, known); odd || err != nil {
			t.Fatalf("a seed is not sound: %v, %v", odd, err)
		}
	}
	rng := rand.New(rand.NewPCG(7, 7))
	for i := range 6000 {
		look(t, mutated(rng, seeds[i%len(seeds)]), known, i%10 == 0)
	}
}

// FuzzPages is TestMutants by the fuzzer's choice.
func FuzzPages(f *testing.F) {
	seeds, known := mutantSeeds(f)
	for _, seed := range seeds {
		f.Add(seed)
		f.Add(seed[:len(seed)/2])
	}
	f.Add([]byte(magic))
	f.Fuzz(func(t *testing.T, b []byte) {
		look(t, b, known, crc32.ChecksumIEEE(b)%100 == 0)
	})
}
