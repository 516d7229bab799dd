package tables

import (
	"errors"
	"fmt"
	"hash/maphash"
	"io"
	"os"
	"runtime/debug"

	"github.com/parquet-go/parquet-go"
	"github.com/parquet-go/parquet-go/compress"
	"github.com/parquet-go/parquet-go/compress/zstd"
)

// The limits of what a table keeps in memory. Sizes are those before compression.
const (
	maxRowGroup   = 64 << 20
	maxBatch      = 1 << 20
	maxBatchRows  = 256
	maxDictionary = 1 << 20
)

// Suffix is the extension of a table's file.
const Suffix = ".parquet"

// table is the file of one table while it is written.
type table[R any] struct {
	name    string
	path    string
	columns *columns
	noText  bool
	file    *os.File
	out     *parquet.GenericWriter[R]

	batch      []R
	batchBytes int
	groupBytes int
	giant      bool // there was a giant row
	rows       int64
	digest     digest // of all rows
}

// newCodec returns the compression of all tables, which share its buffers.
func newCodec() compress.Codec { return &zstd.Codec{Level: zstd.DefaultLevel, Concurrency: 1} }

// create creates the file of a table in dir.
func create[R any](dir, name string, codec compress.Codec, noText bool) (*table[R], error) {
	t := &table[R]{name: name, path: dir + string(os.PathSeparator) + name + Suffix, columns: columnsOf[R](), noText: noText, digest: newDigest(maphash.MakeSeed())}
	f, err := os.OpenFile(t.path, os.O_RDWR|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return nil, err
	}
	t.file = f
	options := []parquet.WriterOption{
		parquet.Compression(codec),
		parquet.CreatedBy("rehome-fleet", "1", "parquet"),
		parquet.KeyValueMetadata("rehome.schema", SchemaName(name)),
		parquet.DataPageStatistics(false),
		parquet.DataPageVersion(1), // which all readers know, as the encoding
		parquet.DefaultEncodingFor(parquet.ByteArray, &parquet.Plain),
		parquet.DictionaryMaxBytes(maxDictionary),
	}
	for _, path := range t.columns.boundless() {
		options = append(options, parquet.SkipPageBounds(path...))
	}
	t.out = parquet.NewGenericWriter[R](f, options...)
	return t, nil
}

// put adds a row, which it completes. It returns the number of texts that it repaired.
func (t *table[R]) put(row *R) (repaired int64, err error) {
	size, repaired := t.columns.clean(row, t.noText)
	t.digest.add(t.columns, row)
	t.batch = append(t.batch, *row)
	t.batchBytes += size
	t.rows++
	if t.batchBytes >= maxBatch || len(t.batch) >= maxBatchRows {
		err = t.flush()
	}
	return repaired, err
}

// flush writes the batch, and ends the row group if it is large enough.
func (t *table[R]) flush() error {
	if _, err := t.out.Write(t.batch); err != nil {
		return err
	}
	clear(t.batch)
	giant := t.batchBytes >= maxRowGroup/2
	t.giant = t.giant || giant
	t.batch, t.groupBytes, t.batchBytes = t.batch[:0], t.groupBytes+t.batchBytes, 0
	if giant { // there are several copies of it by now
		defer debug.FreeOSMemory()
	}
	if t.groupBytes < maxRowGroup {
		return nil
	}
	t.groupBytes = 0
	return t.out.Flush()
}

// finish completes the file, and reads it again.
func (t *table[R]) finish() (TableReport, error) {
	r := TableReport{Table: t.name, Rows: t.rows}
	err := t.flush()
	if err == nil {
		err = t.out.Close()
	}
	if t.out = nil; t.giant { // its buffers are as large as the largest row
		debug.FreeOSMemory()
	}
	if err == nil {
		err = dropPageIndex(t.file)
	}
	if err == nil {
		err = t.verify()
	}
	if err == nil {
		err = t.file.Sync()
	}
	if info, statErr := t.file.Stat(); statErr == nil {
		r.Bytes = info.Size()
	}
	return r, err
}

// verify reads the file again and compares its rows with those that were written.
func (t *table[R]) verify() error {
	info, err := t.file.Stat()
	if err != nil {
		return err
	}
	f, err := parquet.OpenFile(t.file, info.Size())
	if err != nil {
		return err
	}
	in := parquet.NewGenericReader[R](f)
	defer in.Close()
	read, rows := newDigest(t.digest.hash.Seed()), int64(0)
	for batch := make([]R, 16); ; {
		n, err := in.Read(batch)
		for i := range batch[:n] {
			read.add(t.columns, &batch[i])
		}
		clear(batch)
		if rows += int64(n); errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return err
		}
	}
	if rows != t.rows || !read.equal(t.digest) {
		return fmt.Errorf("the file does not hold the rows that were written: %d of %d", rows, t.rows)
	}
	return nil
}

// abandon closes the file.
func (t *table[R]) abandon() {
	if t != nil {
		t.file.Close()
	}
}
