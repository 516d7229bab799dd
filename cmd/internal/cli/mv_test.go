package cli

import (
	"testing"

	"rehome/cmd/internal/console"
	"rehome/formats/all"
)

// TestClientNames: each client with a home has a name for people.
func TestClientNames(t *testing.T) {
	a := &console.App{Reg: all.Registry()}
	for _, f := range a.Reg.All() {
		if f.Home == nil || len(f.Clients) == 0 {
			continue
		}
		if got := console.ClientName(a.Reg, f.Clients[0]); got == f.Clients[0] || got == f.Name {
			t.Errorf("%s is called %q", f.Name, got)
		}
	}
}
