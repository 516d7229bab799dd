package toolmap

import (
	"slices"
	"testing"
)

// TestArguments: each row is of a kind, and no name stands for two of its arguments.
func TestArguments(t *testing.T) {
	for kind, list := range arguments() {
		if !slices.Contains(Kinds(), kind) {
			t.Errorf("there is no kind %q", kind)
		}
		seen := map[string]string{}
		for _, a := range list {
			for _, name := range a.Names {
				if other := seen[name]; other != "" {
					t.Errorf("%s: %s is %s and %s", kind, name, other, a.Field)
				}
				seen[name] = a.Field
			}
		}
	}
	a := Arguments("shell")[3]
	if a.Field != "isBackground" || a.Model != "is_background" || a.Must || !slices.Equal(a.Names, []string{"is_background", "isBackground", "run_in_background"}) {
		t.Errorf("%+v", a)
	}
	if names := ArgumentNames("read", "file_path"); names[0] != "path" || !slices.Contains(names, "targetFile") {
		t.Errorf("a file is named by %v", names)
	}
	if names := ArgumentNames("read", "own"); !slices.Equal(names, []string{"own"}) {
		t.Errorf("an argument of one tool alone is named by %v", names)
	}
}
