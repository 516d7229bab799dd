// Package formats says what a codec is and keeps the list of them.
//
// rehome moves coding-agent sessions between the stores they live in, exactly
// where it can be exact, and with honest books where it cannot. The house has
// two floors and one staircase:
//
//   - store, the ground floor: bytes with addresses. Tables, rows, cells,
//     files. It understands nothing and loses nothing.
//   - session, the upper floor: meaning. Who said what, which tool ran.
//   - A codec (a Format value) opens and creates stores, and climbs and
//     descends the stairs as far as it can; a nil function means "cannot".
//
// A conversion between relatives (see Format.Families) goes straight across
// the ground floor and is exact: what is written is read again and compared
// before anybody sees it.
//
// The packages, from the ground up:
//
//	store        cells, batches, schemas, digests, addresses, residue
//	loss         the closed list of losses, and the books
//	formats      this package: Format, Registry, Location, Error
//	internal/…   one door each to a library or to a shared kind of knowledge:
//	             sqlitefile (SQLite), packed (compression), digest (hashing),
//	             rawjson (JSON as bytes), rowtext (a row as a line), sdkdoc
//	             (the SDK's documents), secret (what stays home), sqlitestore
//	             (stores of databases and files), tally (how readers end)
//	<codec>      one folder a format; its doc.go is that format's page
//	all          the one list of formats this build carries
//	formatstest  the conformance suite every codec runs
package formats
