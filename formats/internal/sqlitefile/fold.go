package sqlitefile

import (
	"context"
	"errors"
	"math"
	"path/filepath"

	"modernc.org/sqlite"
)

// fold makes of a database in use a private one at rest, and goes on with that.
func (m *Image) fold(ctx context.Context) (head []byte, err error) {
	db := &DB{source: m.source}
	o := m.o
	if o.OnNotice == nil {
		o.OnNotice = func(string) {}
	}
	take := db.snapshot
	if o.Live {
		o.MaxCopy = math.MaxInt64 // who asks for it knows that it is large
		if m.was.inPlace() {
			take = db.backup
		}
	}
	to, err := db.copied(ctx, m.was, o, take)
	if err == nil {
		err = db.checkpoint(ctx, to)
	}
	m.copy, db.copy = db.copy, nil
	if err != nil {
		err = db.blame(ctx, "", err)
		if damaged(err) {
			err = &Damage{BadSchema, err}
		}
		return nil, errors.Join(err, db.Close())
	}
	m.source = &source{path: m.path, real: to, seam: func() {}}
	if m.was, err = m.look(); err != nil {
		return nil, err
	}
	if head, err = m.head(""); err != nil {
		return nil, m.unreadable(ctx, err)
	}
	if d := judge(m.path, head, m.was); d != nil {
		return nil, d
	}
	return head, nil
}

// checkpoint has SQLite bring a copy to rest: it undoes what was not committed
// and writes the log back. Closing the last connection removes the log.
func (db *DB) checkpoint(ctx context.Context, file string) error {
	if err := db.connect(ctx, file, "mode=rw"); err != nil {
		return err
	}
	if err := run(ctx, db.conn, aRead, "COMMIT", "PRAGMA wal_checkpoint(TRUNCATE)"); err != nil {
		return err
	}
	return db.disconnect()
}

// aRead begins what BEGIN only announces.
const aRead = "SELECT count(*) FROM sqlite_schema"

// backup is snapshot for a database that SQLite reads in place: however much is
// written to it meanwhile, the copy is of one moment.
func (db *DB) backup(ctx context.Context, dir string, _ state) (string, error) {
	to := filepath.Join(dir, "copy.db")
	if err := db.connect(ctx, db.real, "mode=ro"); err != nil {
		return "", err
	}
	if err := run(ctx, db.conn, aRead); err != nil {
		return "", err
	}
	err := db.conn.Raw(func(c any) error {
		b, err := c.(interface {
			NewBackup(string) (*sqlite.Backup, error)
		}).NewBackup(uri(to, "mode=rwc&_pragma=synchronous(off)&_pragma=journal_mode(off)"))
		if err != nil {
			return err
		}
		for more := true; more && err == nil; {
			if err = ctx.Err(); err == nil {
				more, err = b.Step(1024)
			}
		}
		return errors.Join(err, b.Finish())
	})
	return to, errors.Join(err, db.disconnect())
}
