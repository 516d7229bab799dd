// Package sqliteddl reads the SQL of a SQLite schema without running it. A schema
// can come from a stranger's archive, so [Vet] accepts only single CREATE
// statements that match their entry in sqlite_schema, and bounds what their
// expressions cost for each row; whatever it does not understand it refuses.
// [Code] says what of a schema runs by itself, [Define] takes a statement apart so
// that two can be compared, and [AffinityOf] says how a column converts values.
package sqliteddl
