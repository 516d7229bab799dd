package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
)

// sessionJobs read what chats mean: many small ones, and one that does not fit
// the memory we promise.
func (b *bench) sessionJobs(ctx context.Context) ([]job, error) {
	chats, err := b.input(ctx, fmt.Sprintf("sessions-%d", b.stores), func(dir string) []string {
		return []string{"gensession.py", "chats", dir, strconv.Itoa(b.stores)}
	})
	if err != nil {
		return nil, err
	}
	long, err := b.input(ctx, fmt.Sprintf("long-%d", b.turns), func(dir string) []string {
		return []string{"gensession.py", "long", dir, strconv.Itoa(b.turns), "100"}
	})
	if err != nil {
		return nil, err
	}
	if err := b.checkSessions(ctx, chats); err != nil {
		return nil, err
	}
	return []job{
		{name: fmt.Sprintf("%d store.db, %s -> canonical", b.stores, megabytes(chats)), bytes: size(chats), contenders: []contender{
			{name: "rehome", args: func(to string) []string { return b.convert(chats, to, "--to", "canonical") }},
			{name: theLeast, wanted: 8, args: func(to string) []string { return b.python3("session_small.py", chats, to) }},
			{name: samePromises, args: func(to string) []string { return b.python3("session_careful.py", chats, to) }},
		}},
		{name: fmt.Sprintf("one session of %d turns, %s -> canonical", b.turns, megabytes(long)), bytes: size(long), contenders: []contender{
			{name: "rehome", args: func(to string) []string { return b.convert(long, to, "--to", "canonical") }},
			{name: theLeast, args: func(to string) []string { return b.python3("session_small.py", long, to) }},
		}},
	}, nil
}

// checkSessions lets the three programs judge each other: the same words,
// calls, arguments and results, in the same order.
func (b *bench) checkSessions(ctx context.Context, chats string) error {
	ours, small, careful := b.made("canonical"), b.made("canonical-small"), b.made("canonical-careful")
	err := commands(ctx,
		b.convert(chats, ours, "--to", "canonical"), b.python3("session_small.py", chats, small), b.python3("session_careful.py", chats, careful),
		b.python3("session_careful.py", "agree", small, careful), b.python3("session_careful.py", "agree", small, ours),
	)
	if err != nil {
		return err
	}
	return errors.Join(os.RemoveAll(ours), os.RemoveAll(small), os.RemoveAll(careful))
}

// size is that of a file or of all files below a folder.
func size(path string) (total int64) {
	_ = filepath.WalkDir(path, func(_ string, d os.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if info, err := d.Info(); err == nil && info.Mode().IsRegular() {
			total += info.Size()
		}
		return nil
	})
	return total
}
