// Package cursorndjson reads and writes the other store of the Cursor SDK:
// agents as JSON Lines, which people commit to git.
//
// # Where it lives
//
// In any folder that a program passes to the SDK's JsonlLocalAgentStore:
//
//	agents.ndjson        one agent per line
//	runs.ndjson          one run (a prompt and the response to it) per line
//	run_events.ndjson    one event of a run per line
//	checkpoints.ndjson   one blob of an agent's checkpoints per line, in base64
//	agent-transcripts/…  readable copies, if they were copied along
//	.gitattributes       added by rehome: "* -text", so that git keeps line
//	                     endings as they are
//
// Or a folder for each agent, with these files, and what makes them one store:
//
//	rehome.json          the marker of this form; it never changes
//	.gitattributes       also merge=union for what belongs to no agent
//	sidecar.ndjson       here and in each folder: what lines cannot hold
//	<agent id>/          a safe name of a file, or h- and a hash
//	no.agent/            what belongs to no agent
//
// rehome writes this form, because people who continue different agents then change
// different files; formats.Build.Flat asks for the other. Joined, the lines stand in
// the order of their times: see divide.go and join.go. An agent's line has one more
// member here, a summary of its turns, for people who read a difference.
//
// There is no lock, index, manifest or version file. Each file is created with
// its first line, so an empty store is an empty folder. Versions seen: 1.0.17 to
// 1.0.32; all write the same. Files that systems and git leave in any folder
// (.DS_Store, Thumbs.db, desktop.ini, .gitattributes, .gitignore) are not part
// of the store.
//
// # Lines
//
// JSON as JSON.stringify writes it: no whitespace, no unnecessary escapes, U+2028
// unescaped, an unpaired surrogate as \ud800. Times are milliseconds, except the
// createdAt of events, which is text. Nested values (payload, usage,
// sdkMetadata) can be any JSON. The SDK keeps unknown members, and so does
// rehome: it copies a line as it is and never encodes it again.
//
// # Quirks
//
// The store is not append-only: each write reads and rewrites a whole file.
// Deleting the last line leaves an empty file.
//
// The SDK ignores an incomplete last line, and its next write removes it. Any
// other line that is not JSON makes every read fail. Blank lines and CRLF are
// accepted, a byte order mark is not. Of two lines with the same id, get and
// update use the first; list shows both. rehome carries all of this unchanged.
//
// A record here is a line without its line ending: Text, or Blob for a last
// line without one. An empty file is one empty Blob; a missing file has no
// records.
//
// # Sessions of other clients
//
// Written as agents, see package sdkwrite: an agent for each session with its subagents,
// a run for each turn. SDK 1.0.32 lists them, and reads their messages, runs and events.
// sdkMetadata has one more member, rehome, which names the client and the session that an
// agent is a copy of.
//
// # Secrets
//
// sdkMetadata holds blobEncryptionKey. It encrypts nothing on disk but is still
// a secret; the member is left out unless secrets are requested.
//
// # Not verified
//
// Stores with more than a few thousand events: the SDK takes minutes to write
// one. What other JSON stores (LocalAgentStore is an interface) write.
package cursorndjson
