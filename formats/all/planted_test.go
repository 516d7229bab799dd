package all_test

import (
	"bytes"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"rehome/convert"
	"rehome/convert/check"
	"rehome/formats/all"
	"rehome/formats/rule"
)

// TestPlantedSidecar: residue lies in git beside the text that it belongs to. It
// brings no SQL into the client's store either.
func TestPlantedSidecar(t *testing.T) {
	dir := t.TempDir()
	text := filepath.Join(dir, "text")
	if _, err := convert.Convert(t.Context(), all.Registry(), "../../testdata/sdk/legacy-1.0.14", text, convert.Options{Flat: true, To: "cursor-ndjson"}); err != nil {
		t.Fatal(err)
	}
	residue := text + ".sidecar.ndjson"
	b, err := os.ReadFile(residue)
	if err != nil {
		t.Fatal(err)
	}
	b = regexp.MustCompile(`,"sum":"[0-9a-f]{16}"`).ReplaceAll(b, nil)
	const index = `{\"type\":\"index\",\"name\":\"run_events_idempotency_key_idx\"`
	planted := bytes.Replace(b, []byte(index), []byte(`{\"type\":\"trigger\",\"name\":\"t\",\"table\":\"agents\",\"sql\":\"CREATE TRIGGER t AFTER INSERT ON agents BEGIN DELETE FROM runs; END\"},`+index), 1)
	if len(planted) == len(b) {
		t.Fatal("the schema is not in the residue")
	}
	for _, c := range []struct {
		residue []byte
		refused bool
	}{{b, false}, {planted, true}} {
		if err := os.WriteFile(residue, c.residue, 0o666); err != nil {
			t.Fatal(err)
		}
		to := filepath.Join(t.TempDir(), "store")
		_, err = convert.Convert(t.Context(), all.Registry(), text, to, convert.Options{To: "cursor-sdk"})
		if (err != nil) != c.refused || err != nil && !strings.Contains(err.Error(), "a trigger is SQL that runs") {
			t.Errorf("refused %v: %v", c.refused, err)
		}
		if _, err := os.Lstat(to); (err != nil) != c.refused {
			t.Errorf("refused %v: the store is there: %v", c.refused, err)
		}
		r, err := check.Check(t.Context(), all.Registry(), check.Options{Paths: []string{text}, Layers: rule.References})
		if err != nil || (r.Count(rule.Error) > 0) != c.refused {
			t.Errorf("refused %v: %d errors, %v", c.refused, r.Count(rule.Error), err)
		}
	}
}
