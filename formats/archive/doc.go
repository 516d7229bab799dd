// Package archive keeps any SQLite store as text that people commit to git,
// and brings it back exactly.
//
// # The folder
//
//	manifest.json        what was archived: schemas, pragmas, counts, digests
//	.gitattributes       "* -text": git must not touch line ends
//	<table>.ndjson       a table, one row a line
//	<table>/3f/<shard>.ndjson
//	                     a table whose format splits it: one file a shard
//	records.ndjson.zst   instead of the above with --compress: the same lines
//	                     in one stream, a {"table":…} line before each table
//
// A store that is one file has its tables at the archive's root; in a store of
// several databases each has a folder at its path. The store's plain files
// (transcripts, workspace.json) lie verbatim at theirs.
//
// The lines are package rowtext's. They hold no clock and no path of a
// machine, and which file a row goes to depends on that row alone, so that a
// new turn appends lines and moves none.
//
// # What is trusted
//
// Nothing. An archive comes from a repository that others can write to. File
// names are worked out from table names, never read; paths are checked and
// opened beneath the archive's root; symbolic links, unknown files, over-long
// lines and compression bombs are refused; every table's count and digest must
// be what the manifest says; and the schema is only ever replayed as single
// CREATE statements (see package sqlitefile).
//
// # Limits
//
// Rows are read shard by shard, so a compressed archive that is made of an
// archive in shards has them in that order; made of the store it has them in
// the order of their row ids.
//
// A row's line is at most 128 MB long, and one row must fit in memory.
package archive
