// Package sqlitedelta finds the rows of a SQLite database that changed since a mark
// was taken, so that keeping a copy of a store up to date costs what changed and not
// what is there.
//
// It works on pages, and on proofs only. First it determines a set of pages outside
// of which the database is the same, byte for byte:
//
//   - The write-ahead log continues the one of the mark, or the database file was
//     not written to: the pages in the new frames of the log. Whatever statements
//     ran, they wrote nothing else. A checkpoint does not matter as long as the log
//     did not start again. This reads the new frames.
//   - Else something was written that is no longer in the log, and an UPDATE in place
//     leaves no trace but its own bytes: no count and no index shows it. So every
//     page is read and compared with its digest in the mark. This reads everything
//     once, but understands only the pages that differ.
//
// Then it determines which rows these pages hold and held. The mark knows the rows of
// each leaf of a table, with a digest of each, and the leaf of each overflow page. A
// leaf that is in the tree before and after, and no page of which changed, has the
// same rows. The rows of all other leaves, old and new, are compared. For that the
// inner pages of changed tables are read, less than half a percent of a table, and
// the leaves that changed.
//
// What is not proven is [ErrFullPass]: another schema, other pragmas, a changed table
// WITHOUT ROWID, pages that contradict each other. The caller then reads the whole
// database, as if there were no mark.
package sqlitedelta
