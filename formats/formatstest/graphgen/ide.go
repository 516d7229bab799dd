package graphgen

import (
	"context"
	"path/filepath"
	"strconv"
)

// WriteIDE writes the plan as a session of the IDE of which there is only the agent's state, and
// gives its user dir, which is in a folder.
func (p *Plan) WriteIDE(ctx context.Context, dir string, g *Graph) (string, error) {
	composer := jsonText("_v", "18", "composerId", quote(p.ID), "name", quote(p.Name), "createdAt", strconv.FormatInt(p.created, 10),
		"isNAL", "true", "fullConversationHeadersOnly", "[]", "conversationState", `"~"`)
	rows := [][]any{{"composerData:" + p.ID, composer}, {"agentKv:checkpoint:" + p.ID, g.Root}}
	for _, b := range g.Blobs {
		rows = append(rows, []any{"agentKv:blob:" + b.ID, b.Data})
	}
	table := func(name string, rows [][]any) Table {
		sql := "CREATE TABLE " + name + " (key TEXT UNIQUE ON CONFLICT REPLACE, value BLOB)"
		return Table{Name: name, Columns: []string{"key", "value"}, SQL: sql, Rows: rows}
	}
	to := filepath.Join(dir, "User")
	list := []Table{table("ItemTable", nil), table("cursorDiskKV", rows)}
	return to, WriteDB(ctx, filepath.Join(to, "globalStorage", "state.vscdb"), 0, list)
}
