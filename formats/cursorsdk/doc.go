// Package cursorsdk reads and writes the default store of the Cursor SDK.
//
// # Where it lives
//
//	~/.cursor/projects/<slug of the workspace>/
//	    sdk-agent-store/<md5 of the workspace>/     a state root
//	        index.db                                agents, runs, run_events
//	        agents/agent-<sha256 of the id>/store.db  blobs, meta
//	    agent-transcripts/…                         readable copies
//
// A state root is one store; so is a project folder, with its transcripts. A
// store that is restored to its own place gets its transcripts there, too (see
// Outside). A state root that is read alone is read with the transcripts of its
// agents in the surrounding project.
//
// Versions 1.0.40 and later keep state roots at ~/.cursor/sdk-agent-store/<id>
// and move those that they find in projects. The transcripts of an agent remain
// in the project of its workspace. How <id> is derived is unknown, so rehome
// does not write stores there.
//
// # Quirks
//
// The SDK never closes its databases: after a normal exit both files are 4,096
// bytes, and every row is in their -wal files. Columns were added over time, so
// their order differs between files; rehome addresses them by name. Some
// versions name the folder of an agent with the bare hash.
//
// index.db keeps blobEncryptionKey in agents.metadata_json, store.db in its
// meta row. It encrypts nothing here but is still a secret.
//
// Both databases accept tables, columns and pragmas that the SDK does not
// create; rehome carries them. The SDK finds agents by the exact text of their
// workspace_ref: /ws and /ws/ are different workspaces, and a store that was
// moved looks empty to its program (see Place).
//
// # Two readers
//
// As tables, everything is carried unchanged. As documents (the kind of records that
// cursor-ndjson shares), each row of index.db and each blob becomes the line
// that the SDK's line store would contain; internal/sdkdoc maps them. Neither
// store can hold everything that the other can, so each conversion regenerates
// what it can and keeps the rest in a sidecar (internal/sdkstore):
//
//	only SQLite holds: row ids with gaps, end times of failed runs, the meta
//	row, tables and columns that the SDK does not create, another schema, an
//	empty store.db, an agent's folder with an unexpected name
//	only lines hold: unknown members, endedAt of failed runs, two lines with
//	the same key, runs of unknown agents, lines that are not JSON, formatting,
//	CRLF, the order of checkpoints across agents
//
// What a sidecar item refers to may be missing when it is needed. Each item
// that cannot be restored is reported (stale.go).
//
// Checkpoints of agents that index.db does not list are carried under the name
// in their meta row or that of their folder. A store restored without its
// sidecar still works; what is missing from it is reported.
//
// A store that is built from documents has the schema, pragmas and folders of
// version 1.0.32, and a meta row without blobEncryptionKey: the SDK generates a
// new key when there is none.
//
// Sessions of other clients are written as such documents, see package sdkwrite.
//
// # How it is split
//
// The events of a run are one shard, and so are the row of an agent and its runs.
// Every other table is small or only grows, and is split into ranges of 65,536
// row ids.
//
// # Not verified
//
// Stores of the Python SDK, and of 1.0.40 or later: their location is known from
// the client's release notes and an example of its bridge. Whether any version
// reads text beyond a NUL: 1.0.32 reads text from a database only up to the NUL.
package cursorsdk
