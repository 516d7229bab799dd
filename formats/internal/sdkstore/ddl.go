package sdkstore

import (
	"slices"
	"strings"

	"rehome/formats/internal/sdkdoc"
	"rehome/formats/internal/storecheck"
	"rehome/formats/store"
)

// Design is everything of a database but its rows.
type Design struct {
	Pragmas store.Pragmas       `json:"pragmas"`
	Objects []store.Object      `json:"objects"`
	Tables  []store.TableSchema `json:"tables"`
}

// The statements are what version 1.0.32 of the SDK leaves in sqlite_schema,
// indentation and all, so that a database of ours is one of its own.
const (
	agentsSQL = `CREATE TABLE agents (
       agent_id TEXT PRIMARY KEY,
       workspace_ref TEXT NOT NULL,
       status TEXT NOT NULL,
       active_run_id TEXT,
       latest_checkpoint_ref_json TEXT,
       name TEXT,
       metadata_json TEXT NOT NULL DEFAULT '{}',
       created_at TEXT NOT NULL,
       updated_at TEXT NOT NULL
     )`
	runsSQL = `CREATE TABLE runs (
       run_id TEXT PRIMARY KEY,
       request_id TEXT,
       agent_id TEXT NOT NULL REFERENCES agents(agent_id),
       turn_number INTEGER NOT NULL,
       status TEXT NOT NULL,
       model TEXT,
       model_params_json TEXT,
       start_checkpoint_ref_json TEXT,
       latest_checkpoint_ref_json TEXT,
       error_code TEXT,
       usage_ref TEXT,
       usage_json TEXT,
       result TEXT,
       created_at TEXT NOT NULL,
       updated_at TEXT NOT NULL,
       started_at TEXT,
       finished_at TEXT,
       cancelled_at TEXT,
       expired_at TEXT,
       UNIQUE(agent_id, turn_number)
     )`
	eventsSQL = `CREATE TABLE run_events (
       run_id TEXT NOT NULL,
       seq INTEGER NOT NULL,
       offset TEXT NOT NULL,
       event_type TEXT NOT NULL,
       payload_json TEXT,
       payload_ref TEXT,
       idempotency_key TEXT,
       created_at TEXT NOT NULL,
       PRIMARY KEY (run_id, seq),
       UNIQUE(run_id, offset)
     )`
	eventsIndexSQL = `CREATE UNIQUE INDEX run_events_idempotency_key_idx
      ON run_events (run_id, idempotency_key)
      WHERE idempotency_key IS NOT NULL`
	// Version 1.0.14 has no request_id and no usage_json; later ones add them.
	DeclaredSQL = "PRAGMA user_version = 0;\n" + agentsSQL + ";\n" + runsSQL + ";\n" + eventsSQL + ";\n" + eventsIndexSQL + ";\n"
)

// indexDesign is a catalog as the SDK makes it.
func indexDesign() *Design {
	d := &Design{Pragmas: store.Pragmas{PageSize: 4096, Encoding: "UTF-8", JournalMode: "wal"}}
	for k, sql := range []string{agentsSQL, runsSQL, eventsSQL} {
		kind := sdkdoc.Kind(k)
		d.Objects = append(d.Objects, store.Object{Type: "table", Name: kind.Table(), Table: kind.Table(), SQL: sql})
		d.Tables = append(d.Tables, store.TableSchema{Name: kind.Table(), Columns: kind.Columns(), RowIDs: true})
	}
	d.Objects = append(d.Objects, store.Object{Type: "index", Name: "run_events_idempotency_key_idx", Table: "run_events", SQL: eventsIndexSQL})
	return d
}

// storeDesign is an agent's database as the SDK makes it.
func storeDesign() *Design {
	return &Design{
		Pragmas: store.Pragmas{PageSize: 4096, Encoding: "UTF-8", JournalMode: "wal", UserVersion: 1},
		Objects: []store.Object{{Type: "table", Name: "blobs", Table: "blobs", SQL: storecheck.BlobsSQL}, {Type: "table", Name: MetaTable, Table: MetaTable, SQL: storecheck.MetaSQL}},
		Tables:  []store.TableSchema{{Name: "blobs", Columns: []string{"id", "data"}, RowIDs: true}, {Name: MetaTable, Columns: []string{"key", "value"}, RowIDs: true}},
	}
}

// MetaTable is the table of an agent's database that says whose it is.
const MetaTable = "meta"

// DesignOf is the design of a database that is there.
func DesignOf(db Database) *Design { return &Design{db.Pragmas(), db.Objects(), db.Tables()} }

func (d *Design) equal(o *Design) bool {
	return d.Pragmas == o.Pragmas && slices.Equal(d.Objects, o.Objects)
}

// Table finds a table; SQLite does not mind the case of names.
func (d *Design) Table(name string) (store.TableSchema, bool) {
	for _, t := range d.Tables {
		if strings.EqualFold(t.Name, name) {
			return t, true
		}
	}
	return store.TableSchema{}, false
}

// Columns pairs the columns of a table with those of a kind's rows.
type Columns struct {
	kind  sdkdoc.Kind
	of    []int // column of the table by column of the row, -1 where the table lacks it
	OfRow []int // column of the row by column of the table, -1 where it is a stranger
}

// Row adds to cells those of a row, in the order of the kind. A column that the
// table lacks is NULL.
func (c *Columns) Row(cells []store.Cell, b *store.Batch, i int) []store.Cell {
	for _, col := range c.of {
		if col < 0 {
			cells = append(cells, store.NullCell())
		} else {
			cells = append(cells, b.Cell(i, col))
		}
	}
	return cells
}

// Pair pairs the columns of a table with those of a kind.
func Pair(k sdkdoc.Kind, t store.TableSchema) Columns {
	c := Columns{kind: k, of: make([]int, len(k.Columns())), OfRow: make([]int, len(t.Columns))}
	for i := range c.OfRow {
		c.OfRow[i] = -1
	}
	for i, name := range k.Columns() {
		c.of[i] = store.FindColumn(t.Columns, name)
		if k == sdkdoc.Checkpoint && i == sdkdoc.BlobAgent {
			c.of[i] = -1 // the database itself says whose it is
		}
		if c.of[i] >= 0 {
			c.OfRow[c.of[i]] = i
		}
	}
	return c
}
