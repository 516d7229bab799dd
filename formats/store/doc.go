// Package store holds the records of stores: bytes with addresses.
//
// A store is a fixed list of sets (tables of databases, and plain files), each a
// sequence of records, each a row of cells. A cell keeps its storage class and the
// exact bytes that were stored. This package knows nothing of sessions, messages
// or tool calls, and loses nothing.
//
// Records travel in batches: about a megabyte of cells in one arena without
// pointers, so that a scan of millions of rows is free for the garbage collector. A
// reader yields batches in a stable order; the receiver owns each
// until Release.
//
// A reader knows its Schema before the scan and its Summary after it. Two stores
// hold the same data exactly if their schemas and summaries are equal.
package store
