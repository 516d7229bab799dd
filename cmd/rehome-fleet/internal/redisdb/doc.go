// Package redisdb keeps the documents of the Cursor SDK in Redis. The npm package and this
// one read and write the same keys.
//
// # Layout 1
//
// All keys of a store start with {STORE}: and so are in one slot of a cluster. STORE is not
// empty and has no braces and no control characters. DOC is the text of a document, as in a
// line of the SDK's own files; all other values are UTF-8 text or decimal numbers.
//
//	meta                  hash    layout = 1; ord = the last number given to a line
//	keys                  set     the name of every key of the store, without {STORE}:, but for keys itself
//	agents                zset    agentId -> updatedAt (0 where it is not a number)
//	agent:AGENT           hash    doc = DOC; rev = how often it was written, from 1
//	runs:AGENT            zset    runId -> turnNumber (0 where it is not a number)
//	run:ESC(AGENT):RUN    hash    doc = DOC; rev; status, if the adapter wrote it
//	events:RUN            zset    DOC -> seq
//	streams               hash    runId -> the highest seq given out, until the events of the run are deleted
//	runagents             hash    runId -> agentId, the first one; the adapter adds it where it is missing
//	idem:RUN              hash    idempotencyKey -> seq
//	blobs:AGENT           hash    blobId -> the bytes
//	blobids:AGENT         zset    blobId -> 0, for pages in the order of ids (ZRANGE BYLEX)
//	lease:AGENT           hash    owner, fence, until (ms); the adapter's own
//	leased                set     the agents of lease:AGENT; likewise
//	ord:agents            zset    agentId -> ord
//	ord:runs              zset    ESC(AGENT):RUN -> ord
//	ord:events            zset    SEQ:RUN -> ord
//	ord:blobs             zset    ESC(AGENT):BLOB -> ord
//	rehome                hash    what is no document; the adapter ignores it
//	rehome:order          zset    the fields of rehome that are lines -> ord; likewise
//
// ESC writes % as %25 and : as %3A, so that two ids in one name never run into each other.
// ord is the order of creation, across all four kinds: HINCRBY meta ord 1 for each new
// document. Updates keep it; who deletes a document deletes it from its ord: zset, too, and a
// key that no longer exists from keys.
//
// A store exists if its meta does. Whoever creates one sets meta layout to 1 and adds meta to
// keys in the same script; whoever finds another layout touches nothing.
//
// rehome places a store under {STORE}~stage-TOKEN: and renames every key in one script, so that
// a client sees the old store or the new one. The old one becomes {STORE}~bak-1: (-2, ...),
// which the address with store=STORE~bak-1 reads. Leases of an old store go with it.
//
// Two keys are beside the store: {STORE}~place is the lock of the Place at work, which
// expires, and {STORE}~stages a hash of the tokens of all that was ever staged and is not yet
// gone. Whoever takes the lock removes what others left behind.
package redisdb
