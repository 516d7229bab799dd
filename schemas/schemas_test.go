package schemas

import (
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"rehome/golden"
)

// Every schema has documents that it accepts and documents that it refuses,
// each for the reason written beside it.
func TestFixtures(t *testing.T) {
	for _, name := range Names() {
		good, _ := filepath.Glob(filepath.Join("testdata", name, "good-*.json"))
		broken, _ := filepath.Glob(filepath.Join("testdata", name, "broken-*.json"))
		if len(good) == 0 || len(broken) == 0 {
			t.Errorf("testdata/%s: %d good and %d broken fixtures, want some of each", name, len(good), len(broken))
		}
		for _, f := range good {
			if err := Validate(name, read(t, f)); err != nil {
				t.Errorf("%s: %v", f, err)
			}
		}
		for _, f := range broken {
			err := Validate(name, read(t, f))
			if err == nil {
				t.Errorf("%s: was accepted", f)
				continue
			}
			expect(t, strings.TrimSuffix(f, ".json")+".want", err.Error()+"\n")
		}
	}
}

// No fixture lies where nobody looks.
func TestEveryFixtureFolderHasASchema(t *testing.T) {
	dirs, err := os.ReadDir("testdata")
	if err != nil {
		t.Fatal(err)
	}
	for _, d := range dirs {
		if !slices.Contains(Names(), d.Name()) {
			t.Errorf("testdata/%s: no such schema", d.Name())
		}
	}
}

func read(t *testing.T, path string) []byte {
	t.Helper()
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func expect(t *testing.T, path, got string) {
	t.Helper()
	if golden.Updating() {
		if err := os.WriteFile(path, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if want := string(read(t, path)); got != want {
		t.Errorf("%s:\n got %s\nwant %s", path, got, want)
	}
}

// A schema is documentation: it is of draft 2020-12, has the name of its file,
// says what it is for, describes every member, and is closed where it lists
// members; one of a client's own text says in so many words that it is open.
func TestSchemasExplainThemselves(t *testing.T) {
	for _, name := range Names() {
		text, err := Text(name)
		if err != nil {
			t.Fatal(err)
		}
		var doc map[string]any
		if err := json.Unmarshal(text, &doc); err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		if doc["$schema"] != "https://json-schema.org/draft/2020-12/schema" || doc["$id"] != "urn:rehome:schema:"+name {
			t.Errorf("%s: $schema %v, $id %v", name, doc["$schema"], doc["$id"])
		}
		if doc["title"] == nil || doc["description"] == nil {
			t.Errorf("%s: no title or no description", name)
		}
		explained(t, name+"#", doc)
	}
}

func explained(t *testing.T, at string, v any) {
	switch v := v.(type) {
	case []any:
		for _, e := range v {
			explained(t, at, e)
		}
	case map[string]any:
		props, ok := v["properties"].(map[string]any)
		if foreign := strings.HasPrefix(at, "cursor-") || strings.HasPrefix(at, "claude-code-"); ok && v["additionalProperties"] != foreign {
			t.Errorf("%s: lists members, and additionalProperties is not %v", at, foreign)
		}
		for name, p := range props {
			m, _ := p.(map[string]any)
			if d, _ := m["description"].(string); d == "" {
				t.Errorf("%s/properties/%s: no description", at, name)
			}
		}
		for k, e := range v {
			if k != "if" { // a condition describes nothing
				explained(t, at+"/"+k, e)
			}
		}
	}
}

func TestUnknownName(t *testing.T) {
	err := Validate("nothing-9", []byte("{}"))
	if err == nil || !strings.Contains(err.Error(), "nothing-9") || !strings.Contains(err.Error(), "archive-manifest-1") {
		t.Errorf("got %v, want an error that lists the schemas", err)
	}
	if _, err := Text("../schemas"); err == nil {
		t.Error("a path was taken for a name")
	}
}
