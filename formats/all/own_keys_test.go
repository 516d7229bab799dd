package all_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"rehome/convert"
	"rehome/formats"
	"rehome/formats/all"
	"rehome/formats/formatstest/idegen"
	"rehome/formats/loss"
	"rehome/testdata/chat"
	"rehome/testdata/ide"
	"rehome/testdata/sdk"
)

// withheldFrom are the notes of a reader that withholds secrets.
func withheldFrom(t *testing.T, format, path string) (notes []loss.Loss) {
	t.Helper()
	l, err := formats.Locate(path)
	if err != nil {
		t.Fatal(err)
	}
	r, err := all.Registry().Lookup(format).Records.Open(t.Context(), l, formats.View{Kind: formats.Tables, Secrets: formats.WithholdSecrets, OnLoss: func(n loss.Loss) {
		n.At.Key = n.At.Key.Clone()
		notes = append(notes, n)
	}})
	if err != nil {
		t.Fatal(err)
	}
	for b, err := range r.Batches(t.Context()) {
		if err != nil {
			t.Fatal(err)
		}
		b.Release()
	}
	if err := r.Close(); err != nil {
		t.Fatal(err)
	}
	return notes
}

// TestNothingOfSessionsWithheld: of the samples, which hold the shapes that
// clients write, nothing is withheld but the keys that are known by their names.
func TestNothingOfSessionsWithheld(t *testing.T) {
	stores := map[string]string{}
	list, err := ide.Cases.ReadDir("cases")
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range list {
		script, err := ide.Cases.ReadFile("cases/" + e.Name())
		if err != nil {
			t.Fatal(err)
		}
		dir := filepath.Join(t.TempDir(), e.Name())
		if err := ide.Build(dir, string(script)); err != nil {
			t.Fatal(err)
		}
		stores[dir] = "cursor-ide"
	}
	for seed := range uint64(3) {
		dir := filepath.Join(t.TempDir(), "User")
		if err := idegen.New(seed, 40).Write(t.Context(), dir); err != nil {
			t.Fatal(err)
		}
		stores[dir] = "cursor-ide"
	}
	project := filepath.Join(t.TempDir(), "sdk")
	if err := os.CopyFS(project, sdk.Stores); err != nil {
		t.Fatal(err)
	}
	stores[filepath.Join(project, filepath.FromSlash(sdk.Project))] = "cursor-sdk"
	b, err := chat.Stores.ReadFile("after.db")
	if err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(t.TempDir(), "store.db")
	if err := os.WriteFile(file, b, 0o600); err != nil {
		t.Fatal(err)
	}
	stores[file] = "cursor-chat"
	for path, format := range stores {
		for _, n := range withheldFrom(t, format, path) {
			if strings.Contains(n.What(), "…") {
				t.Errorf("%s: %v: %s", path, n.At, n.What())
			}
		}
	}
}

// TestOwnKeysStayHome: members that are named like credentials, in rows and
// columns in which nobody says anything, and the client's own keys wherever they
// stand, are in no text. What the text becomes holds no marker, and is the same
// text again.
func TestOwnKeysStayHome(t *testing.T) {
	const named = `{"openAIKey":"` + planted + `","a":{"apiKey":"` + planted + `","tokenCount":5}}`
	user := filepath.Join(t.TempDir(), "User")
	if err := ide.Build(user, "-- file: globalStorage/state.vscdb\n"+`CREATE TABLE ItemTable (key TEXT UNIQUE ON CONFLICT REPLACE, value BLOB);
CREATE TABLE cursorDiskKV (key TEXT UNIQUE ON CONFLICT REPLACE, value BLOB);
CREATE TABLE later (id TEXT, doc TEXT);
INSERT INTO ItemTable VALUES ('src.vs.platform.reactivestorage.applicationUser','`+named+`'),('some.extension.apiKey','`+planted+`'),('workbench.state','{"a":1}');
INSERT INTO cursorDiskKV VALUES ('composerData:c1','{"composerId":"c1","uploadToken":"`+planted+`","fullConversationHeadersOnly":[{"bubbleId":"b1","type":1}]}'),
('bubbleId:c1:b1','{"type":1,"text":"what is a token?"}');
INSERT INTO later VALUES ('x','`+keyed+`');`); err != nil {
		t.Fatal(err)
	}
	root := copied(t, t.TempDir())
	run(t, filepath.Join(root, "index.db"), "UPDATE runs SET usage_json='"+keyed+"', start_checkpoint_ref_json='"+keyed+"'",
		"UPDATE run_events SET payload_json=json_insert(payload_json,'$.blobEncryptionKey','"+planted+"') WHERE json_valid(payload_json) AND seq=1",
		"UPDATE agents SET metadata_json='"+named+"'")
	for name, c := range map[string]struct{ src, to string }{"ide": {user, "archive"}, "sdk": {root, "archive"}, "lines": {root, "cursor-ndjson"}} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			text, back, again := filepath.Join(dir, "text"), filepath.Join(dir, "back"), filepath.Join(dir, "again")
			become(t, c.src, text, convert.Options{To: c.to, Flat: c.to == "cursor-ndjson"})
			become(t, text, back, convert.Options{})
			become(t, back, again, convert.Options{To: c.to, Flat: c.to == "cursor-ndjson"})
			holdNothing(t, dir, "", []string{planted})
			holdNothing(t, back, "", []string{"rehome:withheld"})
			if a, b := textOf(t, text), textOf(t, again); a != b {
				t.Errorf("the text is another:\n%s\nwas\n%s", b, a)
			}
			if c.to == "archive" && strings.Count(textOf(t, text), "rehome:withheld") < 3 {
				t.Error("nothing says what was withheld")
			}
			for _, from := range []string{c.src, text} {
				sessions := filepath.Join(dir, "sessions-of-"+filepath.Base(from))
				become(t, from, sessions, convert.Options{To: "canonical"})
				holdNothing(t, sessions, "", []string{planted, "rehome:withheld"})
			}
		})
	}
}
