package cursorsdk

import (
	"encoding/hex"
	"strconv"

	"rehome/formats/internal/rawjson"
	"rehome/formats/internal/sdkdoc"
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

// metaID is the agent that a meta row says it belongs to, "" if it does not.
func metaID(row []store.Cell) string {
	if len(row) < 2 || string(row[0].Bytes()) != "0" {
		return ""
	}
	b := make([]byte, hex.DecodedLen(len(row[1].Bytes())))
	if _, err := hex.Decode(b, row[1].Bytes()); err != nil {
		return ""
	}
	id := ""
	err := rawjson.Find(b, []string{"agentId"}, func(m rawjson.Member) bool {
		if text, end, err := rawjson.Unquote(nil, b, m.From); err == nil && end == m.To {
			id = string(text)
		}
		return true
	})
	if err != nil {
		return ""
	}
	return id
}
