// Package cursoride knows the stores of the Cursor IDE.
//
// # Where they live
//
//	macOS    ~/Library/Application Support/Cursor/User
//	Linux    ~/.config/Cursor/User
//	Windows  %APPDATA%\Cursor\User
//
//	<user dir>/globalStorage/state.vscdb            all bodies since 2025
//	<user dir>/workspaceStorage/<id>/state.vscdb    one a workspace
//	<user dir>/workspaceStorage/<id>/workspace.json which folder it is
//	<user dir>/workspaceStorage/<id>/images/…       pictures in prompts
//
// A user dir is one store, and so is one state.vscdb alone.
//
// # What is in state.vscdb
//
//	ItemTable(key TEXT UNIQUE ON CONFLICT REPLACE, value BLOB)
//	cursorDiskKV, the same; composerHeaders in newer versions
//
// The class of a value is part of its meaning: agentKv:blob: rows are hex as
// TEXT and raw bytes as BLOB. Values can be NULL (a deleted composer), keys can
// be NULL.
//
// # How it is split
//
// A row of cursorDiskKV goes to the shard of the composer that owns it: the
// second part of its key, the third for agentKv:checkpoint: and
// agentKv:bubbleCheckpoint:. Blobs shared by all composers (agentKv:blob:,
// composer.content.) go by the first two digits of their hash, everything else
// by the first letter of its key.
//
// # Left out
//
// state.vscdb.backup and .corrupted.* copies, conversation-search.db (derived),
// settings, snippets, extensions and local history. A picture that is a link
// out of the store, or is a database, is left aside and noted.
//
// # Not verified
//
// Portable installations and --user-data-dir trees beyond their having the same
// two folders.
package cursoride
