package into

import (
	"context"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"hash"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"rehome/formats"
	"rehome/formats/internal/sqlitefile"
	"rehome/formats/store"
)

// table is a table of index.db: which of its rows are those of an agent, in which
// order they are compared, and what must be there for that.
type table struct{ name, rows, key string }

// tables returns the tables of index.db, those that others refer to first.
func tables() [3]table {
	return [3]table{
		{"agents", "agent_id=?1", "agent_id"},
		{"runs", "agent_id=?1", "run_id"},
		{"run_events", "run_id IN (SELECT run_id FROM %[1]s.runs WHERE agent_id=?1)", "run_id, seq"},
	}
}

// where returns the condition for the rows of an agent.
func (t table) where(schema string) string { return strings.ReplaceAll(t.rows, "%[1]s", schema) }

// columns are the columns of each table.
type columns struct {
	all    [3][]string // of index.db
	common [3][]string // that the added rows have, too
}

func columnsOf(ctx context.Context, e *sqlitefile.Editor, schema string) (out [3][]string, err error) {
	for i, t := range tables() {
		if out[i], err = e.Columns(ctx, schema, t.name); err != nil {
			return out, err
		}
		if len(out[i]) == 0 {
			return out, fmt.Errorf("no table %s", t.name)
		}
		slices.Sort(out[i])
	}
	return out, nil
}

// columns compares the tables with those of the added rows. What the store lacks stays
// out: the client adds columns itself when it needs them.
func (x *addition) columns(ctx context.Context) (c columns, err error) {
	refuse := func(err error) (columns, error) {
		return c, &formats.Error{At: x.index(), Err: err, Hint: "this store is not as the SDK creates it: migrate to another folder with --cwd DIR"}
	}
	if c.all, err = columnsOf(ctx, x.Editor, "main"); err != nil {
		return refuse(err)
	}
	row, err := x.One(ctx, "SELECT +name FROM main.sqlite_schema WHERE type='trigger' AND lower(tbl_name) IN ('agents', 'runs', 'run_events')")
	if err != nil {
		return c, err
	}
	if row != nil {
		return refuse(fmt.Errorf("trigger %q would change other rows", row[0].Bytes()))
	}
	added, err := columnsOf(ctx, x.Editor, sqlitefile.Attached)
	if err != nil {
		return refuse(err)
	}
	for i, t := range tables() {
		for _, name := range added[i] {
			if slices.Contains(c.all[i], name) {
				c.common[i] = append(c.common[i], name)
				continue
			}
			row, err := x.One(ctx, "SELECT 1 FROM "+sqlitefile.Attached+"."+t.name+" WHERE "+quote(name)+" IS NOT NULL")
			if err != nil {
				return c, err
			}
			if row != nil {
				x.out.Left = append(x.out.Left, t.name+"."+name)
			}
		}
	}
	return c, nil
}

func quote(name string) string { return `"` + strings.ReplaceAll(name, `"`, `""`) + `"` }

// list returns columns for SQL, each with a prefix.
func list(names []string, prefix string) string {
	out := make([]string, len(names))
	for i, n := range names {
		out[i] = prefix + quote(n)
	}
	return strings.Join(out, ", ")
}

// digest returns a digest of all rows of an agent, "" if there are none. Columns that
// are NULL do not count: the client adds columns to a store that it opens.
func digest(ctx context.Context, e *sqlitefile.Editor, schema string, cols [3][]string, id string) (string, error) {
	sum, n := sha256.New(), 0
	for i, t := range tables() {
		for row, err := range e.Rows(ctx, "SELECT "+list(cols[i], "+")+" FROM "+schema+"."+t.name+" WHERE "+t.where(schema)+" ORDER BY "+t.key, id) {
			if err != nil {
				return "", err
			}
			n++
			sum.Write([]byte{byte(i)})
			for k, c := range row {
				if c.Class != store.Null {
					writeCell(sum, cols[i][k], c)
				}
			}
		}
	}
	if n == 0 {
		return "", nil
	}
	return hex.EncodeToString(sum.Sum(nil)), nil
}

func writeCell(sum hash.Hash, name string, c store.Cell) {
	var head []byte
	for _, n := range []uint64{uint64(len(name)), uint64(c.Class), c.Bits(), uint64(len(c.Bytes()))} {
		head = binary.AppendUvarint(head, n)
	}
	sum.Write(append(head, name...))
	sum.Write(c.Bytes())
}

// fingerprint returns a digest of what every continuation of an agent changes.
func fingerprint(ctx context.Context, e *sqlitefile.Editor, id string) (string, error) {
	sum := sha256.New()
	row, err := e.One(ctx, "SELECT +latest_checkpoint_ref_json FROM main.agents WHERE agent_id=?1", id)
	if err != nil {
		return "", err
	}
	var ref struct {
		BlobID string `json:"blobId"`
	}
	if row != nil {
		_ = json.Unmarshal(row[0].Bytes(), &ref) // "" if it is not valid
	}
	fmt.Fprintf(sum, "%q\n", ref.BlobID)
	for row, err := range e.Rows(ctx, "SELECT +run_id, +turn_number FROM main.runs WHERE agent_id=?1 ORDER BY turn_number, run_id", id) {
		if err != nil {
			return "", err
		}
		fmt.Fprintf(sum, "%q %d\n", row[0].Bytes(), row[1].Int())
	}
	return hex.EncodeToString(sum.Sum(nil)[:16]), nil
}

// standing returns what the store has of an agent.
func (x *addition) standing(ctx context.Context, id string) (formats.Standing, error) {
	row, err := x.One(ctx, "SELECT +metadata_json FROM main.agents WHERE agent_id=?1", id)
	if err != nil {
		return "", err
	}
	if row == nil {
		return formats.Absent, x.refuseTaken(ctx, id)
	}
	var meta struct {
		Rehome *struct {
			Wrote string `json:"wrote"`
		} `json:"rehome"`
	}
	_ = json.Unmarshal(row[0].Bytes(), &meta) // another program's, if it is not valid
	is, err := digest(ctx, x.Editor, "main", x.cols.all, id)
	if err != nil {
		return "", err
	}
	want, err := digest(ctx, x.Editor, sqlitefile.Attached, x.cols.common, id)
	if err != nil {
		return "", err
	}
	print, err := fingerprint(ctx, x.Editor, id)
	switch {
	case err != nil:
		return "", err
	case is == want:
		return formats.Same, nil
	case meta.Rehome == nil:
		return formats.Foreign, nil
	case meta.Rehome.Wrote != print:
		return formats.Continued, nil
	}
	return formats.Older, nil
}

// refuseTaken refuses runs that other agents have: a run's id is unique in a store.
func (x *addition) refuseTaken(ctx context.Context, id string) error {
	row, err := x.One(ctx, "SELECT +main.runs.run_id, +main.runs.agent_id FROM main.runs JOIN "+sqlitefile.Attached+".runs AS n ON n.run_id=main.runs.run_id WHERE n.agent_id=?1 AND main.runs.agent_id<>?1", id)
	if err != nil || row == nil {
		return err
	}
	return &formats.Error{At: x.index(), Pointer: "runs", Err: fmt.Errorf("run %s already belongs to agent %s", row[0].Bytes(), row[1].Bytes()), Hint: "migrate to another folder with --cwd DIR"}
}

// replaceRows replaces the rows of an agent by the added ones.
func (x *addition) replaceRows(ctx context.Context, id string) error {
	if err := deleteRows(ctx, x.Editor, id); err != nil {
		return err
	}
	order := tables()
	for i, t := range order {
		names := list(x.cols.common[i], "")
		if _, err := x.Exec(ctx, "INSERT INTO main."+t.name+" ("+names+") SELECT "+names+" FROM "+sqlitefile.Attached+"."+t.name+" WHERE "+t.where(sqlitefile.Attached)+" ORDER BY rowid", id); err != nil {
			return err
		}
	}
	return nil
}

func deleteRows(ctx context.Context, e *sqlitefile.Editor, id string) error {
	order := tables()
	for _, i := range []int{2, 1, 0} {
		if _, err := e.Exec(ctx, "DELETE FROM main."+order[i].name+" WHERE "+order[i].where("main"), id); err != nil {
			return err
		}
	}
	return nil
}

// rowsName is the database of an undo record with the rows that were replaced.
const rowsName = "rows.db"

// keepRows copies the rows of agents to the undo record, with their row ids.
func (x *addition) keepRows(ctx context.Context, ids []string) error {
	dir, err := x.Log.Dir()
	if err != nil {
		return err
	}
	to := filepath.Join(dir, rowsName)
	if err := os.WriteFile(to, nil, 0o600); err != nil {
		return err
	}
	e, err := sqlitefile.Edit(ctx, to, x.index())
	if err != nil {
		return err
	}
	for i, t := range tables() {
		names := list(x.cols.all[i], "")
		_, e1 := e.Exec(ctx, "CREATE TABLE main."+t.name+" (rehome_row, "+names+")")
		err = errors.Join(err, e1)
		for _, id := range ids {
			if err == nil {
				_, err = e.Exec(ctx, "INSERT INTO main."+t.name+" (rehome_row, "+names+") SELECT rowid, "+names+" FROM "+sqlitefile.Attached+"."+t.name+" WHERE "+t.where(sqlitefile.Attached)+" ORDER BY rowid", id)
			}
		}
	}
	if err == nil {
		err = e.Commit(ctx)
	}
	return errors.Join(err, e.Close())
}
