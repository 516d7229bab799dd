// Package formats defines what a codec is, and keeps the list of codecs.
//
// rehome moves coding-agent sessions between the stores that clients keep them
// in: exactly where it can be exact, with every loss reported where it cannot.
// It works on two levels:
//
//   - Package store holds bytes with addresses: tables, rows, cells and files.
//     It knows nothing of their meaning, and loses nothing.
//   - Package session holds the model: who said what, which tool ran and what
//     it returned.
//
// A codec is a [Format] value. It reads and creates stores on the first level,
// decodes them to the second and encodes from it, as far as it can: an ability
// that it lacks is nil.
//
// Formats with a [Kind] of records in common convert to each other on the
// first level, exactly: what was written is read again and compared before it
// is moved to its place. All other conversions go through the model: Decode
// makes sessions of a store, a [Sink] writes a draft of each, and each loss is
// reported. [Writer] says what holds of every target.
//
// Decode opens its store itself and does not take an open Reader, because it
// looks records up where a Reader scans, and each kind of store has its own best
// way to do so. A session is a head and a stream of messages, so that it never
// has to fit into memory; the record of a turn is on the message that starts it.
//
// # Words
//
// One name for one thing, in code, messages and documentation:
//
//	store               a client's own file or folder of sessions
//	client              the program that owns a store, such as the Cursor CLI or
//	                    Claude Code; an agent is what the Cursor SDK calls one
//	session, turn,      the model; a run is only what the Cursor SDK calls one
//	message, part
//	record              one row, line or file of a store
//	exact conversion    record by record, with every byte verified
//	session conversion  through the model, with a report of the losses
//	archive             a SQLite store as text for git
//	sidecar             the file *.sidecar.ndjson next to a target, with what the
//	                    target cannot hold, so that the way back is exact
//	loss                something that was not carried as it was; it has a code
//	account             records read = converted + carried raw + superseded +
//	                    unreadable
//	finding             a place where a store violates a rule of `rehome check`;
//	                    the rule has an id and a severity
//	migrate, continue   to make a session available in another client, and to open
//	                    it there
//	withheld            left out, because it is a secret
//
// # Packages
//
// From the bottom up:
//
//	store         cells, batches, schemas, digests, addresses, sidecar items
//	loss          the table of losses, and a log of those that occur
//	rule          the table of rules, and findings
//	session       sessions, turns, messages, parts, and their canonical text
//	formats       this package: Format, Registry, Location, Error
//	internal/...  what several codecs share, see below
//	<codec>       one folder for each format; its doc.go describes the format
//	all           the list of formats in this build
//	rewrite       a store with other values: redacted, and sound
//	formatstest   the conformance suite that every codec runs
//
// Of the internal packages, these read and write bytes:
//
//	sqlitefile    the only user of the SQLite library
//	sqlitepages   SQLite files read page by page, without the library
//	sqlitedelta   the rows of a database that changed since a mark
//	sqliteddl     the SQL of schemas, vetted before it runs
//	sqlitestore   stores made of SQLite databases and plain files
//	rawjson       JSON as bytes, never encoded again
//	members       JSON objects split into members, each of them accounted for
//	entries       JSON values that list sessions, split into their entries
//	lines         text split into lines with offsets
//	linerepair    files of JSON lines, repaired as text and rewritten line by line
//	jsonl         stores made of files of JSON lines, one session each
//	plainfiles    stores as the plain files that they consist of
//	packed        the only user of the compression library
//	digest        the only user of the hash library
//	filename      names of files that are safe on every operating system; UUIDs
//	object        JSON objects, written member by member
//	secret        secrets, withheld and restored
//	forks         lines of JSON, rewritten for forks of sessions
//	tally         the counts and digests that a reader ends with
//	prefetch      sessions decoded ahead of their consumer
//
// These know what the bytes mean:
//
//	wire          protobuf as JSON, by a table of messages
//	agentstate    the graph of blobs in which Cursor keeps the state of an agent
//	agentwrite    sessions of any client, written as such a graph
//	blobs         an index of the blobs of a store
//	storedb       the tables of a store.db
//	sdkdoc        the documents of the Cursor SDK, as rows and as lines
//	sdkstore      rows, documents and sidecars of those stores, without their files
//	sdksession    sessions made from those documents
//	sdkwrite      sessions of any client as those documents
//	transcript    the agent-transcripts that Cursor's clients write
//	toolmap       the names that clients and models have for tools and arguments
//	cursortools   tool calls of any client, spelled as Cursor's own tools do
//	envelope      the tags that clients wrap a prompt in
//
// And these apply the rules of `rehome check`, for the Check of each codec. The
// published schemas that they apply are in the package schemas of this module.
//
//	sqlitecheck   SQLite files as containers
//	linecheck     text of JSON lines as a container
//	storecheck    store.db: the graph of blobs and its meta row
//	sdkcheck      the documents of the Cursor SDK, across records
//
// Those that repair what these find:
//
//	sqliterepair  SQLite files as containers
//	storerepair   store.db: names of blobs, the meta row, and the state it names
package formats
