package cli

import (
	"testing"

	"rehome/formats/all"
)

// TestClientNames: each client with a home has a name for people.
func TestClientNames(t *testing.T) {
	a := &app{reg: all.Registry()}
	for _, f := range a.reg.All() {
		if f.Home == nil || len(f.Clients) == 0 {
			continue
		}
		if got := clientName(a.reg, f.Clients[0]); got == f.Clients[0] || got == f.Name {
			t.Errorf("%s is called %q", f.Name, got)
		}
	}
}
