package main

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
)

// job is one thing to do, and who does it. The first one is rehome.
type job struct {
	name       string
	contenders []contender
	bytes      int64 // of the source, where a rate says something; else 0
}

type contender struct {
	name   string
	wanted float64 // how many times faster rehome should be; 0: only for comparison
	rate   float64 // megabytes of source a second that it should carry; 0: none is asked for
	stdout bool    // the target is what it prints
	args   func(target string) []string
	absent error // why it cannot take part
}

const (
	theLeast     = "Python, minimal"
	samePromises = "Python, same guarantees"
)

// group is a few rows of the table that share their inputs.
type group struct {
	name string
	jobs func(context.Context) ([]job, error)
}

func (b *bench) groups() []group {
	return []group{{"state", b.stateJobs}, {"chats", b.chatJobs}, {"sdk", b.sdkJobs}, {"client", b.clientJobs}, {"sessions", b.sessionJobs}, {"ls", b.lsJobs}, {"ide", b.ideJobs}, {"check", b.checkJobs}, {"check-ide", b.checkIDEJobs}, {"migrate", b.migrateJobs}, {"search", b.searchJobs}, {"write", b.writeJobs}, {"redact", b.redactJobs}}
}

func (b *bench) stateJobs(ctx context.Context) ([]job, error) {
	state, err := b.vscdb(ctx, b.megabytes)
	if err != nil {
		return nil, err
	}
	// What is loaded back is made here once, each program's own.
	archive, small, careful := b.made("state-archive"), b.made("small.ndjson"), b.made("careful.ndjson")
	back := b.made("back.vscdb")
	err = commands(ctx,
		b.convert(state, archive, "--to", "archive"), b.python3("small.py", "dump", state, small), b.python3("careful.py", "dump", state, careful),
		b.convert(archive, back), b.python3("careful.py", "same", state, back), // an opinion that is not ours
	)
	if err != nil {
		return nil, err
	}
	jobs := []job{
		{name: fmt.Sprintf("state.vscdb, %s -> archive", megabytes(state)), contenders: []contender{
			{name: "rehome", args: func(to string) []string { return b.convert(state, to, "--to", "archive") }},
			{name: theLeast, wanted: 8, args: func(to string) []string { return b.python3("small.py", "dump", state, to) }},
			{name: samePromises, args: func(to string) []string { return b.python3("careful.py", "dump", state, to) }},
			{name: "sqlite3 -json", wanted: 1.5, stdout: true, args: func(string) []string {
				return []string{"sqlite3", "-readonly", "-json", state, "SELECT * FROM ItemTable; SELECT * FROM cursorDiskKV"}
			}},
		}},
		{name: "archive -> state.vscdb", contenders: []contender{
			{name: "rehome", args: func(to string) []string { return b.convert(archive, to) }},
			{name: theLeast, wanted: 2.5, args: func(to string) []string { return b.python3("small.py", "load", small, to) }},
			{name: samePromises, args: func(to string) []string { return b.python3("careful.py", "load", careful, to) }},
		}},
	}
	return jobs, os.RemoveAll(back)
}

func (b *bench) chatJobs(ctx context.Context) ([]job, error) {
	chats, err := b.chats(ctx, b.stores)
	return []job{
		{name: fmt.Sprintf("%d store.db, %s -> archives", b.stores, megabytes(chats)), contenders: []contender{
			{name: "rehome", args: func(to string) []string { return b.convert(chats, to, "--to", "archive") }},
			{name: theLeast, wanted: 6, args: func(to string) []string { return b.python3("small.py", "dump-all", chats, to) }},
			{name: samePromises, args: func(to string) []string { return b.python3("careful.py", "dump-all", chats, to) }},
		}},
	}, err
}

func (b *bench) made(name string) string { return filepath.Join(b.scratch, name) }

func (b *bench) convert(from, to string, more ...string) []string {
	return append([]string{b.rehome, "convert", from, to, "--quiet"}, more...)
}

func (b *bench) python3(script string, args ...string) []string {
	return append([]string{"python3", b.script(script)}, args...)
}

// commands runs one after another.
func commands(ctx context.Context, list ...[]string) error {
	for _, args := range list {
		if err := command(ctx, args).Run(); err != nil {
			return fmt.Errorf("%s: %w", args, err)
		}
	}
	return nil
}

func command(ctx context.Context, args []string) *exec.Cmd {
	c := exec.CommandContext(ctx, args[0], args[1:]...)
	c.Stderr = os.Stderr
	return c
}

// megabytes is a size, for names.
func megabytes(path string) string { return fmt.Sprintf("%d MB", size(path)/1e6) }
