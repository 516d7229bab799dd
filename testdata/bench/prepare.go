package main

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
)

// bench is where everything lies.
type bench struct {
	settings
	root    string // the repository
	cache   string // inputs, kept
	scratch string // the binary and all targets, removed at the end
	rehome  string
	python  string // versions, for the record
	sqlite  string
}

// prepare looks for the tools, builds the binary, and makes the inputs.
func prepare(ctx context.Context, s settings) (*bench, error) {
	b := &bench{settings: s}
	var err error
	if b.python, err = output("python3", "--version"); err != nil {
		return nil, errors.New("python3 is needed: it makes the inputs and runs the scripts that are compared")
	}
	if b.sqlite, err = output("sqlite3", "--version"); err != nil {
		return nil, errors.New("the sqlite3 command is needed: it is one of the programs that are compared")
	}
	b.sqlite, _, _ = strings.Cut(b.sqlite, " ")
	mod, err := output("go", "env", "GOMOD")
	if err != nil {
		return nil, err
	}
	b.root = filepath.Dir(mod)
	if b.cache, err = b.cacheDir(); err != nil {
		return nil, err
	}
	if b.scratch, err = os.MkdirTemp(b.cache, "run-"); err != nil {
		return nil, err
	}
	b.rehome = filepath.Join(b.scratch, "rehome.exe")
	build := exec.CommandContext(ctx, "go", "build", "-o", b.rehome, "./cmd/rehome")
	build.Dir, build.Env, build.Stderr = b.root, append(os.Environ(), "CGO_ENABLED=0"), os.Stderr
	if err := build.Run(); err != nil {
		return nil, errors.Join(fmt.Errorf("go build ./cmd/rehome: %w", err), os.RemoveAll(b.scratch))
	}
	return b, nil
}

// cacheDir is a folder for this version of the generators: other generators
// make other inputs.
func (b *bench) cacheDir() (string, error) {
	dir := os.Getenv("REHOME_BENCH")
	if dir == "" {
		user, err := os.UserCacheDir()
		if err != nil {
			return "", fmt.Errorf("no place for the inputs: %w; set REHOME_BENCH", err)
		}
		dir = filepath.Join(user, "rehome-bench")
	}
	var text []byte
	for _, name := range []string{"gen.py", "gensdk.py", "gensession.py", "genide.py", "sdk.sql"} {
		part, err := os.ReadFile(b.script(name))
		if err != nil {
			return "", err
		}
		text = append(text, part...)
	}
	dir = filepath.Join(dir, fmt.Sprintf("%.4x", sha256.Sum256(text)))
	return dir, os.MkdirAll(dir, 0o755)
}

func (b *bench) script(name string) string {
	return filepath.Join(b.root, "testdata", "bench", name)
}

// vscdb is the path of a generated state.vscdb.
func (b *bench) vscdb(ctx context.Context, megabytes int) (string, error) {
	dir, err := b.input(ctx, fmt.Sprintf("vscdb-%d", megabytes), func(dir string) []string {
		return []string{"gen.py", "vscdb", filepath.Join(dir, "state.vscdb"), strconv.Itoa(megabytes)}
	})
	return filepath.Join(dir, "state.vscdb"), err
}

// chats is the path of a folder of generated store.db files.
func (b *bench) chats(ctx context.Context, count int) (string, error) {
	return b.input(ctx, fmt.Sprintf("stores-%d", count), func(dir string) []string {
		return []string{"gen.py", "stores", dir, strconv.Itoa(count)}
	})
}

// stateRoot is the path of a generated state root of the SDK.
func (b *bench) stateRoot(ctx context.Context, events int) (string, error) {
	return b.input(ctx, fmt.Sprintf("sdk-%d", events), func(dir string) []string {
		return []string{"gensdk.py", dir, strconv.Itoa(events)}
	})
}

// input runs a generator unless it has run before. A folder gets its name
// when it is complete.
func (b *bench) input(ctx context.Context, name string, args func(dir string) []string) (string, error) {
	dir := filepath.Join(b.cache, name)
	if _, err := os.Stat(dir); err == nil {
		return dir, nil
	}
	fmt.Fprintf(os.Stderr, "making %s\n", dir)
	part := filepath.Join(b.scratch, name)
	if err := os.MkdirAll(part, 0o755); err != nil {
		return "", err
	}
	line := args(part)
	if err := commands(ctx, b.python3(line[0], line[1:]...)); err != nil {
		return "", err
	}
	return dir, os.Rename(part, dir)
}

func output(name string, args ...string) (string, error) {
	out, err := exec.Command(name, args...).Output()
	return strings.TrimSpace(string(out)), err
}
