package convert_test

import (
	"database/sql"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"rehome/convert"
	"rehome/formats/all"
	"rehome/testdata/ide"
)

// common are the files of an archive that do not belong to one session.
var common = map[string]bool{"manifest.json": true, "database.json": true, ".gitattributes": true}

// archived converts a store, and returns the folder of text.
func archived(t *testing.T, src string) string {
	t.Helper()
	dst := filepath.Join(t.TempDir(), "text")
	r, err := convert.Convert(t.Context(), all.Registry(), src, dst, convert.Options{To: "archive"})
	if err != nil || len(r.Stores) != 1 {
		t.Fatalf("%s: %+v, %v", src, r, err)
	}
	return dst
}

// TestAgentsShareNoFile archives stores of the Cursor SDK: no file of rows mentions two
// agents, so that people who continue different ones change different files.
func TestAgentsShareNoFile(t *testing.T) {
	id := regexp.MustCompile(`agent-[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}`)
	for _, sample := range []string{"play", "gen"} {
		dir := archived(t, filepath.Join("..", "testdata", "sdk", sample, "sqlite"))
		all, files := map[string]bool{}, 0
		err := fs.WalkDir(os.DirFS(dir), ".", func(name string, d fs.DirEntry, err error) error {
			if err != nil || d.IsDir() || common[path.Base(name)] {
				return err
			}
			text, err := os.ReadFile(filepath.Join(dir, name))
			if strings.HasPrefix(string(text), `{"rows":0,`) || strings.HasSuffix(name, ".xxh3") {
				return err // a table whose rows are all in shards; the digest of a file
			}
			agents := map[string]bool{}
			for _, a := range id.FindAllString(name+"\n"+string(text), -1) {
				agents[a], all[a] = true, true
			}
			if len(agents) > 1 {
				t.Errorf("%s mentions %v", name, agents)
			}
			if files++; len(agents) == 0 && !strings.Contains(name, "/store.db/") {
				t.Errorf("%s mentions no agent", name)
			}
			return err
		})
		if err != nil || len(all) != 2 || files < 10 {
			t.Errorf("%s: %d agents in %d files, %v", sample, len(all), files, err)
		}
	}
}

// TestComposersTwoDays has two people continue different composers of one store, merge,
// and go on: one from the merged store, one from the store that was there before. No
// merge has a conflict, although both add a composer, prompts and rows under equal row ids.
func TestComposersTwoDays(t *testing.T) {
	top, repo := t.TempDir(), t.TempDir()
	git := func(args ...string) {
		t.Helper()
		cmd := exec.Command("git", append([]string{"-C", repo, "-c", "user.name=n", "-c", "user.email=e@x", "-c", "commit.gpgsign=false"}, args...)...)
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("git %v: %v\n%s", args, err, out)
		}
	}
	at := func(who string) string { return filepath.Join(top, who, "state.vscdb") }
	convertTo := func(src, dst, to string) {
		t.Helper()
		r, err := convert.Convert(t.Context(), all.Registry(), src, dst, convert.Options{To: to})
		if err != nil || len(r.Stores) != 1 || len(r.Stores[0].Losses) > 0 || r.Stores[0].Error != nil {
			t.Fatalf("%s: %v, %+v", src, err, r.Stores)
		}
	}
	commit := func(who, branch, from string) {
		t.Helper()
		if from != "" {
			git("checkout", "-q", "-b", branch, from)
		}
		if err := os.RemoveAll(filepath.Join(repo, "ide")); err != nil {
			t.Fatal(err)
		}
		convertTo(at(who), filepath.Join(repo, "ide"), "archive")
		git("add", "-A")
		git("commit", "-qm", branch)
	}
	// One turn of a composer, and a row more or less before it.
	turn := func(who, composer string, n int) {
		t.Helper()
		if err := ide.Exec(at(who), fmt.Sprintf(`
			INSERT INTO cursorDiskKV VALUES ('agentKv:blob:%064[4]x', '%[1]s'), ('bubbleId:%[2]s:%[1]s%[3]d', '{"text":"%[1]s %[3]d"}'),
				('composerData:%[2]s', '{"turns":%[3]d}');
			INSERT INTO ItemTable SELECT key, json_set(value, '$.allComposers[#]', json('{"composerId":"%[1]s%[3]d","createdAt":%[4]d}')) FROM ItemTable WHERE key = 'composer.composerHeaders';
			INSERT INTO ItemTable SELECT key, json_set(value, '$[#]', json('{"text":"%[1]s %[3]d"}')) FROM ItemTable WHERE key = 'aiService.prompts';
			INSERT INTO composerHeaders VALUES ('%[1]s%[3]d', '{}');`, who, composer, n, 1000*n+len(who))); err != nil {
			t.Fatal(err)
		}
	}
	copyTo := func(from, to string) {
		t.Helper()
		b, err := os.ReadFile(at(from))
		err = errors.Join(err, os.MkdirAll(filepath.Dir(at(to)), 0o777), os.WriteFile(at(to), b, 0o666))
		if err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Mkdir(filepath.Join(top, "base"), 0o777); err != nil {
		t.Fatal(err)
	}
	if err := ide.Exec(at("base"), `CREATE TABLE ItemTable (key TEXT UNIQUE ON CONFLICT REPLACE, value BLOB);
		CREATE TABLE cursorDiskKV (key TEXT UNIQUE ON CONFLICT REPLACE, value BLOB);
		CREATE TABLE composerHeaders (composerId TEXT PRIMARY KEY, value TEXT);
		INSERT INTO ItemTable VALUES ('composer.composerHeaders', '{"allComposers":[{"composerId":"one","createdAt":2},{"composerId":"two","createdAt":1}]}'), ('aiService.prompts', '[{"text":"hi"},{"text":"hi"}]');
		INSERT INTO cursorDiskKV VALUES ('composerData:one', '{}'), ('composerData:two', '{}');`); err != nil {
		t.Fatal(err)
	}
	git("init", "-q", "-b", "start")
	commit("base", "start", "")
	for _, who := range []string{"ann", "robert"} {
		copyTo("base", who)
	}
	turn("ann", "one", 1)
	commit("ann", "ann1", "start")
	turn("robert", "two", 1)
	turn("robert", "two", 2)
	commit("robert", "robert1", "start")
	git("checkout", "-q", "-b", "merged", "ann1")
	git("merge", "-q", "robert1")
	convertTo(filepath.Join(repo, "ide"), filepath.Join(top, "merged.vscdb"), "")

	// Ann goes on from the merged store, Robert from his own.
	if err := os.Rename(filepath.Join(top, "merged.vscdb"), at("ann")); err != nil {
		t.Fatal(err)
	}
	turn("ann", "one", 3)
	commit("ann", "ann2", "merged")
	turn("robert", "two", 4)
	commit("robert", "robert2", "robert1")
	git("merge", "-q", "ann2")
	convertTo(filepath.Join(repo, "ide"), filepath.Join(top, "both.vscdb"), "")

	// Nothing of either is lost.
	rows := func(path string) map[string]string {
		db, err := sql.Open("sqlite", "file:"+filepath.ToSlash(path))
		if err != nil {
			t.Fatal(err)
		}
		defer db.Close()
		out := map[string]string{}
		list, err := db.Query(`SELECT key, value FROM cursorDiskKV UNION ALL SELECT key, value FROM ItemTable UNION ALL SELECT 'head:'||composerId, value FROM composerHeaders`)
		if err != nil {
			t.Fatal(err)
		}
		defer list.Close()
		for list.Next() {
			var key, value string
			if err := list.Scan(&key, &value); err != nil {
				t.Fatal(err)
			}
			out[key] = value
		}
		return out
	}
	got := rows(filepath.Join(top, "both.vscdb"))
	for _, who := range []string{"ann", "robert"} {
		for key, value := range rows(at(who)) {
			switch {
			case strings.HasPrefix(key, "composerData:"):
				if n := map[string]string{"composerData:one": `{"turns":3}`, "composerData:two": `{"turns":4}`}[key]; got[key] != n {
					t.Errorf("%s is %s, want %s", key, got[key], n)
				}
			case key == "composer.composerHeaders" || key == "aiService.prompts":
				for _, e := range regexp.MustCompile(`\{"(text|composerId)[^{}]*\}`).FindAllString(value, -1) {
					if strings.Count(got[key], e) != strings.Count(value, e) {
						t.Errorf("%s of %s has %s, and the merged one %s", key, who, e, got[key])
					}
				}
			case got[key] != value:
				t.Errorf("%s of %s is %q, want %q", key, who, got[key], value)
			}
		}
	}
}
