// Package upstream compares the rules that rehome embeds with gitleaks, whose
// they are. To take over a new release:
//
//	go get github.com/zricethezav/gitleaks/v8@latest
//	go test -update .
package upstream

import (
	"bytes"
	"flag"
	"os"
	"path/filepath"
	"testing"
)

var update = flag.Bool("update", false, "write what the tests compare")

// TestVendored compares the embedded files with the version of gitleaks that
// go.mod requires.
func TestVendored(t *testing.T) {
	want, err := generate()
	if err != nil {
		t.Fatal(err)
	}
	for name, text := range want {
		path := filepath.Join(target, name)
		if *update {
			if err := os.WriteFile(path, text, 0o644); err != nil {
				t.Fatal(err)
			}
		}
		if got, err := os.ReadFile(path); err != nil || !bytes.Equal(got, text) {
			t.Errorf("%s differs from gitleaks (%v): `make rules` updates it", path, err)
		}
	}
}

// TestLatest asks the module proxy whether there is a newer gitleaks.
func TestLatest(t *testing.T) {
	latest, err := listed("{{.Version}}", module+"@latest")
	if err != nil {
		t.Fatalf("cannot ask for the latest version: %v", err)
	}
	if have, err := listed("{{.Version}}", module); err != nil || have != latest {
		t.Errorf("the rules are from %q (%v), the latest release is %s: `make rules` updates them", have, err, latest)
	}
}
