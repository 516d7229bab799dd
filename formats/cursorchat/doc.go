// Package cursorchat knows the chat stores of the Cursor CLI.
//
// # Where they live
//
//	~/.cursor/chats/<md5 of the workspace path>/<chat uuid>/
//	    store.db            everything that was said
//	    meta.json           times, title, workspace (since about May 2026)
//	    prompt_history.json sometimes
//	~/.cursor/acp-sessions/<uuid>/   the same, of editors that speak ACP
//
// The database and the .json files beside it are the store. Anything else in
// the folder is left aside and noted: copies of the database above all, which
// nobody looks into for secrets. A folder that is known by its tables alone and
// has folders in it is nobody's: its store.db is a store of its own.
//
// # What is in store.db
//
//	blobs(id TEXT PRIMARY KEY, data BLOB)   id is the SHA-256 of data
//	meta(key TEXT PRIMARY KEY, value TEXT)  one row '0': hex of a JSON object
//
// The blobs are a graph of protobuf messages and JSON prompt messages. Blobs
// are added and never changed, so their rows are kept in the order they came,
// 65,536 to a file: a new turn appends. The meta object names the newest root
// and holds blobEncryptionKey, a secret that encrypts nothing in this file.
//
// # Quirks
//
// While a turn runs, its rows are in store.db-wal. A store of the SDK's agents
// has the same two tables and is read as a chat when given alone.
//
// # As a session
//
// The newest root and what it leads to are one session (formats/internal/agentstate
// reads the graph), its subagents further ones. The meta row and meta.json give
// the title, times, mode, model and workspace; the workspace else comes from the
// state, or from another chat in the same folder if its path has the folder's
// hash. Older roots and what only they lead to are superseded and counted; where
// history is asked for, turns that the client went back on are branches. A meta
// row without a root that is there is no reason to tell nothing: the state that
// was stored last is read, and that is noted. Other files and members, odd rows
// and columns ride along as Extras; blobEncryptionKey never does.
//
// The blobs of a store up to 16 MB are read in one go; of a larger one only
// the names are held.
//
// # Not verified
//
// The blob order of a live CLI; which optional meta members each version writes.
package cursorchat
