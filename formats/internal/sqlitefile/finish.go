package sqlitefile

import (
	"context"
	"errors"
	"fmt"
	"os"

	"rehome/formats"
	"rehome/formats/rule"
	"rehome/formats/store"
)

// Finish completes the file: SQLite's own books, a look at the schema as it
// now stands, and the journal mode. Nothing may be put afterwards.
func (w *Writer) Finish(ctx context.Context) error {
	if w.conn == nil || w.done {
		return &formats.Error{At: w.path, Err: errors.New("the database is already finished")}
	}
	w.done = true
	err := w.settleSequence(ctx)
	if err == nil {
		err = w.allow(w.longestSQL())
	}
	if err == nil {
		err = w.insert.shut(w)
	}
	if err == nil {
		err = run(ctx, w.conn, "PRAGMA writable_schema=RESET", "COMMIT")
	}
	if err == nil {
		err = w.compare(ctx)
	}
	if cerr := w.disconnect(); err == nil {
		err = cerr
	}
	if err == nil && w.schema.Pragmas.JournalMode == "wal" {
		err = w.markWAL(ctx)
	}
	if err == nil {
		err = w.leftovers()
	}
	if err != nil {
		w.done = false // Close throws it away
		return explain(ctx, w.path, "", err)
	}
	return nil
}

func (in *inserter) shut(w *Writer) (err error) {
	raw := w.conn.Raw(func(any) error {
		err = in.close()
		return nil
	})
	return errors.Join(raw, err)
}

// settleSequence makes sqlite_sequence what it was, row ids and all.
func (w *Writer) settleSequence(ctx context.Context) error {
	var there int
	err := w.conn.QueryRowContext(ctx, "SELECT count(*) FROM sqlite_schema WHERE name='sqlite_sequence'").Scan(&there)
	if err != nil || there == 0 {
		return err
	}
	if err := run(ctx, w.conn, "DELETE FROM sqlite_sequence"); err != nil {
		return err
	}
	for len(w.held) > 0 {
		b := w.held[0]
		w.held = w.held[1:]
		err := w.fill(ctx, w.tables[b.Set], b)
		b.Release()
		if err != nil {
			return err
		}
	}
	return nil
}

// compare holds the schema SQLite has now against the one asked for.
func (w *Writer) compare(ctx context.Context) error {
	is := &DB{source: &source{path: w.path}, connection: w.connection, pragmas: w.schema.Pragmas}
	if _, err := is.loadObjects(ctx); err != nil {
		return err
	}
	want := w.schema.Objects
	for i := range max(len(want), len(is.objects)) {
		var a, b store.Object
		if i < len(want) {
			a = want[i]
		}
		if i < len(is.objects) {
			b = is.objects[i]
		}
		if a != b {
			return &formats.Error{Pointer: fmt.Sprintf("schema: entry %d", i+1),
				Err: fmt.Errorf("asked for %s %q as %q, got %s %q as %q", a.Type, a.Name, rule.Clip(a.SQL), b.Type, b.Name, rule.Clip(b.SQL))}
		}
	}
	return nil
}

// markWAL sets the journal mode last: a bulk load through a WAL would write
// every page twice.
func (w *Writer) markWAL(ctx context.Context) error {
	if err := w.connect(ctx); err != nil {
		return err
	}
	if err := run(ctx, w.conn, "PRAGMA synchronous=OFF"); err != nil {
		return err
	}
	var mode string
	if err := w.conn.QueryRowContext(ctx, "PRAGMA journal_mode=WAL").Scan(&mode); err != nil {
		return err
	}
	if mode != "wal" {
		return fmt.Errorf("the file system does not allow journal_mode wal (it stays %q)", mode)
	}
	return w.disconnect()
}

// leftovers makes sure that the one file is all there is.
func (w *Writer) leftovers() error {
	for _, suffix := range SideFiles() {
		if _, err := os.Lstat(w.path + suffix); !errors.Is(err, os.ErrNotExist) {
			return fmt.Errorf("a %s file was left next to it", suffix)
		}
	}
	return nil
}

// SideFiles returns the endings of the files that SQLite keeps next to a database.
func SideFiles() []string { return []string{"-wal", "-shm", "-journal"} }

func (w *Writer) disconnect() error {
	var err error
	if w.conn != nil {
		err = w.insert.shut(w)
	}
	return errors.Join(err, w.connection.disconnect())
}

// Close lets go of everything. An unfinished file is removed. It is safe to
// call twice.
func (w *Writer) Close() error {
	for _, b := range w.held {
		b.Release()
	}
	w.held = nil
	err := w.disconnect()
	if w.done {
		return err
	}
	w.done = true
	errs := []error{err}
	for _, suffix := range append([]string{""}, SideFiles()...) {
		if err := os.Remove(w.path + suffix); err != nil && !errors.Is(err, os.ErrNotExist) {
			errs = append(errs, err)
		}
	}
	return errors.Join(errs...)
}
