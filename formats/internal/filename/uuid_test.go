package filename

import "testing"

// TestNamedUUID: ids that were written once must be the same forever, and no two lists of
// parts have the same one.
func TestNamedUUID(t *testing.T) {
	if got, want := NamedUUID("rehome/claude-code/1\x00", "session", "cursor-cli", "a"), "061df2e8-906b-5d5c-80f6-49014ad82252"; got != want {
		t.Errorf("%s, want %s", got, want)
	}
	seen := map[string][]string{}
	for _, parts := range [][]string{{}, {""}, {"", ""}, {"ab"}, {"a", "b"}, {"1:a"}, {"a", ""}, {"b", "a"}} {
		id := NamedUUID("x", parts...)
		if seen[id] != nil || id == NamedUUID("y", parts...) || id[14] != '5' {
			t.Errorf("%q and %q have the UUID %s", parts, seen[id], id)
		}
		seen[id] = parts
	}
}
