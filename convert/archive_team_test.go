package convert_test

import (
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"rehome/convert"
	"rehome/formats/all"
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
