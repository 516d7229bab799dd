// Package sdkcheck asks about the documents of the Cursor SDK: agents, their
// runs, the runs' events, and which checkpoints they name. It does not matter
// whether they are rows of a database or lines of JSON: a codec reads them,
// asks what is peculiar to its store, and enters them in a Catalog, which asks
// what concerns several of them.
//
// What a store says is decided from the store alone: no clock is looked at, so
// that a run that is under way is a run that was killed, until a newer one of
// the same agent shows that it was.
package sdkcheck
