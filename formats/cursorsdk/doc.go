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
// A state root is one store; so is a project folder, with its transcripts.
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
// # How it is split
//
// The events of a run are one shard. Everything else is small or only grows,
// and is split by ranges of 65,536 row ids.
//
// # Not verified
//
// Stores of the Python SDK.
package cursorsdk
