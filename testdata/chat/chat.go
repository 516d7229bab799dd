// Package chat carries small chat stores of the Cursor CLI, for the demo and
// for tests. See README.md beside it for where they come from.
package chat

import "embed"

// Stores holds before.db, and after.db, the same chat one turn later.
//
//go:embed before.db after.db
var Stores embed.FS

// Demo holds login.db, the chat of rehome demo, and login-later.db, the same
// chat one turn later.
//
//go:embed login.db login-later.db
var Demo embed.FS
