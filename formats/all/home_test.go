package all

import (
	"testing"

	"rehome/formats"
)

// TestHomes: where clients keep their stores can be asked of a machine of which
// little is known.
func TestHomes(t *testing.T) {
	for _, f := range Registry().All() {
		if f.Home == nil {
			continue
		}
		for _, os := range []string{"linux", "darwin", "windows", ""} {
			for _, home := range []string{"", t.TempDir()} {
				f.Home.Roots(formats.Machine{OS: os, Home: home})
			}
		}
	}
}
