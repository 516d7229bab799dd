// Package store is the ground floor: bytes with addresses.
//
// A store is a fixed list of sets (a table of a database, or a plain file),
// each a sequence of records, each a row of cells. A cell keeps the storage
// class and the exact bytes it was stored with. Nothing here knows what a
// session, a message or a tool call is, and nothing here may lose anything.
//
// Records travel in batches: about a megabyte of cells in one pointer-free
// arena, so that a scan of millions of rows costs the garbage collector
// nothing. A reader hands batches out in a stable order, whoever receives one
// owns it until Release.
//
// A reader knows its Schema before the scan and its Summary after it. Two
// stores hold the same data exactly when their schemas and summaries are equal.
package store
