package convert

import (
	"encoding/json"
	"path/filepath"
	"testing"

	"rehome/formats/loss"
	"rehome/schemas"
)

// TestReportsValidate: every shape a report can take keeps to its schema.
func TestReportsValidate(t *testing.T) {
	dir := t.TempDir()
	src, bad := filepath.Join(dir, "src"), filepath.Join(dir, "bad")
	write(t, filepath.Join(src, "a", "rows.txt"), withheldText)
	write(t, filepath.Join(src, "lossy"), leftText(1)+"7\t!loss\n")
	write(t, filepath.Join(src, "torn"), "left\norigin left\ntable t\ntorn\n")
	write(t, bad, "left\norigin left\ntable t\ntorn\n")
	for name, c := range map[string]struct {
		src string
		o   Options
	}{
		"mixed":   {src, Options{To: "left", Replace: true}},
		"strict":  {src, Options{To: "left", Replace: true, Allow: loss.Reshaped}},
		"dry":     {src, Options{To: "left", Replace: true, DryRun: true}},
		"failed":  {bad, Options{To: "right", Replace: true}},
		"nowhere": {filepath.Join(dir, "nowhere"), Options{}},
	} {
		rep, _ := Convert(t.Context(), fakes(nil, nil), c.src, filepath.Join(dir, "dst"), c.o)
		b, err := json.Marshal(rep)
		if err != nil {
			t.Fatal(err)
		}
		if err := schemas.Validate("convert-result-1", b); err != nil {
			t.Errorf("%s: %v\n%s", name, err, b)
		}
		if rep.Failed()+rep.Skipped()+rep.placeable() != len(rep.Stores) {
			t.Errorf("%s: a store without a state: %s", name, b)
		}
	}
}
