//go:build services

package deploy

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"rehome/cmd/internal/cli"
	"rehome/cmd/rehome-fleet/internal/fleet"
	"rehome/cmd/rehome-fleet/internal/home"
	"rehome/cmd/rehome-fleet/internal/postgres"
	"rehome/cmd/rehome-fleet/internal/reach"
	"rehome/internal/fsx"
)

const program = "rehome-fleet"

// TestMain makes the test binary the program when it has its name.
func TestMain(m *testing.M) {
	if filepath.Base(os.Args[0]) == program {
		p := cli.Program{Name: program, Commands: &fleet.Commands{}}
		homes := map[string]reach.Open{"postgres": func(a string) (home.Home, error) { return postgres.New(a) }}
		os.Exit(reach.Run(cli.Setup(), p, homes, os.Args[1:], os.Stdout, os.Stderr, os.Getenv))
	}
	os.Exit(m.Run())
}

// install puts the program into a folder of its own.
func install(t *testing.T) (dir string) {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	dir = t.TempDir()
	if err := fsx.Copy(self, filepath.Join(dir, program), 0o755); err != nil {
		t.Fatal(err)
	}
	return dir
}

// need returns a variable that testdata/services/run sets.
func need(t *testing.T, name string) string {
	t.Helper()
	value := os.Getenv(name)
	if value == "" {
		t.Fatalf("%s is not set; run `make services`", name)
	}
	return value
}

// backups lays out chats of the Cursor CLI as the homes of machines, several each.
func backups(t *testing.T, machines, chats int) (dir string) {
	t.Helper()
	dir = filepath.Join(t.TempDir(), "backups")
	for m := range machines {
		for c := range chats {
			at := filepath.Join(dir, fmt.Sprintf("machine-%02d/home/ann/.cursor/chats/5734498605caec2da8801a5b40f5caa8/5d0b2b7e-1111-4000-8000-%012d", m, c))
			err := os.MkdirAll(at, 0o755)
			if err := errors.Join(err, fsx.Copy("../../../testdata/chat/before.db", filepath.Join(at, "store.db"), 0o644)); err != nil {
				t.Fatal(err)
			}
		}
	}
	return dir
}

// must runs a command and returns what it prints.
func must(t *testing.T, cmd *exec.Cmd) string {
	t.Helper()
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("%q: %v\n%s%s", cmd.Args, err, out, stderr.String())
	}
	return string(out)
}

// tree returns the names and bytes of all files below a folder.
func tree(t *testing.T, dir string) map[string]string {
	t.Helper()
	files := map[string]string{}
	err := filepath.WalkDir(dir, func(path string, d os.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		text, err := os.ReadFile(path)
		files[path[len(dir):]] = string(text)
		return err
	})
	if err != nil || len(files) == 0 {
		t.Fatalf("%s: %d files, %v", dir, len(files), err)
	}
	return files
}
