package formats

import "testing"

func TestIsStaging(t *testing.T) {
	for name, want := range map[string]bool{
		".a.rehome-0123456789abcdef": true, "..rehome-0123456789abcdef": true, ".a.rehome-b.rehome-0123456789abcdef": true,
		".rehome-0123456789abcdef": false, "a.rehome-0123456789abcdef": false, ".a.rehome-0123456789abcde": false,
		".a.rehome-0123456789abcdef00": false, ".a.rehome-0123456789abcdeg": false, ".a.rehome-0123456789abcdef0": false, ".a.rehome-": false, "": false, ".": false,
	} {
		if IsStaging(name) != want {
			t.Errorf("%q: %v", name, !want)
		}
	}
}
