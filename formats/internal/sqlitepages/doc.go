// Package sqlitepages reads a SQLite file by its pages, without SQLite: the header,
// the cells of a page, records that continue on overflow pages, and a [Walk] over
// trees that reports every [Flaw]. Checking, searching and salvaging need to know
// how a row lies in its file, and a small store is read before SQLite would have
// opened it. Package sqlitefile opens files for it and asks SQLite where pages alone
// do not tell.
package sqlitepages
