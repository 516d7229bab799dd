package graphgen

import (
	"context"
	"crypto/md5"
	"encoding/hex"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
)

const (
	blobsSQL = "CREATE TABLE blobs (id TEXT PRIMARY KEY, data BLOB)"
	metaSQL  = "CREATE TABLE meta (key TEXT PRIMARY KEY, value TEXT)"
)

// Odd is what may be put into a store beyond what clients write, to see that
// it is not lost; what is empty is not there.
type Odd struct {
	Blob   []byte // one more blob
	Row    string // one more row of meta: its value
	Table  string // one more table, and its one cell
	Column string // one more column of every table, and its value
}

// storeTables are an agent's database.
func (p *Plan) storeTables(g *Graph, root string, o Odd) []Table {
	meta := jsonText("agentId", quote(p.ID), "latestRootBlobId", quote(root), "name", quote(p.Name), "mode", `"default"`, "isRunEverything", "false", "createdAt", strconv.FormatInt(p.created, 10),
		"lastUsedModel", quote(p.Model), "blobEncryptionKey", quote(p.key))
	meta = g.odd.outer(meta)
	blobs := Table{Name: "blobs", Columns: []string{"id", "data"}, SQL: blobsSQL}
	for _, b := range g.Blobs {
		blobs.Rows = append(blobs.Rows, []any{b.ID, b.Data})
	}
	if o.Blob != nil {
		extra := &Graph{at: map[string]int{}}
		extra.Put(o.Blob)
		blobs.Rows = append(blobs.Rows, []any{extra.Blobs[0].ID, o.Blob})
	}
	values := Table{Name: "meta", Columns: []string{"key", "value"}, SQL: metaSQL, Rows: [][]any{{"0", hex.EncodeToString([]byte(meta))}}}
	if o.Row != "" {
		values.Rows = append(values.Rows, []any{"odd", o.Row})
	}
	return o.tables(blobs, values)
}

// tables adds a column to each, and a table.
func (o Odd) tables(list ...Table) []Table {
	if o.Column != "" {
		for i := range list {
			t := &list[i]
			t.Columns = append(t.Columns, "odd")
			t.SQL = addColumn(t.SQL)
			for r := range t.Rows {
				t.Rows[r] = append(t.Rows[r], o.Column)
			}
		}
	}
	if o.Table != "" {
		list = append(list, Table{Name: "odd", Columns: []string{"a"}, SQL: "CREATE TABLE odd (a TEXT)", Rows: [][]any{{o.Table}}})
	}
	return list
}

// addColumn puts one more column in front of the first constraint of the table,
// or at its end.
func addColumn(sql string) string {
	for i := 0; i+9 < len(sql); i++ {
		if rest := sql[i:]; rest[:8] == ", UNIQUE" || len(rest) > 9 && rest[:9] == ", PRIMARY" {
			return sql[:i] + ", odd TEXT" + rest
		}
	}
	return sql[:len(sql)-1] + ", odd TEXT)"
}

// WriteChat writes the plan as a chat of the command line client, below a
// folder of chats, and gives the folder of its store.
func (p *Plan) WriteChat(ctx context.Context, chats string, g *Graph, o Odd) (string, error) {
	dir := filepath.Join(chats, fmt.Sprintf("%x", md5.Sum([]byte(p.Cwd))), p.ID)
	at := filepath.Join(dir, "store.db")
	if err := WriteDB(ctx, at, 1, p.storeTables(g, g.Root, o)); err != nil {
		return "", err
	}
	meta := jsonText("schemaVersion", "1", "createdAtMs", strconv.FormatInt(p.created, 10), "updatedAtMs", strconv.FormatInt(p.updated, 10), "hasConversation", "true", "cwd", quote(p.Cwd), "title", quote(p.Name))
	meta = g.odd.outer(meta)
	return dir, os.WriteFile(filepath.Join(dir, "meta.json"), []byte(meta), 0o644)
}
