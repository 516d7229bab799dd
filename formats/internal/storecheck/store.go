package storecheck

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"sync"

	"rehome/formats"
	"rehome/formats/internal/agentstate"
	"rehome/formats/internal/blobs"
	"rehome/formats/internal/sqlitecheck"
	"rehome/formats/internal/sqlitefile"
	"rehome/formats/internal/sqlitepages"
	"rehome/formats/rule"
	"rehome/formats/store"
)

// Bench is what the stores of one format that are looked at in one process
// share. The zero Bench is ready.
type Bench struct {
	Known   sqlitefile.Known
	indexes sync.Pool
}

// index is an empty index, which another store may have used before.
func (b *Bench) index() *agentstate.Index {
	if x, ok := b.indexes.Get().(*agentstate.Index); ok {
		x.Reset()
		return x
	}
	return &agentstate.Index{}
}

// Store is one store.db that turned out to be sound.
type Store struct {
	*sqlitecheck.File
	Graph *Graph
	Meta  Meta

	bench *Bench
	q     *rule.Pass
	file  string
	data  int // the column of a blob's bytes
	key   int
	held  []rule.Finding
	text  [64]byte
}

// known is what every version makes.
var known = []sqlitecheck.Table{
	{Name: "blobs", Columns: sqlitecheck.Columns("id", "data"), Needed: true},
	{Name: "meta", Columns: sqlitecheck.Columns("key", "value"), Needed: true},
}

// How the Cursor CLI and the SDK declare the tables of a store.db.
const (
	BlobsSQL = "CREATE TABLE blobs (id TEXT PRIMARY KEY, data BLOB)"
	MetaSQL  = "CREATE TABLE meta (key TEXT PRIMARY KEY, value TEXT)"
	declared = "PRAGMA user_version = 1;\n" + BlobsSQL + ";\n" + MetaSQL + ";\n"
)

// Open examines a store.db; file is its path inside the store. It is nil where
// nothing more can be asked, which is reported.
func (b *Bench) Open(ctx context.Context, path, file string, v formats.View, q *rule.Pass) (*Store, error) {
	s := &Store{bench: b, q: q, file: file, key: -1, data: -1, Meta: Meta{q: q, file: file}}
	index := b.index()
	s.Graph = newGraph(s, index)
	k := sqlitecheck.Known{Declared: declared, Tables: known, Shared: &b.Known}
	var err error
	s.File, err = sqlitecheck.Examine(ctx, path, file, v, q, k, s.rows)
	if s.File == nil || err != nil {
		b.indexes.Put(index)
		return nil, err
	}
	for _, f := range s.held {
		q.Report(f)
	}
	s.held = nil
	return s, nil
}

// Close lets go of the file.
func (s *Store) Close() error {
	s.bench.indexes.Put(s.Graph.walk.Index)
	return s.File.Close()
}

// rows is what is wanted of the tables.
func (s *Store) rows(t *sqlitefile.PlanTable) func(*sqlitepages.Row) error {
	switch t.Name {
	case "blobs":
		s.key, s.data = t.Column("id"), t.Column("data")
		if s.key < 0 || s.data < 0 || !s.q.Enabled(rule.Schema|rule.References|rule.Meaning) {
			return nil
		}
		return s.blob
	case "meta":
		key, value := t.Column("key"), t.Column("value")
		if key < 0 || value < 0 {
			return nil
		}
		return func(r *sqlitepages.Row) error {
			s.Meta.row(r, r.Cell(key), r.Cell(value))
			return nil
		}
	}
	return nil
}

// hold keeps a finding until the file has turned out to be sound.
func (s *Store) hold(id string, r *sqlitepages.Row, says string, args ...any) {
	s.held = append(s.held, rule.Finding{Rule: id, At: s.row(r), Message: says, Args: args})
}

func (s *Store) row(r *sqlitepages.Row) store.Addr {
	return store.Addr{File: s.file, Set: "blobs", RowID: r.RowID, HasID: true}
}

// blob takes one blob. As a rule its key is the sum of its bytes, so that it
// need not be read.
func (s *Store) blob(r *sqlitepages.Row) error {
	key := r.Cell(s.key)
	data, class := r.Cell(s.data).Bytes(), r.Class(s.data)
	var sum agentstate.ID
	asked := class == store.Blob && s.q.Enabled(rule.References)
	if asked {
		var err error
		if sum, err = sumOf(r, s.data, data); err != nil {
			return err
		}
		hex.Encode(s.text[:], sum[:])
		if key.Class == store.Text && string(key.Bytes()) == string(s.text[:]) {
			s.Graph.walk.Index.Add(sum, uint64(r.Place), data)
			return nil
		}
	}
	id, ok := blobName(key)
	switch {
	case !ok:
		s.hold("RH302", r, "key is %s of %d bytes", key.Class, len(key.Bytes()))
		return nil
	case class != store.Blob:
		s.hold("RH302", r, "data is %s", class)
	case asked:
		s.hold("RH301", r, "bytes hash to %s", sum.String()[:12])
		s.Graph.walk.Index.AddFalse(id, uint64(r.Place), data)
		return nil
	}
	s.Graph.walk.Index.Add(id, uint64(r.Place), data)
	return nil
}

func sumOf(r *sqlitepages.Row, col int, data []byte) (agentstate.ID, error) {
	if !r.Long {
		return sha256.Sum256(data), nil
	}
	h := sha256.New()
	if err := r.Pour(col, h); err != nil {
		return agentstate.ID{}, err
	}
	return agentstate.ID(h.Sum(nil)), nil
}

// blobName reads a blob's key as clients write it, and look it up.
func blobName(c store.Cell) (agentstate.ID, bool) {
	id, exact, _ := blobs.ParseID(c.Bytes())
	return id, exact && c.Class == store.Text
}

// read gives a blob's bytes again.
func (s *Store) read(_ context.Context, at uint64) ([]byte, error) {
	r, err := s.Again(sqlitepages.Place(at))
	if err != nil {
		return nil, err
	}
	return r.Cell(s.data).Bytes(), nil
}

// at is where a blob stands.
func (s *Store) at(place uint64) store.Addr {
	r, err := s.Again(sqlitepages.Place(place))
	if err != nil {
		return store.Addr{File: s.file, Set: "blobs"}
	}
	return s.row(r)
}
