// Package sqlitefile is the only door to the SQLite library. It opens other
// people's database files without leaving a trace, scans their tables into
// batches, and builds fresh files from a schema and batches.
//
// Opening. A file nobody is writing to (no content in -wal or -journal) is read
// in place with immutable=1, the only mode that creates no file beside it, and
// looked at again on Close. Everything else is read from a private copy of the
// database and its log, taken so that a live writer cannot tear it; the log's
// index (-shm) is never copied, SQLite builds its own. Options.Live reads in
// place instead, where the owner's lock files already exist.
//
// Scanning. database/sql copies each value several times, so Scan does without
// it: one aggregate statement calls a registered function for each row, whose
// arguments are views of SQLite's own buffers. ScanPlain is the ordinary way,
// for what the fast way cannot do, and the yardstick it is tested against.
//
// Creating. Schemas come from archives that strangers can write to. Nothing
// but single CREATE statements is ever run, views, triggers and virtual tables
// are placed without running at all, and what stands in the file at the end
// must equal what was asked for. What indexes and generated columns compute for
// each row is bounded, because SQLite cannot be stopped within one.
//
// What Create would refuse of a schema, sqliteddl.Vet says while the store still exists;
// what a Writer would refuse of a value, a scan with Options.RequireRestorable does.
package sqlitefile
