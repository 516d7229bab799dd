// Package sqlitestore reads and builds stores that are made of SQLite
// databases and plain files: one table of their rows, and the files piece by
// piece. The codecs say which files; see Shape.
package sqlitestore
