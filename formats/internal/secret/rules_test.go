package secret

import (
	"encoding/hex"
	"fmt"
	"slices"
	"strings"
	"testing"

	"rehome/formats"
	"rehome/formats/loss"
	"rehome/formats/store"
)

// planted is the secret of all tests: where it turns up, something leaks.
const planted = "S3cr3t-0f-all-tests"

// table is a set of a database with rows as they come from its reader.
type table struct {
	store.Set
	ids  []int64
	rows [][]store.Cell
}

func tableOf(name, columns string, rows ...[]store.Cell) table {
	t := table{Set: store.Set{File: "state.vscdb", Name: name, Columns: strings.Fields(columns), RowIDs: true}, rows: rows}
	for i := range rows {
		t.ids = append(t.ids, int64(10*(i+1)))
	}
	return t
}

func text(s string) store.Cell { return store.TextCell([]byte(s)) }
func blob(s string) store.Cell { return store.BlobCell([]byte(s)) }

// result is what came of one scan.
type result struct {
	tables  []table
	omitted []store.Item
	notes   []loss.Note
}

// scan leads tables through a filter, step rows at a time.
func scan(tables []table, mode formats.SecretMode, residue []store.Item, step int) (out result) {
	schema := &store.Schema{}
	for _, t := range tables {
		schema.Sets = append(schema.Sets, t.Set)
	}
	f := NewFilter(schema, formats.View{
		Secrets: mode, Residue: residue,
		Omitted: func(i store.Item) { out.omitted = append(out.omitted, i) },
		Note:    func(n loss.Note) { out.notes = append(out.notes, n) },
	})
	for i, t := range tables {
		got := table{Set: t.Set}
		take := func(b *store.Batch) {
			for row := range b.Rows() {
				var cells []store.Cell
				for col := range b.Width() {
					cells = append(cells, b.Cell(row, col))
				}
				got.ids, got.rows = append(got.ids, b.RowID(row)), append(got.rows, owned(cells))
			}
			b.Release()
		}
		for from := 0; from < len(t.rows); from += step {
			b := store.NewBatch(i, len(t.Columns))
			for row := from; row < min(from+step, len(t.rows)); row++ {
				addRow(b, t.ids[row], t.rows[row])
			}
			take(f.Apply(b))
		}
		if b := f.Flush(i); b != nil {
			take(b)
		}
		out.tables = append(out.tables, got)
	}
	return out
}

// show spells tables out, for comparing and for searching.
func show(tables []table) string {
	var s strings.Builder
	for _, t := range tables {
		for i, row := range t.rows {
			fmt.Fprintf(&s, "%s#%d", t.Name, t.ids[i])
			for _, c := range row {
				fmt.Fprintf(&s, " %v:%d:%s", c.Class, c.Bits(), c.Bytes())
				if b, err := hex.DecodeString(string(c.Bytes())); err == nil && len(b) > 0 {
					fmt.Fprintf(&s, "(%s)", b)
				}
			}
			s.WriteByte('\n')
		}
	}
	return s.String()
}

func (r result) show() string {
	var s strings.Builder
	s.WriteString(show(r.tables))
	for _, i := range r.omitted {
		fmt.Fprintf(&s, "omitted %v column %d inserts %+v row %s", i.At, i.Column, i.Inserts, show([]table{{rows: [][]store.Cell{i.Row}, ids: []int64{0}}}))
	}
	for _, n := range r.notes {
		fmt.Fprintf(&s, "%v %v %s %q\n", n.Kind, n.At, n.What, n.At.Key.Bytes())
	}
	return s.String()
}

func (r result) books() string {
	var out []string
	for _, n := range r.notes {
		out = append(out, n.What)
	}
	return strings.Join(out, "; ")
}

func TestEachRule(t *testing.T) {
	member := `{"a":1,"blobEncryptionKey":"` + planted + `"}`
	marked := `{"a":1,"blobEncryptionKey":"rehome:withheld"}`
	both := `{"speculativeSummarizationEncryptionKey":"` + planted + `","x":[{"blobEncryptionKey":"` + planted + `"}]}`
	const head = "secret left at home: "
	for name, c := range map[string]struct {
		table    table
		col      int
		withheld string // the cell afterwards, "-" for a withheld one
		books    string
		omitted  string // the cell without markers, "-" for no row
	}{
		"auth":        {tableOf("ItemTable", "key value", []store.Cell{text("cursorAuth/accessToken"), text(planted)}), 1, "-", head + "ItemTable cursorAuth/*", "-"},
		"auth blob":   {tableOf("ITEMTABLE", "Key VALUE", []store.Cell{blob("cursorAuth/x"), blob(planted)}), 1, "-", head + "ItemTable cursorAuth/*", "-"},
		"secret":      {tableOf("itemtable", "key value", []store.Cell{text(`secret://{"key":"x"}`), text(planted)}), 1, "-", head + "ItemTable secret://*", "-"},
		"number":      {tableOf("ItemTable", "key value", []store.Cell{text("secret://pin"), store.IntCell(1234)}), 1, "-", head + "ItemTable secret://*", "-"},
		"kv auth":     {tableOf("cursorDiskKV", "key value", []store.Cell{text("cursorAuth/x"), blob(planted)}), 1, "-", head + "cursorDiskKV cursorAuth/*", "-"},
		"kv secret":   {tableOf("cursorDiskKV", "key value", []store.Cell{text("secret://x"), blob(planted)}), 1, "-", head + "cursorDiskKV secret://*", "-"},
		"other order": {tableOf("ItemTable", "value key", []store.Cell{text(planted), text("secret://x")}), 0, "-", head + "ItemTable secret://*", "-"},
		"item json":   {tableOf("ItemTable", "key value", []store.Cell{text("some.state"), text(member)}), 1, marked, head + "ItemTable blobEncryptionKey", `{"a":1}`},
		"composer": {tableOf("cursorDiskKV", "key value", []store.Cell{text("composerData:1"), text(both)}), 1,
			`{"speculativeSummarizationEncryptionKey":"rehome:withheld","x":[{"blobEncryptionKey":"rehome:withheld"}]}`,
			head + "cursorDiskKV speculativeSummarizationEncryptionKey; " + head + "cursorDiskKV blobEncryptionKey", `{"x":[{}]}`},
		"composer blob": {tableOf("CursorDiskKV", "key value", []store.Cell{store.NullCell(), blob(member)}), 1, marked, head + "cursorDiskKV blobEncryptionKey", `{"a":1}`},
		"headers":       {tableOf("composerHeaders", "composerId workspaceId value", []store.Cell{text("c"), text("w"), text(member)}), 2, marked, head + "composerHeaders blobEncryptionKey", `{"a":1}`},
		"meta hex": {tableOf("meta", "key value", []store.Cell{text("0"), text(hex.EncodeToString([]byte(member)))}), 1,
			hex.EncodeToString([]byte(marked)), head + "meta blobEncryptionKey", hex.EncodeToString([]byte(`{"a":1}`))},
		"meta upper": {tableOf("meta", "key value", []store.Cell{text("0"), blob(strings.ToUpper(hex.EncodeToString([]byte(member))))}), 1,
			strings.ToUpper(hex.EncodeToString([]byte(marked))), head + "meta blobEncryptionKey", strings.ToUpper(hex.EncodeToString([]byte(`{"a":1}`)))},
		"meta plain":      {tableOf("meta", "key value", []store.Cell{text("0"), text(member)}), 1, marked, head + "meta blobEncryptionKey", `{"a":1}`},
		"agents":          {tableOf("agents", "agent_id metadata_json name", []store.Cell{text("a"), text(member), text("n")}), 1, marked, head + "agents blobEncryptionKey", `{"a":1}`},
		"key in capitals": {tableOf("ItemTable", "key value", []store.Cell{text("CursorAUTH/x"), text(planted)}), 1, "-", head + "ItemTable cursorAuth/*", "-"},
		"key of bytes":    {tableOf("cursorDiskKV", "key value", []store.Cell{blob("SECRET://x"), blob(planted)}), 1, "-", head + "cursorDiskKV secret://*", "-"},
		"member in capitals": {tableOf("cursorDiskKV", "key value", []store.Cell{text("composerData:1"), text(`{"BLOBEncryptionKey":"` + planted + `","BLOBENCRYPTIONKEY":["` + planted + `"]}`)}), 1,
			`{"BLOBEncryptionKey":"rehome:withheld","BLOBENCRYPTIONKEY":"rehome:withheld"}`, head + "cursorDiskKV blobEncryptionKey; " + head + "cursorDiskKV blobEncryptionKey", `{}`},
		"member in small letters": {tableOf("agents", "agent_id metadata_json", []store.Cell{text("a"), text(strings.ToLower(member))}), 1,
			`{"a":1,"blobencryptionkey":"rehome:withheld"}`, head + "agents blobEncryptionKey", `{"a":1}`},
		"item hex": {tableOf("ItemTable", "key value", []store.Cell{text("x"), text(hex.EncodeToString([]byte(member)))}), 1,
			hex.EncodeToString([]byte(marked)), head + "ItemTable blobEncryptionKey", hex.EncodeToString([]byte(`{"a":1}`))},
		"kv hex": {tableOf("cursorDiskKV", "key value", []store.Cell{text("agentKv:blob:1"), blob(strings.ToUpper(hex.EncodeToString([]byte(member))))}), 1,
			strings.ToUpper(hex.EncodeToString([]byte(marked))), head + "cursorDiskKV blobEncryptionKey", strings.ToUpper(hex.EncodeToString([]byte(`{"a":1}`)))},
		"torn kv hex": {tableOf("cursorDiskKV", "key value", []store.Cell{text("x"), text(" x'" + hex.EncodeToString([]byte(strings.ToUpper(member))))}), 1, "-",
			head + "cursorDiskKV in a cell that is not whole JSON", "-"},
		"torn capitals": {tableOf("cursorDiskKV", "key value", []store.Cell{text("x"), text(`{"BlobEncryptionKEY":"` + planted)}), 1, "-",
			head + "cursorDiskKV in a cell that is not whole JSON", "-"},
		"torn": {tableOf("cursorDiskKV", "key value", []store.Cell{text("composerData:1"), text(member[:len(member)-3])}), 1, "-",
			head + "cursorDiskKV in a cell that is not whole JSON", "-"},
		"torn hex": {tableOf("meta", "key value", []store.Cell{text("0"), text(hex.EncodeToString([]byte(member)) + "7")}), 1, "-",
			head + "meta in a cell that is not whole JSON", "-"},
		"torn escaped": {tableOf("agents", "agent_id metadata_json", []store.Cell{text("a"), text(`{"blob\u0045ncryption\u004bey":"` + planted)}), 1, "-",
			head + "agents in a cell that is not whole JSON", "-"},
	} {
		t.Run(name, func(t *testing.T) {
			first := scan([]table{c.table}, formats.WithholdSecrets, nil, 1)
			if got := cellText(first.tables[0], c.col); got != c.withheld {
				t.Errorf("withheld: %s, want %s", got, c.withheld)
			}
			if got := first.books(); got != c.books {
				t.Errorf("books: %s, want %s", got, c.books)
			}
			second := scan(first.tables, formats.OmitWithheld, nil, 1)
			if got := cellText(second.tables[0], c.col); got != c.omitted {
				t.Errorf("omitted: %s, want %s", got, c.omitted)
			}
			if len(second.omitted) == 0 || len(second.notes) > 0 {
				t.Errorf("%d omitted, %d notes", len(second.omitted), len(second.notes))
			}
			third := scan(second.tables, formats.WithholdSecrets, second.omitted, 1)
			if got, want := show(third.tables), show(first.tables); got != want {
				t.Errorf("put back: %s, want %s", got, want)
			}
			if len(third.notes) > 0 {
				t.Errorf("put back, but booked: %s", third.books())
			}
			if all := first.show() + second.show() + third.show(); strings.Contains(all, planted) {
				t.Errorf("the secret leaks:\n%s", all)
			}
			kept := scan([]table{c.table}, formats.KeepSecrets, nil, 1)
			if show(kept.tables) != show([]table{c.table}) || len(kept.notes) > 0 {
				t.Errorf("kept secrets are not kept")
			}
		})
	}
}

// cellText is the cell of the first row; "-" if the row or its value is gone.
func cellText(t table, col int) string {
	if len(t.rows) == 0 || t.rows[0][col].Class == store.Withheld {
		return "-"
	}
	return string(t.rows[0][col].Bytes())
}

// What looks like a rule's business and is not.
func TestNoRule(t *testing.T) {
	for name, c := range map[string]table{
		"other table":  tableOf("other", "key value", []store.Cell{text("cursorAuth/x"), text(`{"blobEncryptionKey":"x"}`)}),
		"other column": tableOf("ItemTable", "key other", []store.Cell{text("cursorAuth/x"), text(`{"blobEncryptionKey":"x"}`)}),
		"other key":    tableOf("ItemTable", "key value", []store.Cell{text("mycursorAuth/x"), text(`x`)}),
		"null":         tableOf("ItemTable", "key value", []store.Cell{text("cursorAuth/x"), store.NullCell()}),
		"said":         tableOf("cursorDiskKV", "key value", []store.Cell{text("bubbleId:1"), text(`{"text":"the blobEncryptionKey: and \"blobEncryptionKey\":1"}`)}),
		"other name":   tableOf("cursorDiskKV", "key value", []store.Cell{text("bubbleId:1"), text(`{"blobEncryptionKeys":"x","blob-encryption-key":"x"}`)}),
		"digits":       tableOf("cursorDiskKV", "key value", []store.Cell{text("bubbleId:1"), text(hex.EncodeToString([]byte(`{"id":"blobEncryptionKey"}`)))}),
		"program":      tableOf("cursorDiskKV", "key value", []store.Cell{text("agentKv:blob:1"), text("const blobEncryptionKey = f()\n")}),
		"nothing":      tableOf("cursorDiskKV", "key value", []store.Cell{text("composerData:1"), text(`{"blobEncryptionKey":null,"x":{"blobEncryptionKey":""}}`)}),
		"plain file":   {Set: store.Set{File: "meta", Name: "meta", Kind: store.Plain, Columns: []string{"value"}}, ids: []int64{0}, rows: [][]store.Cell{{blob(`{"blobEncryptionKey":"x"}`)}}},
	} {
		t.Run(name, func(t *testing.T) {
			for _, mode := range []formats.SecretMode{formats.KeepSecrets, formats.WithholdSecrets, formats.OmitWithheld} {
				got := scan([]table{c}, mode, nil, 1)
				if show(got.tables) != show([]table{c}) || len(got.notes)+len(got.omitted) > 0 {
					t.Errorf("mode %d: %s", mode, got.show())
				}
			}
		})
	}
}

// A marker that stands anywhere else is text like any other.
func TestForeignMarkers(t *testing.T) {
	c := tableOf("cursorDiskKV", "key value",
		[]store.Cell{text("bubbleId:1"), text(`{"text":"rehome:withheld","x":["rehome:withheld"],"blobEncryptionKey":"rehome:withheld "}`)},
		[]store.Cell{text("bubbleId:2"), text(Marker)})
	if got := scan([]table{c, tableOf("other", "value", []store.Cell{text(`{"blobEncryptionKey":"rehome:withheld"}`)})}, formats.OmitWithheld, nil, 9); len(got.omitted) > 0 || len(got.tables[0].rows)+len(got.tables[1].rows) != 3 {
		t.Error(got.show())
	}
	c = tableOf("other", "a b", []store.Cell{text("x"), store.WithheldCell()}, []store.Cell{text("y"), text("z")})
	if got := scan([]table{c}, formats.OmitWithheld, nil, 9); len(got.omitted) != 1 || len(got.tables[0].rows) != 1 {
		t.Error("a withheld cell may not reach a client, whatever its table:", got.show())
	}
}

func TestRulesAreWellFormed(t *testing.T) {
	for i, r := range Rules() {
		if r.Whole == (len(r.Members) > 0) || r.Whole && r.KeyPrefix == "" {
			t.Errorf("rule %d: %+v", i, r)
		}
		for _, m := range r.Members {
			// suspect and unescaped rely on it.
			if strings.Trim(strings.ToLower(m), "abcdefghijklmnopqrstuvwxyz") != "" || len(m) < 8 {
				t.Errorf("member %q is not made of letters", m)
			}
		}
		if !r.Whole && slices.ContainsFunc(Rules()[:i], func(o Rule) bool { return !o.Whole && o.Set == r.Set && o.Column == r.Column }) {
			t.Errorf("two member rules for %s.%s: their residue would guard the same cell", r.Set, r.Column)
		}
	}
}
