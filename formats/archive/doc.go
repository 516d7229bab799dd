// Package archive stores any SQLite store as text for git, and restores it
// exactly.
//
// # The folder
//
//	manifest.json        what the archive is
//	.gitattributes       keeps git from changing lines; lets it merge common files
//	database.json        schema and settings of a database
//	<table>.ndjson       a table, one row per line, and a trailer
//	<table>/3f/<shard>.ndjson
//	                     a table that its format splits: one file per shard
//	<table>/3f/<shard>.common.ndjson
//	                     rows that sessions share: each line has its own digest
//	<table>/3f/<id>.entry.ndjson
//	                     an entry of a list of sessions in a value
//	<file>, <file>.xxh3  another file of the store, and its digest
//	records.ndjson.zst   with --compress, instead of the tables: the same lines
//	                     in one stream, a {"table":…} line before each table
//
// No file counts or lists what belongs to several sessions, so that people who work
// on different ones merge without a conflict. A trailer states the number and the
// digest of the rows of its file. docs/archive-format.md has the details and the
// reasons. Version 1, which had all of that in its manifest, is only read.
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
// lines and compression bombs are rejected. The count and digest of every file
// must match. The schema is only ever replayed as single CREATE
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
