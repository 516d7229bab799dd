package cursoride

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"rehome/formats/cursoride/internal/lists"
	"rehome/formats/formatstest"
	"rehome/formats/formatstest/idegen"
	"rehome/formats/rule"
	"rehome/testdata/ide"
)

const everything = rule.Container | rule.Schema | rule.References | rule.Meaning

// asked is what the rules find in a store, a line each, sorted.
func asked(t *testing.T, path string, layers rule.Layers, jobs int) (out []string) {
	t.Helper()
	for _, f := range formatstest.Findings(t, Format(), path, layers, jobs) {
		out = append(out, strings.TrimRight(f.Rule+" "+f.At.String()+" "+f.Pointer+" "+f.Text(), " "))
	}
	slices.Sort(out)
	return out
}

// built is a store of testdata/ide/cases.
func built(t *testing.T, name string) string {
	t.Helper()
	script, err := os.ReadFile("../../testdata/ide/cases/" + name + ".sql")
	if err != nil {
		t.Fatal(err)
	}
	dir := filepath.Join(t.TempDir(), "User")
	if err := ide.Build(dir, string(script)); err != nil {
		t.Fatal(err)
	}
	return dir
}

// bad are the findings that are more than notes. Numbers that JavaScript has no
// place for are what every generated store holds.
func bad(list []string) (out []string) {
	for _, f := range list {
		if rule.Lookup(f[:5]).Severity > rule.Note && f[:5] != "RH141" {
			out = append(out, f)
		}
	}
	return out
}

// TestRulesSparePlainStores: there is nothing to say of stores in which nothing
// is wrong, of all generations.
func TestRulesSparePlainStores(t *testing.T) {
	for _, name := range []string{"compacted", "files", "heads", "inline", "panes", "tabs", "remotes"} {
		if got := bad(asked(t, built(t, name), everything, 2)); got != nil {
			t.Errorf("%s:\n%s", name, strings.Join(got, "\n"))
		}
	}
	for seed := range uint64(6) {
		dir := filepath.Join(t.TempDir(), "User")
		if err := idegen.New(seed, 12).Write(t.Context(), dir); err != nil {
			t.Fatal(err)
		}
		if got := bad(asked(t, dir, everything, 2)); got != nil {
			t.Errorf("seed %d:\n%s", seed, strings.Join(got, "\n"))
		}
	}
}

// TestRulesOfParts: a database alone, or the folder of a workspace, is no broken
// user dir.
func TestRulesOfParts(t *testing.T) {
	dir := built(t, "heads")
	space := filepath.Join(dir, lists.SpacesName, "0123456789abcdef0123456789abcdef")
	for _, path := range []string{space, filepath.Join(space, lists.DbName), filepath.Join(dir, lists.GlobalName, lists.DbName), filepath.Join(dir, lists.GlobalName)} {
		if got := bad(asked(t, path, everything, 2)); got != nil {
			t.Errorf("%s:\n%s", path, strings.Join(got, "\n"))
		}
	}
	if err := os.RemoveAll(filepath.Join(dir, lists.SpacesName)); err != nil {
		t.Fatal(err)
	}
	if got := bad(asked(t, dir, everything, 2)); got != nil {
		t.Errorf("without its workspaces:\n%s", strings.Join(got, "\n"))
	}
}

// TestRulesOfDamage: of a file that is damaged nothing else is said, whatever
// its rows hold.
func TestRulesOfDamage(t *testing.T) {
	dir := built(t, "storage")
	path := filepath.Join(dir, lists.GlobalName, lists.DbName)
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	for i := range 64 { // the last page holds an index, or rows
		b[len(b)-4096+i] = 0xff
	}
	if err := os.WriteFile(path, b, 0o666); err != nil {
		t.Fatal(err)
	}
	got := asked(t, dir, everything, 2)
	for _, f := range got {
		if rule.Lookup(f[:5]).Layer != rule.Container {
			t.Errorf("found, too: %s", f)
		}
	}
	if len(bad(got)) == 0 {
		t.Error("the damage is not found")
	}
}

// TestRulesOfHostileValues: values that are odd, deep, huge in number or
// circular are findings or nothing, never a crash.
func TestRulesOfHostileValues(t *testing.T) {
	deep := strings.Repeat("[", 10_000) + strings.Repeat("]", 10_000)
	values := []string{"", "{", "[]", "7", `"text"`, "true", "\x00", `{"fullConversationHeadersOnly":7}`, `{"fullConversationHeadersOnly":[7,null,{}]}`,
		`{"subagentComposerIds":["c0"],"subagentInfo":[],"latestConversationSummary":7}`, `{"conversationState":"~AAAA"}`, `{"conversationState":7}`,
		`{"toolFormerData":{"params":"{","result":"{\"afterContentId\":\"x\"}"},"bubbleId":{}}`, `{"_v":1e400}`, `{"a":` + deep + `}`}
	var script strings.Builder
	script.WriteString("-- file: globalStorage/state.vscdb\nCREATE TABLE ItemTable (key TEXT UNIQUE ON CONFLICT REPLACE, value BLOB);CREATE TABLE cursorDiskKV (key TEXT UNIQUE ON CONFLICT REPLACE, value BLOB);" +
		"CREATE TABLE composerHeaders (composerId TEXT PRIMARY KEY, workspaceId TEXT, value TEXT);BEGIN;\n")
	for i, v := range values {
		hex := fmt.Sprintf("%x", v)
		for _, f := range lists.Families() {
			family := f.Prefix
			fmt.Fprintf(&script, "INSERT INTO cursorDiskKV VALUES ('%sc%d:x', CAST(x'%s' AS TEXT)), ('%sc%d', x'%s');\n", family, i, hex, family, i, hex)
		}
		for _, key := range []string{lists.HeadersKey, lists.ComposersKey, lists.ListRows[2].Key, lists.ListRows[8].Key, lists.PanePrefix + ".1"} {
			fmt.Fprintf(&script, "INSERT INTO ItemTable VALUES ('%s', CAST(x'%s' AS TEXT));\n", key, hex)
		}
		fmt.Fprintf(&script, "INSERT INTO composerHeaders VALUES ('c%d', x'00', CAST(x'%s' AS TEXT));\n", i, hex)
		dir := filepath.Join(t.TempDir(), "User")
		if err := ide.Build(dir, script.String()+"COMMIT;"); err != nil {
			t.Fatal(err)
		}
		asked(t, dir, everything, 2)
		for _, layer := range []rule.Layer{rule.Schema, rule.References, rule.Meaning} { // nobody has asked the text before
			asked(t, dir, layer, 2)
		}
	}
}

// TestRulesWithoutLists: a database with cursorDiskKV alone is whole, as part of
// a user dir and under any name. The client makes ItemTable anew.
func TestRulesWithoutLists(t *testing.T) {
	dir := built(t, "compacted")
	global := filepath.Join(dir, "globalStorage", "state.vscdb")
	if err := ide.Exec(global, "DROP TABLE ItemTable"); err != nil {
		t.Fatal(err)
	}
	if got := bad(asked(t, dir, everything, 2)); len(got) > 0 {
		t.Errorf("in a user dir: %v", got)
	}
	alone := filepath.Join(t.TempDir(), "composers.vscdb")
	if err := os.Rename(global, alone); err != nil {
		t.Fatal(err)
	}
	if got := bad(asked(t, alone, everything, 2)); len(got) > 0 {
		t.Errorf("alone: %v", got)
	}
}
