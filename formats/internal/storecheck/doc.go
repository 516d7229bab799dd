// Package storecheck asks about a store.db: the graph of blobs and the meta row
// that the chats of the Cursor CLI and the agents of its SDK share. Whose the
// store is, and which roots count, their codecs know.
//
// Each blob is read once, hashed where it lies, and entered in an index; the
// graph is walked over the index, and reads again only what refers to more.
// Findings wait until the whole file has turned out to be sound.
package storecheck
