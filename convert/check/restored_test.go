package check

import (
	"testing"

	"rehome/formats/rule"
	"rehome/formats/store"
)

// TestRestoredFindings: of findings about the folder of a restored store, notes are
// about the temporary place, and others about the store.
func TestRestoredFindings(t *testing.T) {
	for _, c := range []struct {
		id   string
		at   store.Addr
		held bool
	}{
		{"RH202", store.Addr{}, true}, {"RH202", store.Addr{File: "store.db"}, true}, {"RH305", store.Addr{File: "store.db", Set: "blobs"}, true},
		{"RH305", store.Addr{File: "other"}, true}, {"RH305", store.Addr{File: "store.db"}, false}, {"RH305", store.Addr{}, false},
	} {
		f := restoredFindings{file: "store.db", alone: true}
		f.add(rule.Finding{Rule: c.id, At: c.at})
		if (len(f.held) == 1) != c.held {
			t.Errorf("%s (%s) at %v: held %v", c.id, rule.Lookup(c.id).Severity, c.at, !c.held)
		}
	}
}
