package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
)

// migrateJobs carry Cursor's sessions to Claude Code: many small stores, and an
// editor's. Every file is held against the rules of its client before it is
// placed, which is part of the time.
func (b *bench) migrateJobs(ctx context.Context) ([]job, error) {
	chats, err := b.input(ctx, fmt.Sprintf("sessions-%d", b.stores), func(dir string) []string {
		return []string{"gensession.py", "chats", dir, strconv.Itoa(b.stores)}
	})
	if err != nil {
		return nil, err
	}
	editor, err := b.ide(ctx, b.megabytes)
	if err != nil {
		return nil, err
	}
	if err := b.checkMigrated(ctx, chats, b.stores); err != nil {
		return nil, err
	}
	const asked = 40
	return []job{
		{name: fmt.Sprintf("%d store.db, %s -> Claude Code", b.stores, megabytes(chats)), bytes: size(chats), contenders: []contender{
			{name: "rehome", rate: asked, args: func(to string) []string { return b.migrate(chats, to) }},
		}},
		{name: fmt.Sprintf("the IDE's store, %s -> Claude Code", megabytes(editor)), bytes: size(editor), contenders: []contender{
			{name: "rehome", rate: asked, args: func(to string) []string { return b.migrate(editor, to) }},
		}},
	}, nil
}

// migrate carries all sessions of a source to a config folder. They are to
// belong to a folder that is there.
func (b *bench) migrate(from, to string) []string {
	return []string{b.rehome, "migrate", from, "--cwd", b.root, "--claude-dir", to}
}

// checkMigrated counts the sessions that arrive.
func (b *bench) checkMigrated(ctx context.Context, from string, sessions int) error {
	to := b.made("migrated")
	if err := commands(ctx, b.migrate(from, to)); err != nil {
		return err
	}
	count := 0
	err := filepath.WalkDir(to, func(path string, d fs.DirEntry, err error) error {
		if err == nil && d.Type().IsRegular() && filepath.Ext(path) == ".jsonl" {
			count++
		}
		return err
	})
	if err == nil && count != sessions {
		err = fmt.Errorf("%d sessions of %d arrived", count, sessions)
	}
	return errors.Join(err, os.RemoveAll(to))
}
