// Package cursorndjson knows the Cursor SDK's other store: agents as lines of
// JSON, which people commit to git.
//
// # Where it lives
//
// In any folder that a program gives to the SDK's JsonlLocalAgentStore:
//
//	agents.ndjson        one agent a line
//	runs.ndjson          one run (a prompt and what came of it)
//	run_events.ndjson    one event of a run
//	checkpoints.ndjson   one blob of an agent's checkpoints, in base64
//	agent-transcripts/…  readable copies, where they travel along
//	.gitattributes       ours: "* -text", so that git leaves line ends alone
//
// There is no lock, index, manifest or version file. Each file appears with
// its first line, so that an empty store is an empty folder. Versions seen:
// 1.0.17 to 1.0.32; all write the same. What systems and git leave in any
// folder (.DS_Store, Thumbs.db, desktop.ini, .gitattributes, .gitignore) is no
// part of it.
//
// # Lines
//
// JSON as JSON.stringify spells it: no blanks, nothing escaped that need not
// be, U+2028 as it is, half a surrogate pair as \ud800. Times are milliseconds
// except the createdAt of events, which is text. What is nested in a line
// (payload, usage, sdkMetadata) is any JSON; unknown members are kept by the
// SDK and by us, for a line is carried as it is, never spelled anew.
//
// # Quirks
//
// The store is not append-only: each write reads a whole file and writes it
// anew. Deleting the last line leaves a file of no bytes.
//
// How the SDK reads damage, and what becomes of it here: a last line that is
// torn is ignored (and dropped by the next write); any other line that is no
// JSON makes all reading fail. Blank lines and CRLF are read, a byte order
// mark is not. Of two lines with one id, get and update take the first, list
// shows both. All of this is carried as it stands.
//
// A record here is a line without its line end: Text, or Blob for a last line
// that has no line end. A file of no bytes is one such Blob of no bytes; a
// file that is not there has no record.
//
// # Secrets
//
// sdkMetadata holds blobEncryptionKey. It encrypts nothing on disk and is a
// secret all the same; the member is left out unless secrets are asked for.
//
// # Not verified
//
// Stores with more than a few thousand events: the SDK takes minutes to write
// one. What other JSON stores (LocalAgentStore is an interface) make of it.
package cursorndjson
