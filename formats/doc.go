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
// before anybody sees it. Everything else goes up the stairs and down again:
// Decode makes sessions of a store, Encode writes one, and the losses on the
// way are noted.
//
// A Decode opens its store itself instead of taking an open Reader: what it
// reads is a graph, by look-ups, and each store has its own best way to look
// something up. A session is a head and a stream of messages, so that none
// ever has to fit in memory; the record of a turn stands on the message that
// begins it.
//
// The packages, from the ground up:
//
//	store        cells, batches, schemas, digests, addresses, sidecar items
//	loss         the closed list of losses, and the books
//	formats      this package: Format, Registry, Location, Error
//	session      sessions, turns, messages, parts, and their one spelling
//	internal/…   one door each to a library or to a shared kind of knowledge.
//	             Of bytes: sqlitefile (SQLite), packed (compression), digest
//	             (hashing), rawjson (JSON as bytes), members (an object's
//	             members, taken and left), lines (text with offsets), rowtext
//	             (a row as a line), sqlitestore (stores of databases and
//	             files), secret (what stays home), tally (how readers end).
//	             Of meaning: wire (protobuf by a table), agentstate (the graph
//	             of blobs that Cursor's agents keep), blobs (an index of them),
//	             storedb (the tables of store.db), toolmap (tools by kind
//	             and name), envelope (what a prompt is wrapped in), lexical
//	             (rich text), sdkdoc and sdksession (the SDK's documents, and
//	             sessions made of them), transcript (agent-transcripts)
//	<codec>      one folder a format; its doc.go is that format's page
//	all          the one list of formats this build carries
//	formatstest  the conformance suite every codec runs
package formats
