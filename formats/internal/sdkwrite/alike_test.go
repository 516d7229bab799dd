package sdkwrite

import (
	"os"
	"path/filepath"
	"slices"
	"testing"

	"rehome/formats"
)

// TestAlike joins agents whose transcripts have the same name, or one that differs only in
// case: the store has it once.
func TestAlike(t *testing.T) {
	var drafts []string
	for _, id := range []string{"a/b", "a_2Fb", "A_2fB"} {
		dir := t.TempDir()
		at := filepath.Join(dir, filepath.FromSlash(transcriptPath(id)))
		if err := os.MkdirAll(filepath.Dir(at), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(at, []byte(id), 0o600); err != nil {
			t.Fatal(err)
		}
		drafts = append(drafts, dir)
	}
	r, err := join(t.Context(), drafts, formats.View{})
	if err != nil {
		t.Fatal(err)
	}
	plain := r.(*joined).plain
	if len(plain) != 1 || !slices.ContainsFunc(drafts[:1], func(dir string) bool { return filepath.Dir(filepath.Dir(filepath.Dir(plain[0].path))) == dir }) {
		t.Errorf("%v", plain)
	}
}
