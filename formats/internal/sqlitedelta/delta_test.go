package sqlitedelta

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"rehome/formats"
	"rehome/formats/internal/sqlitefile"
	"rehome/formats/internal/sqlitepages"
)

// copied copies a database in use with its log.
func (c *client) copied() string {
	c.t.Helper()
	to := filepath.Join(c.t.TempDir(), "copy.db")
	for _, suffix := range []string{"", "-wal"} {
		b, err := os.ReadFile(c.path + suffix)
		if errors.Is(err, os.ErrNotExist) {
			continue
		}
		if err == nil {
			err = os.WriteFile(to+suffix, b, 0o600)
		}
		if err != nil {
			c.t.Fatal(err)
		}
	}
	return to
}

// TestLostLog: what was only in a log that somebody deleted is gone.
func TestLostLog(t *testing.T) {
	c := newClient(t, 1)
	c.run("PRAGMA wal_checkpoint(TRUNCATE)")
	before := c.full()
	c.insert("ItemTable", 3)
	c.run("UPDATE cursorDiskKV SET value=randomblob(length(value))")
	have := c.full()
	lost := &client{t: t, path: c.copied()}
	lost.age()
	m := lost.take(t.Context())
	if err := os.Remove(lost.path + "-wal"); err != nil {
		t.Fatal(err)
	}
	s := lost.snapshot(t.Context(), m)
	d, err := m.Since(t.Context(), s, groupOf)
	if err != nil {
		t.Fatal(err)
	}
	lost.apply(t.Context(), have, d)
	for _, table := range tracked {
		if diff := differs(have[table], before[table]); diff != "" {
			t.Error(table, diff)
		}
	}
	if d.Scanned {
		t.Error("all pages were read, though the database file is as it was")
	}
	if err := s.Close(); err != nil {
		t.Error(err)
	}
}

// TestYoung: a file that just changed can change again without another time, size or
// header, so that these prove nothing.
func TestYoung(t *testing.T) {
	c := newClient(t, 1)
	c.insert("cursorDiskKV", 3)
	c.run("PRAGMA wal_checkpoint(TRUNCATE)")
	now := time.Now()
	if err := os.Chtimes(c.path, now, now); err != nil {
		t.Fatal(err)
	}
	m, have := c.take(t.Context()), c.full()
	c.run("UPDATE cursorDiskKV SET value=randomblob(length(value))", "PRAGMA wal_checkpoint(TRUNCATE)")
	if err := os.Chtimes(c.path, now, now); err != nil {
		t.Fatal(err)
	}
	s := c.snapshot(t.Context(), m)
	d, err := m.Since(t.Context(), s, groupOf)
	if err != nil {
		t.Fatal(err)
	}
	c.apply(t.Context(), have, d)
	want := c.full()
	for _, table := range tracked {
		if diff := differs(have[table], want[table]); diff != "" {
			t.Error(table, diff)
		}
	}
	if err := s.Close(); err != nil {
		t.Error(err)
	}
}

// TestBusy: nothing counts if the client wrote pages back meanwhile.
func TestBusy(t *testing.T) {
	for name, write := range map[string][]string{
		"checkpoint": {"PRAGMA wal_checkpoint(PASSIVE)"},
		"restart":    {"PRAGMA wal_checkpoint(RESTART)", "DELETE FROM cursorDiskKV"},
		"truncate":   {"PRAGMA wal_checkpoint(TRUNCATE)"},
	} {
		t.Run(name, func(t *testing.T) {
			c := newClient(t, 1)
			c.run("PRAGMA wal_checkpoint(TRUNCATE)")
			m := c.take(t.Context())
			c.insert("cursorDiskKV", 3)
			s := c.snapshot(t.Context(), m)
			if _, err := m.Since(t.Context(), s, groupOf); err != nil {
				t.Fatal(err)
			}
			c.run(write...)
			if err := s.Close(); !errors.Is(err, formats.ErrBusy) {
				t.Error(err)
			}
		})
	}
	c := newClient(t, 1)
	c.run("PRAGMA wal_checkpoint(TRUNCATE)")
	s := c.snapshot(t.Context(), &Mark{})
	c.insert("cursorDiskKV", 1)
	if err := s.Close(); err != nil {
		t.Error("a commit that followed:", err)
	}
}

// TestCost: what a change costs hardly grows with the database.
func TestCost(t *testing.T) {
	read := map[int]int64{}
	for _, rows := range []int{500, 8000} {
		c := newClient(t, 2)
		c.run(fmt.Sprintf("INSERT INTO cursorDiskKV WITH RECURSIVE s(i) AS (SELECT 1 UNION ALL SELECT i+1 FROM s WHERE i<%d) SELECT 'n'||i, randomblob(3000) FROM s", rows),
			"PRAGMA wal_checkpoint(TRUNCATE)")
		c.age()
		m := c.take(t.Context())
		c.run("INSERT INTO cursorDiskKV VALUES ('one', randomblob(3000))")
		s := c.snapshot(t.Context(), m)
		d, err := m.Since(t.Context(), s, groupOf)
		if err != nil || d.Scanned || len(d.Tables) != 1 {
			t.Fatal(err, d.Scanned, d.Tables)
		}
		read[rows] = s.Read
		if err := s.Close(); err != nil {
			t.Fatal(err)
		}
	}
	if read[8000] > read[500]+200_000 {
		t.Errorf("bytes read of a database, and of one 16 times as large: %v", read)
	}
}

// TestFlippedBytes: a damaged database is an error or read as it is, and ends.
func TestFlippedBytes(t *testing.T) {
	c := newClient(t, 5)
	c.run("PRAGMA wal_checkpoint(TRUNCATE)")
	c.step()
	path := c.copied()
	whole, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	hostile := &client{t: t, path: path}
	m := hostile.take(t.Context())
	refused := 0
	for range 120 {
		b := append([]byte{}, whole...)
		page := c.rng.IntN(len(b)/m.page) * m.page
		for range 1 + c.rng.IntN(3) {
			b[page+c.rng.IntN(16)] ^= byte(1 + c.rng.IntN(255))
		}
		if err := os.WriteFile(path, b, 0o600); err != nil {
			t.Fatal(err)
		}
		s, err := sqlitefile.OpenSnapshot(t.Context(), path, m.Log())
		if err != nil {
			refused++
			continue
		}
		for _, from := range []*Mark{m, {}} {
			d, err := from.Since(t.Context(), s, func(table string, r *sqlitepages.Row) (string, error) { return "", nil })
			if err != nil {
				refused++
				continue
			}
			for _, x := range d.Tables {
				if err := d.Rows(t.Context(), x.Name, x.Groups, func(*sqlitepages.Row) error { return nil }); err != nil {
					t.Error(err)
				}
			}
		}
		if err := s.Close(); err != nil {
			t.Fatal(err)
		}
	}
	if refused < 20 {
		t.Errorf("only %d times a damaged database was refused", refused)
	}
}

// TestMarkBytes: a mark that is not as it was written is refused.
func TestMarkBytes(t *testing.T) {
	c := newClient(t, 4)
	b, err := c.take(t.Context()).AppendBinary(nil)
	if err != nil {
		t.Fatal(err)
	}
	for i := 0; i < len(b); i += 1 + len(b)/3000 {
		bad := append([]byte{}, b...)
		bad[i] ^= 0x10
		if err := new(Mark).UnmarshalBinary(bad); err == nil {
			t.Fatalf("byte %d is another, and the mark is accepted", i)
		}
		if err := new(Mark).UnmarshalBinary(b[:i]); err == nil {
			t.Fatalf("a mark of %d of %d bytes is accepted", i, len(b))
		}
	}
}

// TestSignedMark: numbers in a mark that are of nothing are refused, though its digest
// is right.
func TestSignedMark(t *testing.T) {
	for name, change := range map[string]func(m *Mark){
		"a page of no table":     func(m *Mark) { m.use[3] = tree | 99 },
		"a leaf beyond the end":  func(m *Mark) { m.use[3] = maxPages },
		"a leaf that is none":    func(m *Mark) { m.use[3], m.use[4] = 5, 0 },
		"rows without a leaf":    func(m *Mark) { m.tables[0].leaves = nil },
		"a row without a group":  func(m *Mark) { m.groups = nil },
		"a leaf with other rows": func(m *Mark) { m.tables[0].leaves[0].rows++ },
	} {
		m := newClient(t, 4).take(t.Context())
		change(m)
		b, err := m.AppendBinary(nil)
		if err != nil {
			t.Fatal(err)
		}
		if err := new(Mark).UnmarshalBinary(b); err == nil {
			t.Errorf("%s: accepted", name)
		}
	}
}

// TestLogWithoutEnd: what follows the last commit is not part of the database.
func TestLogWithoutEnd(t *testing.T) {
	c := newClient(t, 1)
	c.run("PRAGMA wal_checkpoint(TRUNCATE)")
	c.insert("ItemTable", 5)
	c.run("UPDATE cursorDiskKV SET value=randomblob(length(value))")
	f, err := os.Open(c.path + "-wal")
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	whole, err := io.ReadAll(f)
	if err != nil {
		t.Fatal(err)
	}
	all, err := sqlitepages.ReadLog(f, int64(len(whole)), nil)
	if err != nil || len(all.Frames) == 0 {
		t.Fatal(err, len(all.Frames))
	}
	for _, cut := range []int{0, 20, 31, 32, 100, len(whole) / 2} {
		part, err := sqlitepages.ReadLog(strings.NewReader(string(whole[:cut])), int64(cut), nil)
		if err != nil || len(part.Frames) >= len(all.Frames) || part.Continues(all) {
			t.Errorf("%d bytes: %v, %d of %d frames", cut, err, len(part.Frames), len(all.Frames))
		}
		more, err := sqlitepages.ReadLog(f, int64(len(whole)), part)
		if err != nil || len(more.Frames) != len(all.Frames) || more.Sum != all.Sum || more.Known != len(part.Frames) {
			t.Errorf("continued after %d bytes: %v, %d frames, %d known", cut, err, len(more.Frames), more.Known)
		}
	}
}
