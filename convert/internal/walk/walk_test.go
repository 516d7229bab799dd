package walk

import (
	"os"
	"path/filepath"
	"testing"

	"rehome/formats"
)

// TestSidecarsAreNoStores: no folder of stores has one, whatever its name.
func TestSidecarsAreNoStores(t *testing.T) {
	dir := t.TempDir()
	for _, name := range []string{"b" + formats.SidecarSuffix, "b" + formats.OldSidecarSuffix} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(`{"rehome":"sidecar","version":1}`+"\n"), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	start, err := formats.Locate(dir)
	if err != nil {
		t.Fatal(err)
	}
	for it := range Items(t.Context(), formats.NewRegistry(), start, nil) {
		t.Errorf("%s is taken for a store or a stray file", it.Rel)
	}
}
