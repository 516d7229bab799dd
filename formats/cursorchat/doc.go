// Package cursorchat reads and writes the chat stores of the Cursor CLI.
//
// # Where they live
//
//	~/.cursor/chats/<md5 of the workspace path>/<chat uuid>/
//	    store.db            the whole conversation
//	    meta.json           times, title, workspace (since about May 2026)
//	    prompt_history.json sometimes
//	~/.cursor/acp-sessions/<uuid>/   the same, for editors that use ACP
//
// The database and the .json files next to it are the store. Anything else in
// the folder is left out and noted, in particular copies of the database, which
// are not searched for secrets. A folder that is recognized by its tables alone
// and contains folders is not claimed: its store.db is a store of its own.
//
// # Tables and keys
//
//	blobs(id TEXT PRIMARY KEY, data BLOB)   id is the SHA-256 of data
//	meta(key TEXT PRIMARY KEY, value TEXT)  one row '0': hex of a JSON object
//
// The blobs are a graph of protobuf messages and JSON prompt messages. Blobs
// are added and never changed, so an archive keeps their rows in insertion
// order, 65,536 to a file, and a new turn only appends. The meta object names
// the newest root and holds blobEncryptionKey, a secret that encrypts nothing in
// this file.
//
// # Quirks
//
// While a turn runs, its rows are in store.db-wal. A store of an SDK agent has
// the same two tables and is read as a chat when it is given alone.
//
// # As a session
//
// The newest root and everything it refers to are one session; its subagents
// are further sessions (formats/internal/agentstate reads the graph). The meta
// row and meta.json give the title, times, mode, model and workspace. Without
// them the workspace comes from the state, or from another chat in the same
// folder if the hash of its path is the folder's name. Older roots, and blobs
// that only they refer to, are compared: what the newest says too is superseded and
// counted; abandoned turns, other answers to a prompt and messages that no root refers to
// are noted or, if history is requested, become branches; and other blobs with text of
// their own are noted. If the meta row names no root, or a missing
// one, the state that was stored last is read or, if there is none, all messages in the
// order of their rows, and this is noted. Other files and members, and rows and columns that the client does not write, are carried
// as Extras; blobEncryptionKey never is.
//
// The blobs of a store of up to 16 MB are read at once; of a larger store only
// the ids are held in memory.
//
// # Written from a session
//
// A session of any client becomes the folder of a chat, with the states of its
// subagents in its own: store.db as the client creates it, with no log beside it,
// and meta.json. Package agentwrite makes the blobs. The CLI's own chats keep their
// ids, others get one that is derived from theirs. A member "rehome" of the meta
// row names the origin, and has a digest that tells whether the chat was continued
// since. No settings are carried that let the client run commands without asking,
// and no key: the client makes a new one.
//
// # Not verified
//
// The order of blobs written by a live CLI; which optional meta members each
// version writes; that the CLI continues a chat written here, because it cannot be
// installed: the Cursor SDK, which has the same state, does.
package cursorchat
