package main

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
)

// planted is in one message of each store that is searched. The second half has nothing
// to look for in stored bytes, so that a search for it decodes every session.
const (
	planted  = "quincunx"
	unstored = "&<>&<>&"
)

// searchJobs look for a word that one message has.
func (b *bench) searchJobs(ctx context.Context) ([]job, error) {
	ide, err := b.ide(ctx, b.megabytes)
	if err != nil {
		return nil, err
	}
	root, err := b.stateRoot(ctx, b.events)
	if err != nil {
		return nil, err
	}
	editor, agents, lines := b.made("search-ide"), b.made("search-root"), b.made("search-lines")
	if err := os.CopyFS(editor, os.DirFS(ide)); err != nil {
		return nil, err
	}
	if err := os.CopyFS(agents, os.DirFS(root)); err != nil {
		return nil, err
	}
	const text = `'"text":"', '"text":"` + planted + " " + unstored + ` '`
	err = commands(ctx,
		[]string{"sqlite3", filepath.Join(editor, "globalStorage", "state.vscdb"), "UPDATE cursorDiskKV SET value = replace(value, " + text + ") WHERE rowid = (SELECT rowid FROM cursorDiskKV WHERE key LIKE 'bubbleId:%' AND instr(value, '\"type\":1') > 0 LIMIT 1 OFFSET 9)"},
		[]string{"sqlite3", filepath.Join(agents, "index.db"), "UPDATE run_events SET payload_json = replace(payload_json, " + text + ") WHERE rowid = (SELECT rowid FROM run_events WHERE payload_json LIKE '%\"type\":\"assistant\"%' LIMIT 1 OFFSET 9)"},
		b.toLines(agents, lines),
	)
	if err != nil {
		return nil, err
	}
	var jobs []job
	for _, s := range []struct{ name, path string }{{"the IDE's store", editor}, {"the SDK's state root", agents}, {"the SDK's lines", lines}} {
		search := func(word string) func(string) []string {
			return func(string) []string { return []string{b.rehome, "search", "--path", s.path, word} }
		}
		jobs = append(jobs, job{name: fmt.Sprintf("search for a word in %s, %s", s.name, megabytes(s.path)), contenders: []contender{
			{name: "rehome", stdout: true, args: search(planted)},
			{name: "rehome, decoding every session", wanted: 5, stdout: true, args: search(unstored)},
			{name: "grep -r, without sessions or text", stdout: true, args: func(string) []string { return []string{"grep", "-r", planted, s.path} }},
		}})
	}
	return jobs, nil
}
