package secret

import (
	"encoding/hex"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"rehome/formats"
	"rehome/formats/internal/digest"
	"rehome/formats/loss"
	"rehome/formats/store"
	"rehome/internal/rawjson"
)

// randomJSON makes JSON with secret members at odd places, oddly spelled.
func randomJSON(r *rand.Rand, depth int, more ...string) string {
	pick := func(s ...string) string { return s[r.IntN(len(s))] }
	blank := func() string { return pick("", "", "", " ", "\n  ", "\t") }
	switch n := r.IntN(8); {
	case depth > 3 || n == 0:
		return pick(`1`, `null`, `"x"`, `[]`, `{}`, `"{\"blobEncryptionKey\":1}"`, `"\u0041"`, `1e5`)
	case n < 3:
		var parts []string
		for range r.IntN(4) {
			parts = append(parts, blank()+randomJSON(r, depth+1, more...)+blank())
		}
		return "[" + strings.Join(parts, ",") + "]"
	}
	var parts []string
	for range r.IntN(6) {
		name, value := pick(`"a"`, `"b"`, `""`), ""
		if r.IntN(2) == 0 {
			name = pick(append(more, `"blobEncryptionKey"`, `"speculativeSummarizationEncryptionKey"`, `"\u0062lobEncryptionKey"`, `"blobEncr\u0079ption\u004bey"`)...)
			value = pick(`"`+planted+`"`, `"`+planted+`"`, `{"k":["`+planted+`",{"blobEncryptionKey":"`+planted+`"}]}`, Marker, `null`)
		} else {
			value = randomJSON(r, depth+1, more...)
		}
		parts = append(parts, blank()+name+blank()+":"+blank()+value+blank())
	}
	return "{" + strings.Join(parts, ",") + "}"
}

// randomStore has every kind of set there are rules for.
func randomStore(r *rand.Rand) []table {
	cell := func(s string) store.Cell {
		if r.IntN(4) == 0 {
			return blob(s)
		}
		return text(s)
	}
	value := func(table string) store.Cell {
		var more []string
		if table == "ItemTable" || table == "agents" || table == "runs" {
			more = []string{`"api_key"`, `"azure.api\u004bey"`, `"PASSWORD"`, `"credentials"`}
		}
		j := randomJSON(r, 0, more...)
		switch r.IntN(12) {
		case 0:
			return store.NullCell()
		case 1:
			return cell(j[:r.IntN(len(j)+1)]) // torn
		case 2:
			return cell("plain text")
		}
		return cell(j)
	}
	var out []table
	for _, t := range []table{tableOf("ItemTable", "key value"), tableOf("cursorDiskKV", "key value"), tableOf("meta", "key value"),
		tableOf("agents", "agent_id metadata_json"), tableOf("composerHeaders", "composerId value"),
		tableOf("runs", "run_id usage_json"), tableOf("run_events", "run_id payload_json")} {
		t.RowIDs = r.IntN(3) > 0
		id := int64(-5)
		for i := range r.IntN(12) {
			id += 1 + r.Int64N(3)
			t.ids = append(t.ids, id*b2i(t.RowIDs))
			key := fmt.Sprintf("%c%02d", 'a'+i, i)
			v := value(t.Name)
			kept := t.Name == "ItemTable" || t.Name == "cursorDiskKV"
			if kept && r.IntN(3) == 0 {
				key, v = []string{"cursorAuth/", "secret://"}[r.IntN(2)]+key, cell(planted)
			}
			if t.Name == "meta" && r.IntN(2) == 0 {
				v = cell(hex.EncodeToString(v.Bytes()))
			}
			t.rows = append(t.rows, []store.Cell{cell(key), v})
		}
		if !t.RowIDs { // then SQLite gives them in the order of some index
			r.Shuffle(len(t.rows), func(i, j int) { t.rows[i], t.rows[j] = t.rows[j], t.rows[i] })
		}
		out = append(out, t)
	}
	return out
}

func b2i(b bool) int64 {
	if b {
		return 1
	}
	return 0
}

// Withholding, leaving out, and withholding again with the residue gives the
// same bytes, books nothing twice, and never shows a secret.
func TestThereAndBack(t *testing.T) {
	for seed := range uint64(400) {
		r := rand.New(rand.NewPCG(seed, 1))
		source := randomStore(r)
		first := scan(source, formats.WithholdSecrets, nil, 1+r.IntN(5))
		second := scan(first.tables, formats.OmitWithheld, nil, 1+r.IntN(5))
		third := scan(second.tables, formats.WithholdSecrets, second.omitted, 1+r.IntN(5))
		if got, want := show(third.tables), show(first.tables); got != want {
			t.Fatalf("seed %d: %s\nwant\n%s\nbetween\n%s", seed, got, want, second.show())
		}
		if len(third.notes) > 0 {
			t.Fatalf("seed %d: %s", seed, third.books())
		}
		for _, x := range []result{first, second, third} {
			if strings.Contains(x.show(), planted) {
				t.Fatalf("seed %d: the secret leaks\n%s", seed, x.show())
			}
		}
		for _, tab := range second.tables {
			checkNoMarker(t, seed, tab)
		}
		// Residue that is put back and left out again is the same residue.
		fourth := scan(second.tables, formats.OmitWithheld, second.omitted, 3)
		if fourth.show() != second.show() {
			t.Fatalf("seed %d: %s\nwant\n%s", seed, fourth.show(), second.show())
		}
		fifth := scan(second.tables, formats.KeepSecrets, second.omitted, 2)
		if show(fifth.tables) != show(first.tables) {
			t.Fatalf("seed %d: %s\nwant\n%s", seed, show(fifth.tables), show(first.tables))
		}
	}
}

func checkNoMarker(t *testing.T, seed uint64, tab table) {
	for _, row := range tab.rows {
		for _, c := range row {
			rule := bound{Rule: Rule{Hex: strings.EqualFold(tab.Name, "meta")}}
			b, _ := rule.open(c)
			deep := 0
			if tab.Name == "ItemTable" {
				deep = anywhere
			}
			rawjson.Find(b, match(deep), func(m rawjson.Member) bool {
				if string(b[m.From:m.To]) == Marker {
					t.Fatalf("seed %d: %s keeps a marker in %s", seed, tab.Name, b)
				}
				return true
			})
			if c.Class == store.Withheld {
				t.Fatalf("seed %d: %s keeps a withheld cell", seed, tab.Name)
			}
		}
	}
}

func TestStaleResidue(t *testing.T) {
	at := func(id int64) store.Addr {
		return store.Addr{File: "state.vscdb", Set: "ItemTable", RowID: id, HasID: true}
	}
	item := func(id int64, of, put string, offset int) store.SidecarItem {
		return store.SidecarItem{At: at(id), Column: 1, Inserts: []store.Insert{{Offset: offset, Text: put}}, Digest: digest.Cell(text(of))}
	}
	row := func(id int64, key string) store.SidecarItem {
		return store.SidecarItem{At: at(id), Row: []store.Cell{text(key), store.WithheldCell()}}
	}
	now := tableOf("ItemTable", "key value", []store.Cell{text("a"), text(`{}`)}, []store.Cell{text("b"), text(`{"x":1}`)}) // ids 10, 20
	elsewhere := row(5, "c")
	elsewhere.At.File = "other.vscdb"
	narrow := row(5, "c")
	narrow.Row = narrow.Row[:1]
	column := item(10, `{}`, "x", 1)
	column.Column = 2
	for name, c := range map[string]struct {
		residue []store.SidecarItem
		stale   int
		rows    string // ids afterwards
		first   string
	}{
		"fits":           {[]store.SidecarItem{item(10, `{}`, `"k":1`, 1)}, 0, "10 20", `{"k":1}`},
		"edited":         {[]store.SidecarItem{item(10, `{ }`, `"k":1`, 1)}, 1, "10 20", `{}`},
		"other class":    {[]store.SidecarItem{{At: at(10), Column: 1, Inserts: []store.Insert{{Offset: 1, Text: "x"}}, Digest: digest.Cell(blob(`{}`))}}, 1, "10 20", `{}`},
		"gone":           {[]store.SidecarItem{item(11, `{}`, `"k":1`, 1)}, 1, "10 20", `{}`},
		"twice":          {[]store.SidecarItem{item(10, `{}`, `"k":1`, 1), item(10, `{}`, `"k":1`, 1)}, 1, "10 20", `{"k":1}`},
		"offset beyond":  {[]store.SidecarItem{item(10, `{}`, "x", 3)}, 1, "10 20", `{}`},
		"offset below":   {[]store.SidecarItem{item(10, `{}`, "x", -1)}, 1, "10 20", `{}`},
		"no such column": {[]store.SidecarItem{column}, 1, "10 20", `{}`},
		"rows":           {[]store.SidecarItem{row(30, "z"), row(5, "c"), row(15, "d"), row(16, "e")}, 0, "5 10 15 16 20 30", ""},
		"row taken":      {[]store.SidecarItem{row(10, "c"), row(20, "c"), row(25, "d")}, 2, "10 20 25", `{}`},
		"row twice":      {[]store.SidecarItem{row(15, "c"), row(15, "c")}, 1, "10 15 20", `{}`},
		"elsewhere":      {[]store.SidecarItem{elsewhere}, 1, "10 20", `{}`},
		"narrow":         {[]store.SidecarItem{narrow}, 1, "10 20", `{}`},
	} {
		t.Run(name, func(t *testing.T) {
			for _, mode := range []formats.SecretMode{formats.KeepSecrets, formats.WithholdSecrets} {
				for step := 1; step < 4; step++ {
					got := scan([]table{now}, mode, c.residue, step)
					if ids := strings.Trim(fmt.Sprint(got.tables[0].ids), "[]"); ids != c.rows {
						t.Errorf("rows %s, want %s", ids, c.rows)
					}
					if v := cellText(got.tables[0], 1); c.first != "" && v != c.first {
						t.Errorf("cell %s, want %s", v, c.first)
					}
					for _, n := range got.notes {
						if n.Code != loss.StaleEdited {
							t.Errorf("booked: %v", n)
						}
					}
					if len(got.notes) != c.stale {
						t.Errorf("%d stale, want %d", len(got.notes), c.stale)
					}
				}
			}
		})
	}
}

// Where neither row id nor key tells two records apart, each piece of residue
// still goes back once.
func TestResidueOfDoubledKeys(t *testing.T) {
	now := tableOf("ItemTable", "key value", []store.Cell{text("a"), text(`{}`)}, []store.Cell{text("a"), text(`{}`)})
	now.RowIDs, now.ids = false, []int64{0, 0}
	item := store.SidecarItem{At: store.Addr{File: "state.vscdb", Set: "ItemTable", Key: text("a")}, Column: 1,
		Inserts: []store.Insert{{Offset: 1, Text: `"k":1`}}, Digest: digest.Cell(text(`{}`))}
	got := scan([]table{now}, formats.KeepSecrets, []store.SidecarItem{item}, 1)
	if a, b := got.tables[0].rows[0][1].Bytes(), got.tables[0].rows[1][1].Bytes(); string(a) != `{"k":1}` || string(b) != `{}` || len(got.notes) > 0 {
		t.Errorf("%s and %s, %s", a, b, got.books())
	}
}

// Residue comes from a file that others can write to: what it puts back goes
// through the same filter.
func TestResidueCannotSmuggle(t *testing.T) {
	at := store.Addr{File: "state.vscdb", Set: "ItemTable", RowID: 5, HasID: true}
	in := at
	in.RowID = 10
	residue := []store.SidecarItem{
		{At: at, Row: []store.Cell{text("cursorAuth/x"), text(planted)}},
		{At: in, Column: 1, Inserts: []store.Insert{{Offset: 1, Text: `"blobEncryptionKey":"` + planted + `"`}}, Digest: digest.Cell(text(`{}`))},
	}
	got := scan([]table{tableOf("ItemTable", "key value", []store.Cell{text("a"), text(`{}`)})}, formats.WithholdSecrets, residue, 1)
	if strings.Contains(got.show(), planted) || len(got.notes) != 2 {
		t.Error(got.show())
	}
}

// Nothing to do must cost next to nothing.
func TestUntouchedBatchIsItself(t *testing.T) {
	schema := &store.Schema{Sets: []store.Set{{File: "f", Name: "cursorDiskKV", Columns: []string{"key", "value"}, RowIDs: true}}}
	for _, mode := range []formats.SecretMode{formats.KeepSecrets, formats.WithholdSecrets, formats.OmitWithheld} {
		f := NewFilter(schema, formats.View{Secrets: mode})
		b := store.NewBatch(0, 2)
		for i := range 1000 {
			addRow(b, int64(i), []store.Cell{text("bubbleId:x"), text(`{"text":"some \n words \u00e9","n":1}`)})
		}
		if f.Apply(b) != b {
			t.Errorf("mode %d: another batch", mode)
		}
		if n := testing.AllocsPerRun(10, func() { f.Apply(b) }); n > 5 {
			t.Errorf("mode %d: %v allocations for 1000 rows", mode, n)
		}
		if f.Flush(0) != nil {
			t.Errorf("mode %d: something to flush", mode)
		}
	}
}

func FuzzThereAndBack(f *testing.F) {
	for seed := range uint64(20) {
		f.Add(randomJSON(rand.New(rand.NewPCG(seed, 2)), 0))
	}
	f.Add(`{"blobEncryptionKey":"rehome:withheld","blobEncryptionKey":"x"}`)
	f.Add(`7b22626c6f62456e6372797074696f6e4b6579223a2278227d`)
	f.Fuzz(func(t *testing.T, value string) {
		source := []table{tableOf("cursorDiskKV", "key value", []store.Cell{text("composerData:x"), text(value)}),
			tableOf("meta", "key value", []store.Cell{text("0"), text(value)}),
			tableOf("Meta", "key value", []store.Cell{text("0"), text(hex.EncodeToString([]byte(value)))})}
		source[2].File = "other.db"
		first := scan(source, formats.WithholdSecrets, nil, 1)
		second := scan(first.tables, formats.OmitWithheld, nil, 1)
		third := scan(second.tables, formats.WithholdSecrets, second.omitted, 1)
		if show(third.tables) != show(first.tables) || len(third.notes) > 0 {
			t.Errorf("%q\nfirst\n%s\nthird\n%s", value, first.show(), third.show())
		}
		for _, tab := range second.tables {
			checkNoMarker(t, 0, tab)
		}
	})
}
