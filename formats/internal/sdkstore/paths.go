package sdkstore

import (
	"crypto/sha256"
	"encoding/hex"
)

// FormatName is the name of the format.
const FormatName = "cursor-sdk"

// The names of databases.
const (
	IndexName = "index.db"
	StoreName = "store.db"
)

// HashOf is what the folder of an agent is named by.
func HashOf(id string) string {
	sum := sha256.Sum256([]byte(id))
	return hex.EncodeToString(sum[:])
}

// StorePath is where an agent's checkpoints lie below a state root.
func StorePath(id string) string { return "agents/agent-" + HashOf(id) + "/" + StoreName }
