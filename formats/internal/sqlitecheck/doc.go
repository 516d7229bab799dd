// Package sqlitecheck asks of SQLite files what the rules of the container ask
// (RH100 to RH119), and whether their tables are those of a known client
// (RH201, RH202).
//
// A file is walked page by page, without SQLite wherever nobody is writing to
// it (sqlitefile.Image): the same walk looks at every page, compares indexes
// with tables, and gives the rows to whoever asked for them. SQLite itself is
// asked only where that walk finds something odd, and about what only it knows.
//
// A file in which pages or rows are lost is reported once, and nobody is asked
// about what it holds: what follows from one damage is no news.
package sqlitecheck
