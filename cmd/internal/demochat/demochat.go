// Package demochat holds the chat of rehome demo. Its text is invented; fields and
// members are those of testdata/chat/before.db. make_login.py creates both stores,
// with the same bytes every time.
package demochat

import "embed"

// Stores holds login.db, a chat of the Cursor CLI, and login-later.db, the same chat
// one turn later.
//
//go:embed login.db login-later.db
var Stores embed.FS
