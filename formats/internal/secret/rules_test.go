package secret

import (
	"crypto/sha256"
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
	omitted []store.SidecarItem
	notes   []loss.Loss
}

// scan leads tables through a filter, step rows at a time.
func scan(tables []table, mode formats.SecretMode, residue []store.SidecarItem, step int) (out result) {
	schema := &store.Schema{}
	for _, t := range tables {
		schema.Sets = append(schema.Sets, t.Set)
	}
	f := NewFilter(schema, formats.View{
		Secrets: mode, Sidecar: residue,
		OnOmit: func(i store.SidecarItem) { out.omitted = append(out.omitted, i) },
		OnLoss: func(n loss.Loss) { out.notes = append(out.notes, n) },
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
		fmt.Fprintf(&s, "%v %v %s %q\n", n.Kind(), n.At, strings.Join(append([]string{string(n.Code)}, n.Args...), " "), n.At.Key.Bytes())
	}
	return s.String()
}

func (r result) books() string {
	var out []string
	for _, n := range r.notes {
		out = append(out, strings.Join(append([]string{string(n.Code)}, n.Args...), " "))
	}
	return strings.Join(out, "; ")
}

func TestEachRule(t *testing.T) {
	member := `{"a":1,"blobEncryptionKey":"` + planted + `"}`
	marked := `{"a":1,"blobEncryptionKey":"rehome:withheld"}`
	both := `{"speculativeSummarizationEncryptionKey":"` + planted + `","x":[{"blobEncryptionKey":"` + planted + `"}]}`
	const head = "L401 "
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
			"L402 cursorDiskKV", "-"},
		"torn capitals": {tableOf("cursorDiskKV", "key value", []store.Cell{text("x"), text(`{"BlobEncryptionKEY":"` + planted)}), 1, "-",
			"L402 cursorDiskKV", "-"},
		"torn": {tableOf("cursorDiskKV", "key value", []store.Cell{text("composerData:1"), text(member[:len(member)-3])}), 1, "-",
			"L402 cursorDiskKV", "-"},
		"torn hex": {tableOf("meta", "key value", []store.Cell{text("0"), text(hex.EncodeToString([]byte(member)) + "7")}), 1, "-",
			"L402 meta", "-"},
		"torn escaped": {tableOf("agents", "agent_id metadata_json", []store.Cell{text("a"), text(`{"blob\u0045ncryption\u004bey":"` + planted)}), 1, "-",
			"L402 agents", "-"},
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
		if slices.ContainsFunc(Rules()[:i], func(o Rule) bool { return o.Set == r.Set && o.Column == r.Column }) {
			t.Errorf("two rules for %s.%s: their residue would guard the same cell", r.Set, r.Column)
		}
		for n, reach := range r.Reaches {
			if n+1 < len(r.Reaches) && reach.Prefix == "" {
				t.Errorf("%s.%s: a reach behind the last", r.Set, r.Column)
			}
		}
	}
	letters := func(s string) bool { return strings.Trim(s, "abcdefghijklmnopqrstuvwxyz") == "" && s != "" }
	for _, m := range memberNames() {
		if !letters(strings.ToLower(m)) || len(m) < 8 { // Suspect and unescaped rely on it
			t.Errorf("member %q is not made of letters", m)
		}
	}
	for i, p := range patterns {
		for _, q := range patterns[:i] {
			if strings.HasSuffix(p.ending, q.ending) {
				t.Errorf("%q is never reached: %q comes before it", p.ending, q.ending)
			}
		}
		if got, ok := patternOf(p.ending); !letters(p.ending) || !ok || got != p {
			t.Error(p.ending)
		}
	}
	for _, o := range ordinary {
		if !slices.ContainsFunc(patterns[:], func(p pattern) bool { return strings.HasSuffix(o, p.ending) }) {
			t.Errorf("%q is no exception from anything", o)
		}
	}
}

// TestNames tells the names of credentials from those of what is filed under a
// key or counted in tokens.
func TestNames(t *testing.T) {
	for name, want := range map[string]string{
		"openAIKey": "…key", "claudeKey": "…key", "googleKey": "…key", "apiKey": "…key", "apikey": "…key", "API_KEY": "…key", "azure.apiKey": "…key", "x-api-key": "…key",
		"accessKey": "…key", "secretKey": "…key", "privateKey": "…key", "SSH_KEY": "…key", "newEncryptionKey": "…key",
		"token": "…token", "accessToken": "…token", "refresh_token": "…token", "githubToken": "…token", "GH_TOKEN": "…token",
		"password": "…password", "dbPassword": "…password", "secret": "…secret", "clientSecret": "…secret", "secrets": "…secret", "credentials": "…credentials", "authorization": "…authorization",
		"key": "", "Key": "", "KEY": "", "keys": "", "keybindings": "", "keyboard": "", "monkey": "", "turkey": "", "publicKey": "", "cacheKey": "", "storage_key": "", "hotKey": "",
		"tokenCount": "", "tokens": "", "maxTokens": "", "nextPageToken": "", "brokentoken": "", "secretary": "", "passwords.txt": "",
		"file:///home/ana/secret": "", "a secret": "", "": "", strings.Repeat("x", 80) + "Key": "", "schlüsselKey": "",
	} {
		got := ""
		if p, ok := credential([]byte(name)); ok {
			got = p.called
		}
		if got != want {
			t.Errorf("%q is taken for %q, want %q", name, got, want)
		}
	}
}

// TestReach: members that are named like credentials are withheld where rows are
// the client's own, and so deep; what somebody said, and what a digest guards,
// stays as it is.
func TestReach(t *testing.T) {
	const state = "src.vs.platform.reactivestorage.applicationUser"
	sum := func(s string) string { return fmt.Sprintf("%x", sha256.Sum256([]byte(s))) }
	said := `{"role":"tool","content":{"blobEncryptionKey":"said"}}`
	for name, c := range map[string]struct {
		table table
		want  string // the last cell
	}{
		"state": {tableOf("ItemTable", "key value", []store.Cell{text(state), text(`{"openAIKey":"x","azureState":{"apiKey":"x","useAzure":false},"bedrockState":{"accessKey":"x","secretKey":"","region":"r"},"cursorCreds":{"accessToken":"x"},"key":"k","tokenCount":"5","list":[{"token":"x"}],"credentials":{"user":"x"},"maxKey":5,"secret":true}`)}),
			`{"openAIKey":"rehome:withheld","azureState":{"apiKey":"rehome:withheld","useAzure":false},"bedrockState":{"accessKey":"rehome:withheld","secretKey":"","region":"r"},"cursorCreds":{"accessToken":"rehome:withheld"},"key":"k","tokenCount":"5","list":[{"token":"rehome:withheld"}],"credentials":"rehome:withheld","maxKey":5,"secret":true}`},
		"row":           {tableOf("ItemTable", "key value", []store.Cell{text("some.extension/apiKey"), text(`"x"`)}), "-"},
		"row of text":   {tableOf("ItemTable", "key value", []store.Cell{text("githubToken"), blob(`x y`)}), "-"},
		"row, a number": {tableOf("ItemTable", "key value", []store.Cell{text("some.maxKey"), text("12")}), "12"},
		"row, a flag":   {tableOf("ItemTable", "key value", []store.Cell{text("has.apiKey"), text("true")}), "true"},
		"chats":         {tableOf("ItemTable", "key value", []store.Cell{text("workbench.panel.aichat.view.aichat.chatdata"), text(`{"tabs":[{"apiKey":"x"}]}`)}), `{"tabs":[{"apiKey":"x"}]}`},
		"typed":         {tableOf("ItemTable", "key value", []store.Cell{text("aiService.prompts"), text(`[{"token":"x"}]`)}), `[{"token":"x"}]`},
		"heads": {tableOf("ItemTable", "key value", []store.Cell{text("composer.composerHeaders"), text(`{"allComposers":[{"someToken":"x","conversation":[{"token":"x"}]}]}`)}),
			`{"allComposers":[{"someToken":"rehome:withheld","conversation":[{"token":"x"}]}]}`},
		"composer": {tableOf("cursorDiskKV", "key value", []store.Cell{text("composerData:c"), text(`{"uploadToken":"x","originalFileStates":{"file:///token":{"content":"x"}},"codeBlockData":{"token":"x"}}`)}),
			`{"uploadToken":"rehome:withheld","originalFileStates":{"file:///token":{"content":"x"}},"codeBlockData":{"token":"x"}}`},
		"bubble":     {tableOf("cursorDiskKV", "key value", []store.Cell{text("bubbleId:c:b"), text(`{"token":"x","toolFormerData":{"params":{"apiKey":"x"}}}`)}), `{"token":"x","toolFormerData":{"params":{"apiKey":"x"}}}`},
		"head":       {tableOf("composerHeaders", "composerId value", []store.Cell{text("c"), text(`{"accessToken":"x","a":{"token":"x"}}`)}), `{"accessToken":"rehome:withheld","a":{"token":"x"}}`},
		"meta":       {tableOf("meta", "key value", []store.Cell{text("0"), text(`{"authToken":"x","a":{"token":"x"}}`)}), `{"authToken":"rehome:withheld","a":{"token":"x"}}`},
		"agent":      {tableOf("agents", "agent_id metadata_json", []store.Cell{text("a"), text(`{"a":{"apiKey":"x"}}`)}), `{"a":{"apiKey":"rehome:withheld"}}`},
		"usage":      {tableOf("runs", "run_id usage_json", []store.Cell{text("r"), text(`{"inputTokens":1,"blobEncryptionKey":"x","apiKey":"x"}`)}), `{"inputTokens":1,"blobEncryptionKey":"rehome:withheld","apiKey":"rehome:withheld"}`},
		"checkpoint": {tableOf("runs", "run_id latest_checkpoint_ref_json", []store.Cell{text("r"), text(`{"blobId":"b","blobEncryptionKey":"x"}`)}), `{"blobId":"b","blobEncryptionKey":"rehome:withheld"}`},
		"event":      {tableOf("run_events", "run_id payload_json", []store.Cell{text("r"), text(`{"args":{"token":"x"},"blobEncryptionKey":"x"}`)}), `{"args":{"token":"x"},"blobEncryptionKey":"rehome:withheld"}`},
		"blob":       {tableOf("blobs", "id data", []store.Cell{text(sum(said)), blob(said)}), said},
		"no blob":    {tableOf("blobs", "id data", []store.Cell{text(sum("x")), blob(said)}), `{"role":"tool","content":{"blobEncryptionKey":"rehome:withheld"}}`},
		"said":       {tableOf("blobs", "id data", []store.Cell{text("x"), blob(`{"blobEncryptionKey: is what I said`)}), `{"blobEncryptionKey: is what I said`},
		"kv blob":    {tableOf("cursorDiskKV", "key value", []store.Cell{text("agentKv:blob:" + sum(said)), blob(said)}), said},
		"kv hex":     {tableOf("cursorDiskKV", "key value", []store.Cell{text("agentKv:blob:" + sum(said)), text(hex.EncodeToString([]byte(said)))}), hex.EncodeToString([]byte(said))},
		"content":    {tableOf("cursorDiskKV", "key value", []store.Cell{text("composer.content." + sum(said)), text(said)}), said},
	} {
		t.Run(name, func(t *testing.T) {
			first := scan([]table{c.table}, formats.WithholdSecrets, nil, 1)
			last := len(c.table.rows[0]) - 1
			if got := cellText(first.tables[0], last); got != c.want {
				t.Errorf("withheld: %s\nwant %s", got, c.want)
			}
			second := scan(first.tables, formats.OmitWithheld, nil, 1)
			if got := show(second.tables); strings.Contains(got, "rehome:withheld") {
				t.Errorf("the marker gets through: %s", got)
			}
			third := scan(second.tables, formats.WithholdSecrets, second.omitted, 1)
			if show(third.tables) != show(first.tables) || len(third.notes) > 0 {
				t.Errorf("put back: %s, %s", show(third.tables), third.books())
			}
			if same := c.want == cellText(c.table, last); same != (len(first.notes) == 0) || same != (len(second.omitted) == 0) {
				t.Errorf("%s, %d omitted", first.books(), len(second.omitted))
			}
		})
	}
}

// TestNewTables: in a client's store tables and columns that nobody knows yet are
// looked into as well; in anybody's they are not.
func TestNewTables(t *testing.T) {
	for origin, want := range map[string]string{
		"cursor-ide": "-", "cursor-sdk": `{"a":{"blobEncryptionKey":"rehome:withheld"}}`, "cursor-chat": `{"a":{"blobEncryptionKey":"rehome:withheld"}}`, "sqlite": `{"a":{"blobEncryptionKey":"x"}}`,
	} {
		if want == "-" {
			want = `{"a":{"blobEncryptionKey":"rehome:withheld"}}`
		}
		of := tableOf("later", "id n doc words", []store.Cell{text(`{"blobEncryptionKey":"id"}`), store.IntCell(5), text(`{"a":{"blobEncryptionKey":"x"}}`), text("blobEncryptionKey: said")})
		schema := &store.Schema{Origin: origin, Sets: []store.Set{of.Set}}
		f := NewFilter(schema, formats.View{Secrets: formats.WithholdSecrets})
		b := store.NewBatch(0, 4)
		addRow(b, 1, of.rows[0])
		b = f.Apply(b)
		if got := string(b.Cell(0, 2).Bytes()); got != want || string(b.Cell(0, 0).Bytes()) != `{"blobEncryptionKey":"id"}` || string(b.Cell(0, 3).Bytes()) != "blobEncryptionKey: said" {
			t.Errorf("%s: %s", origin, got)
		}
	}
}
