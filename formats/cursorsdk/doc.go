// Package cursorsdk knows the default store of the Cursor SDK.
//
// # Where it lives
//
//	~/.cursor/projects/<slug of the workspace>/
//	    sdk-agent-store/<md5 of the workspace>/     a state root
//	        index.db                                agents, runs, run_events
//	        agents/agent-<sha256 of the id>/store.db  blobs, meta
//	    agent-transcripts/…                         readable copies
//
// A state root is one store; so is a project folder, with its transcripts. Put
// into its own place, a store has its transcripts there, too (see Outside). A
// state root that is read alone is read with the transcripts of its agents that
// lie in the project around it (beside.go).
//
// Versions from 1.0.40 on keep state roots at ~/.cursor/sdk-agent-store/<id>
// and move those that they find in projects. The transcripts of an agent stay in
// the project of its workspace. What <id> is made of is not known, so that no
// store is put there.
//
// # Quirks
//
// The SDK never closes its databases: after an ordinary exit both are 4,096
// bytes and every row is in their -wal files. Columns were added over time, so
// their order differs between files; they are addressed by name. The folder of
// an agent has been named by the bare hash too.
//
// index.db keeps blobEncryptionKey in agents.metadata_json, store.db in its
// meta row. It encrypts nothing here, and is a secret all the same.
//
// Both databases tolerate strangers: other tables, columns and pragmas. They
// are carried. Agents are found by the very text of their workspace_ref: /ws
// and /ws/ are two, and a moved store is empty to its program (see Place).
//
// # Two readers
//
// As tables, everything is carried as it is. As documents (the family that
// cursor-ndjson shares), each row of index.db and each blob becomes the line
// that the SDK's line store would hold: see internal/sdkdoc for what says what.
// Neither side can say all that the other can, so each conversion makes the
// other side anew and keeps what differs in a sidecar (leftover.go, putback.go):
//
//	SQLite holds, lines do not: row ids with gaps, ends of runs that failed,
//	the meta row, tables and columns of strangers, another schema, an empty
//	store.db, a folder that is not named by its agent's hash
//	lines hold, SQLite does not: unknown members, endedAt of failed runs,
//	two lines of one key, runs of unknown agents, lines that are no JSON,
//	spelling, CRLF, the order of checkpoints over several agents
//
// What a sidecar speaks of may be gone by the time it is needed: each piece that
// finds no place is in the books (stale.go).
//
// Checkpoints of agents that the catalog lacks are carried, under the name in
// their meta row or that of their folder. Without the sidecar a store still
// works; what would need it is in the books.
//
// Made of documents, a store has the schema, pragmas and folders that version
// 1.0.32 makes, and a meta row without blobEncryptionKey: the SDK makes a new
// one where it misses it.
//
// # How it is split
//
// The events of a run are one shard. Everything else is small or only grows,
// and is split by ranges of 65,536 row ids.
//
// # Not verified
//
// Stores of the Python SDK, and of 1.0.40 or later: where these lie is known from
// the client's notes and an example of its bridge. Whether any version tells text with a NUL in it
// from its beginning: 1.0.32 reads it from a database only up to the NUL.
package cursorsdk
