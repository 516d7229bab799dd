package cursorndjson

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"rehome/formats"
	"rehome/formats/internal/agentstate"
)

// TestNamesThatBeginAlike: each checkpoint is found by reading its own line,
// whatever ids strangers chose.
func TestNamesThatBeginAlike(t *testing.T) {
	const n = 3000
	dir := t.TempDir()
	var text []byte
	for i := range n {
		text = fmt.Appendf(text, `{"agentId":"a","blobId":"%064x","dataBase64":"AAAA"}`+"\n", i)
	}
	if err := os.WriteFile(filepath.Join(dir, "checkpoints.ndjson"), text, 0o600); err != nil {
		t.Fatal(err)
	}
	l, err := formats.Locate(dir)
	if err != nil {
		t.Fatal(err)
	}
	d := newDecoder(formats.View{})
	if err := d.open(t.Context(), l, nil); err != nil {
		t.Fatal(err)
	}
	defer d.close()
	if _, err := d.checkpoints(t.Context(), "a"); err != nil {
		t.Fatal(err)
	}
	s := d.agents["a"]
	for i := range n {
		id, _ := agentstate.ParseID(fmt.Sprintf("%064x", i))
		if b, err := s.Blob(t.Context(), id); err != nil || len(b) != 3 || s.at(id).Line != i+1 {
			t.Fatal(i, b, err, s.at(id))
		}
	}
}
