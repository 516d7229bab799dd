// Package archive stores any SQLite store as text for git, and restores it
// exactly.
//
// # The folder
//
//	manifest.json        what was archived: schemas, pragmas, counts, digests
//	.gitattributes       "* -text": git must not change line endings
//	<table>.ndjson       a table, one row per line
//	<table>/3f/<shard>.ndjson
//	                     a table that its format splits: one file per shard
//	records.ndjson.zst   with --compress, instead of the above: the same lines
//	                     in one stream, a {"table":…} line before each table
//
// The tables of a single-file store are at the root of the archive; in a store
// of several databases, each database has a folder at its path. The plain files
// of a store (transcripts, workspace.json) are copied byte for byte to their
// paths.
//
// Package rowtext defines the lines. They contain no timestamps and no paths of
// the machine that wrote them. Which file a row goes to depends on that row
// alone, so a new turn appends lines and moves none.
//
// # What is trusted
//
// Nothing: an archive comes from a repository that others can write to. File
// names are computed from table names, never read. Paths are checked, and
// opened beneath the archive's root. Symbolic links, unknown files, overlong
// lines and compression bombs are rejected. The count and digest of every table
// must match the manifest. The schema is only ever replayed as single CREATE
// statements (see package sqlitefile).
//
// # Limits
//
// Rows are read shard by shard. A compressed archive made from a sharded
// archive has its rows in that order; one made from the store has them in row
// id order.
//
// A row's line is at most 128 MB long, and one row must fit in memory.
package archive
