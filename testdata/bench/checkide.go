package main

import (
	"context"
	"fmt"
	"path/filepath"
)

// checkIDEJobs ask the rules of an editor's store, and of a session's archive
// that is text. SQLite's own check and a full read of all values is what the
// first two layers are measured by: they do that, and look at every record.
func (b *bench) checkIDEJobs(ctx context.Context) ([]job, error) {
	store, err := b.ide(ctx, b.megabytes)
	if err != nil {
		return nil, err
	}
	archive := b.made("checked-archive")
	if err := commands(ctx, b.convert(store, archive, "--to", "archive")); err != nil {
		return nil, err
	}
	check := func(at string, more ...string) func(string) []string {
		return func(string) []string { return append([]string{b.rehome, "check", at, "--fail-on", "error"}, more...) }
	}
	db := filepath.Join(store, "globalStorage", "state.vscdb")
	return []job{
		{name: fmt.Sprintf("check of the IDE's store, %s: container, references", megabytes(store)), bytes: size(store), contenders: []contender{
			{name: "rehome", stdout: true, args: check(store, "--layer", "container,references")},
			{name: "sqlite3 integrity_check, and all values", wanted: 0.25, stdout: true, args: func(string) []string {
				return []string{"sqlite3", "-readonly", db, "PRAGMA integrity_check; SELECT sum(length(CAST(value AS BLOB))) FROM cursorDiskKV; SELECT sum(length(value)) FROM composerHeaders"}
			}},
		}},
		{name: "check of the same: all layers but secrets", bytes: size(store), contenders: []contender{
			{name: "rehome", rate: 50, stdout: true, args: check(store)},
		}},
		{name: "check of its archive: all layers but secrets", bytes: size(archive), contenders: []contender{
			{name: "rehome", rate: 50, stdout: true, args: check(archive)},
		}},
	}, nil
}
