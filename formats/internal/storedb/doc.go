// Package storedb reads store.db, the database in which the Cursor CLI and the
// Cursor SDK keep the state of one agent: the table blobs, and the one row of
// the table meta. Tables and columns are found whatever the case of their
// names, as SQLite finds them.
package storedb
