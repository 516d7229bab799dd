// Package catalog keeps a list of the sessions of many machines in PostgreSQL: a row for
// each session, with what was lost and what `rehome check` finds, by machine and store.
//
//	stores    one row for each store: the receipt of what was loaded, with its digest
//	sessions  the table sessions of package tables
//	losses    the table losses of package tables
//	findings  the rules that a store violates, and how often
//
// A store is loaded in one transaction, which replaces what was loaded of it before. It
// is known by the name of its machine and its path, see Options.Base. A store that was
// loaded from the same sessions is left as it is, so loading can be repeated. A store
// that cannot be read keeps what was loaded of it before, and one that is gone, too.
//
// What is loaded is a file of rows, see rows.go. Such a file can be written in one place and
// loaded in another, by package fleet: who reads a store needs no database, and who loads its
// rows need not trust them.
//
// PostgreSQL cannot hold U+0000 in text: U+FFFD takes its place, as a loss.
package catalog
