package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// TestHome moves a clone to an address, and finds nothing left behind: the
// clone builds under its new name, and another module can use it.
func TestHome(t *testing.T) {
	clone := filepath.Join(t.TempDir(), "clone")
	run(t, ".", "git", "clone", "-q", "../..", clone)
	left, err := move(clone, "example.com/acme/rehome")
	if err != nil {
		t.Fatal(err)
	}
	for _, l := range left {
		t.Error("left behind: ", l)
	}
	run(t, clone, "go", "vet", "./formats/...")
	run(t, clone, "go", "list", "-deps", "./cmd/rehome-fleet/...")
	if out := run(t, clone, "gofmt", "-l", "."); out != "" {
		t.Errorf("gofmt would change:\n%s", out)
	}
	outside := t.TempDir()
	for name, text := range map[string]string{
		"go.mod":  "module outside\n\ngo 1.26\n\nrequire example.com/acme/rehome v0.0.0\n\nreplace example.com/acme/rehome => " + clone + "\n",
		"main.go": program,
	} {
		if err := os.WriteFile(filepath.Join(outside, name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	sum, err := os.ReadFile(filepath.Join(clone, "go.sum"))
	if err == nil {
		err = os.WriteFile(filepath.Join(outside, "go.sum"), sum, 0o644)
	}
	if err != nil {
		t.Fatal(err)
	}
	out := run(t, outside, "go", "run", "-mod=mod", ".", filepath.Join(clone, "testdata", "chat", "before.db"))
	if !strings.Contains(out, "Golden demo") {
		t.Errorf("a program of another module printed %q", out)
	}
}

// program is what somebody writes who uses the packages.
const program = `package main

import (
	"context"
	"fmt"
	"log"
	"os"

	"example.com/acme/rehome/formats"
	"example.com/acme/rehome/formats/all"
	"example.com/acme/rehome/formats/session"
)

func main() {
	ctx := context.Background()
	l, err := formats.Locate(os.Args[1])
	if err != nil {
		log.Fatal(err)
	}
	found, err := all.Registry().Detect(ctx, l)
	if err != nil || len(found) == 0 {
		log.Fatal("no known format: ", err)
	}
	for s, err := range found[0].Format.Decode(ctx, l, formats.View{}, session.Selection{}) {
		if err != nil {
			log.Fatal(err)
		}
		fmt.Println(s.Title)
	}
}
`

func run(t *testing.T, dir, name string, args ...string) string {
	t.Helper()
	c := exec.Command(name, args...)
	c.Dir = dir
	out, err := c.CombinedOutput()
	if err != nil {
		t.Fatalf("%s %s: %v\n%s", name, strings.Join(args, " "), err, out)
	}
	return string(out)
}
