// Package chat carries one chat store, and the same store one turn later, for
// the demo and for tests. See README.md beside it for where they come from.
package chat

import "embed"

// Stores holds before.db and after.db.
//
//go:embed before.db after.db
var Stores embed.FS
