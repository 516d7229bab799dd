// Package chat carries small chat stores of the Cursor CLI for tests. See README.md beside it for where they come from.
package chat

import "embed"

// Stores holds before.db, and after.db, the same chat one turn later.
//
//go:embed before.db after.db
var Stores embed.FS
