package opencode_test

import (
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"rehome/formats"
	"rehome/formats/loss"
	"rehome/formats/opencode"
	"rehome/formats/session"
	"rehome/golden"
)

func TestMain(m *testing.M) { golden.Main(m) }

const samples = "../../testdata/opencode/"

// told returns the canonical lines of a store, by session.
func told(t *testing.T, f *formats.Format, path string, ids ...string) map[string]string {
	t.Helper()
	l, err := formats.Locate(path)
	if err != nil {
		t.Fatal(err)
	}
	out := map[string]string{}
	v := formats.View{OnLoss: func(loss.Loss) {}}
	for s, err := range f.Sessions.Decode(t.Context(), l, v, session.Selection{IDs: ids, History: true}) {
		if err != nil {
			t.Fatal(err)
		}
		text := append(session.AppendHead(nil, s), '\n')
		for m, err := range s.Messages {
			if err != nil {
				t.Fatal(err)
			}
			text = append(session.AppendMessage(text, m), '\n')
		}
		out[s.ID] = string(text)
	}
	return out
}

// TestGolden: what is made of the sample.
func TestGolden(t *testing.T) {
	var all strings.Builder
	list := told(t, opencode.Format(), samples+"home/opencode.db")
	for _, id := range []string{"ses_ddca733fbffe0qGGZp4DjeMV20", "ses_ddca6e988ffe8WlXKby9qciE50", "ses_ddca6e7c7ffeUinDsAg4sWjyPm", "ses_ddca6c1e7ffe0z4IklLIJcLHOI", "ses_ddca6ae2dffeU3w68ts1MiPKwS"} {
		all.WriteString(list[id])
	}
	if len(list) != 5 {
		t.Errorf("%d sessions", len(list))
	}
	golden.Bytes(t, "opencode-to-canonical/home.jsonl", []byte(all.String()))
}

// TestStorage: what is made of the files of older versions. A session that a database beside them has is left to that, one
// whose file is damaged is listed by its name.
func TestStorage(t *testing.T) {
	at := filepath.Join(t.TempDir(), "storage")
	if err := os.CopyFS(at, os.DirFS(samples+"storage")); err != nil {
		t.Fatal(err)
	}
	if err := os.CopyFS(filepath.Dir(at), os.DirFS(samples+"home")); err != nil {
		t.Fatal(err)
	}
	const both = "ses_ddca6c1e7ffe0z4IklLIJcLHOI"
	for id, text := range map[string]string{both: `{"id":"` + both + `"}`, "ses_torn": `{"id":`} {
		if err := os.WriteFile(filepath.Join(at, "session", "global", id+".json"), []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	list := told(t, opencode.Storage(), at)
	if torn := list["ses_torn"]; torn == "" || len(list) != 5 {
		t.Errorf("%d sessions: %s", len(list), torn)
	}
	delete(list, "ses_torn")
	var all strings.Builder
	for _, id := range slices.Sorted(maps.Keys(list)) {
		all.WriteString(list[id])
	}
	golden.Bytes(t, "opencode-to-canonical/storage.jsonl", []byte(all.String()))
}

// TestExported: a session is the same in the database and in the file that OpenCode made of it.
func TestExported(t *testing.T) {
	const id = "ses_ddca733fbffe0qGGZp4DjeMV20"
	origin := regexp.MustCompile(`,"origin":\[[^\]]*\]`)
	messages := func(text string) string {
		var out strings.Builder
		for line := range strings.Lines(text) {
			if !strings.HasPrefix(line, `{"type":"message"`) {
				continue // an export has no list of what is to be done
			}
			out.WriteString(origin.ReplaceAllString(line, ""))
		}
		return out.String()
	}
	db := messages(told(t, opencode.Format(), samples+"home/opencode.db", id)[id])
	file := messages(told(t, opencode.Export(), samples+"exports/session.json")[id])
	if db == "" || db != file {
		t.Errorf("%s\n\nand in the export\n%s", db, file)
	}
}
