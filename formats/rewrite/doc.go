// Package rewrite changes values of a store while its records are read, and keeps
// the store sound.
//
// New wraps the Reader of a store. A [Rewriter] first learns from every value, in the
// order of the store, and then says what becomes of each. What it cannot know, because
// it sees one value at a time, is done here:
//
//	ids          a blob that is named by the SHA-256 of its bytes gets a new id if it
//	             changes, and so does every blob that refers to it; references are
//	             found in raw bytes, in hexadecimal and in base64 (graph.go, refs.go)
//	files        plain files are put together from their pieces, and read line by
//	             line if they consist of JSON lines (values.go)
//	deltas       a text that is told in pieces, a record each, is read as one
//	             (deltas.go)
//	signatures   reasoning whose text changes is no longer what was signed (signed.go)
//	secrets      what readers withhold is left out of stores for clients
//
// Only ids and their edges are in memory, and one value at a time. Blobs that refer to
// changed ones wait in a temporary file.
package rewrite
