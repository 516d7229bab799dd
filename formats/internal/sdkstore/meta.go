package sdkstore

import (
	"encoding/hex"
	"strconv"

	"rehome/formats/internal/sdkdoc"
	"rehome/formats/internal/storedb"
	"rehome/formats/store"
)

// metaRow is the row of an agent's meta table as the SDK makes it for an agent
// that it knows nothing of but this. The key it adds, which encrypts nothing,
// it makes itself when it misses one.
func metaRow(id string, created int64) []store.Cell {
	b := append([]byte(`{"agentId":`), sdkdoc.Quote(nil, []byte(id))...)
	b = append(b, `,"latestRootBlobId":"","name":"New Agent","mode":"default","isRunEverything":false,"createdAt":`...)
	b = append(strconv.AppendInt(b, created, 10), '}')
	return []store.Cell{store.TextCell([]byte("0")), store.TextCell(hex.AppendEncode(nil, b))}
}

// MetaAgent is the agent that a meta row says it belongs to, "" if it does not.
func MetaAgent(value []byte) string {
	if row := storedb.ParseMeta(storedb.MetaText(value)); row != nil {
		return row.Text(storedb.MetaAgent)
	}
	return ""
}
