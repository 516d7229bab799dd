package cursorchat

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"sync"

	"rehome/formats"
	"rehome/formats/internal/blobs"
	"rehome/formats/internal/sqlitefile"
	"rehome/formats/internal/storecheck"
	"rehome/formats/internal/storedb"
	"rehome/formats/rule"
	"rehome/formats/store"
	"rehome/internal/rawjson"
)

// verify applies the rules of `rehome check` to a chat that a sink wrote, but for those
// about where it is. It reads the files again: the pages of the database, the hash of every
// blob, and the graph from its root.
func verify(ctx context.Context, dir string, bench *storecheck.Bench) (err error) {
	var mu sync.Mutex
	var first *rule.Finding
	q := &rule.Pass{Layers: rule.Container | rule.References | rule.Meaning, Report: func(f rule.Finding) {
		mu.Lock()
		defer mu.Unlock()
		if first == nil && rule.Lookup(f.Rule).Severity > rule.Note {
			f.Detach()
			first = &f
		}
	}}
	s, err := bench.Open(ctx, filepath.Join(dir, storeName), storeName, formats.View{}, q)
	if err != nil {
		return err
	}
	if s != nil {
		err = errors.Join((&checker{Store: s, q: q, file: storeName}).run(ctx), s.Close())
		if _, named := s.Meta.RootID(); err == nil && !named {
			err = errors.New("the meta row names no root")
		}
	}
	if err == nil && first != nil {
		err = fmt.Errorf("%s: %s", rule.Lookup(first.Rule).Title, first.Text())
		return &formats.Error{Format: name, At: first.At.String(), Err: err, Hint: bug}
	}
	if err != nil {
		return &formats.Error{Format: name, At: dir, Err: err, Hint: bug}
	}
	return nil
}

const bug = "the session was not written; this is a bug in rehome, please report it"

// unmodified reports whether a chat is still as a sink wrote it: the client adds blobs when
// it continues a chat, and another name when the user renames it. A chat that the client
// has open is busy.
func unmodified(ctx context.Context, dir string) (bool, error) {
	if path := filepath.Join(dir, storeName); sqlitefile.HasOpen(path) {
		return false, &formats.Error{At: path, Err: formats.ErrBusy, Hint: "quit the client, and try again"}
	}
	is, err := state(ctx, dir)
	return is != "", err
}

// state returns the signature of a chat, "" if it is not the one that a sink wrote.
func state(ctx context.Context, dir string) (string, error) {
	row, err := metaRow(ctx, dir)
	if row == nil || err != nil {
		return "", err
	}
	ids, err := blobIDs(ctx, filepath.Join(dir, storeName))
	if is := signature(ids, row.Text(storedb.MetaRoot), row.Text(storedb.MetaName)); err == nil && is == written(row) {
		return is, nil
	}
	return "", err
}

// metaRow returns the meta row of a chat, nil if there is none that a sink wrote.
func metaRow(ctx context.Context, dir string) (*storedb.Meta, error) {
	path := filepath.Join(dir, storeName)
	if _, err := os.Stat(path); err != nil {
		if errors.Is(err, os.ErrNotExist) {
			err = nil
		}
		return nil, err
	}
	value, err := sqlitefile.Value(ctx, path, storedb.MetaTable, storedb.MetaKey, sqlitefile.Options{})
	if err != nil {
		return nil, err
	}
	if row := storedb.ParseMeta(storedb.MetaText(value)); row != nil && written(row) != "" {
		return row, nil
	}
	return nil, nil
}

// written returns the signature that a sink wrote into a meta row.
func written(row *storedb.Meta) string {
	return rawjson.TextAt(row.Raw(storedb.MetaCopy), "sha256")
}

// blobIDs returns a digest of the ids of all blobs in the order of their rows.
func blobIDs(ctx context.Context, path string) (_ []byte, err error) {
	db, err := sqlitefile.Open(ctx, path, sqlitefile.Options{})
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, db.Close()) }()
	sum := sha256.New()
	for b, err := range db.Scan(ctx, 0, sqlitefile.Table{Name: storedb.BlobsTable, Columns: []string{"id"}, RowIDs: true}) {
		if err != nil {
			return nil, err
		}
		for i := range b.Rows() {
			id, exact, ok := blobs.ParseID(b.Cell(i, 0).Bytes())
			if !ok || !exact || b.Cell(i, 0).Class != store.Text {
				clear(id[:]) // no id: nothing that a sink writes
			}
			sum.Write(id[:])
		}
		b.Release()
	}
	return sum.Sum(nil), nil
}
