package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
)

// ideJobs read what an editor's store means: all of it, the list of it, and one
// session out of one that is ten times as large.
func (b *bench) ideJobs(ctx context.Context) ([]job, error) {
	store, err := b.ide(ctx, b.megabytes)
	if err != nil {
		return nil, err
	}
	if err := b.checkIDE(ctx, store); err != nil {
		return nil, err
	}
	jobs := []job{
		{name: fmt.Sprintf("the IDE's store, %s -> canonical", megabytes(store)), bytes: size(store), contenders: []contender{
			{name: "rehome", args: func(to string) []string { return b.convert(store, to, "--to", "canonical") }},
			{name: theLeast, args: func(to string) []string { return b.python3("ide_small.py", store, to) }},
			{name: samePromises, wanted: 8, args: func(to string) []string { return b.python3("ide_careful.py", store, to) }},
		}},
		{name: "ls of the same", contenders: []contender{
			{name: "rehome", stdout: true, args: func(string) []string { return []string{b.rehome, "ls", store} }},
		}},
	}
	if !b.big {
		return jobs, nil
	}
	big, err := b.ide(ctx, 3000)
	if err != nil {
		return nil, err
	}
	id, err := output("sqlite3", filepath.Join(big, "globalStorage", "state.vscdb"), "SELECT composerId FROM composerHeaders ORDER BY composerId LIMIT 1 OFFSET 700")
	if err != nil {
		return nil, err
	}
	id = strings.TrimSpace(id)
	return append(jobs,
		job{name: fmt.Sprintf("one session of %s", megabytes(big)), contenders: []contender{
			{name: "rehome", args: func(to string) []string { return b.convert(big+"#"+id, to, "--to", "canonical") }},
			{name: theLeast, args: func(to string) []string { return b.python3("ide_small.py", big, to, id) }},
		}},
		job{name: fmt.Sprintf("the IDE's store, %s -> canonical", megabytes(big)), bytes: size(big), contenders: []contender{
			{name: "rehome", args: func(to string) []string { return b.convert(big, to, "--to", "canonical") }},
		}},
	), nil
}

// ide is the path of a generated user dir of the editor.
func (b *bench) ide(ctx context.Context, megabytes int) (string, error) {
	return b.input(ctx, fmt.Sprintf("ide-%d", megabytes), func(dir string) []string {
		return []string{"genide.py", dir, strconv.Itoa(megabytes)}
	})
}

// checkIDE lets the two programs judge each other: the same words, calls,
// arguments and results, in the same order.
func (b *bench) checkIDE(ctx context.Context, store string) error {
	ours, small := b.made("ide-canonical"), b.made("ide-small")
	err := commands(ctx,
		b.convert(store, ours, "--to", "canonical"), b.python3("ide_small.py", store, small),
		b.python3("session_careful.py", "agree", small, ours),
	)
	if err != nil {
		return err
	}
	return errors.Join(os.RemoveAll(ours), os.RemoveAll(small))
}
