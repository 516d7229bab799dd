package main

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"slices"

	"rehome/convert"
)

// demoMigrated is the chat of the demo as a session of another client.
type demoMigrated struct {
	Session  string `json:"session"`
	File     string `json:"file"`
	Continue string `json:"continue"`

	title           string
	turns, messages int64
	losses          int64      // things that were reshaped, worked out or left behind
	tools           [][]string // what a call was of, and what it is of now
	size            int64      // of File
}

// The folder that the chat goes on in, and the config folder of its client.
const (
	demoApp    = "my-app"
	demoClaude = "claude"
)

// goOn makes the chat a session of Claude Code, in a config folder of the demo's.
func (t tour) goOn(res *demoResult) error {
	if err := os.Mkdir(t.path(demoApp), 0o755); err != nil {
		return err
	}
	cwd, err := workplace(t.path(demoApp))
	if err != nil {
		return err
	}
	dir := t.path(demoClaude)
	done, err := convert.Migrate(t.ctx, t.reg, []convert.MigrateSource{{Path: t.path("chat/store.db")}}, convert.MigrateOptions{To: "claude-code", Dir: dir, Cwd: cwd})
	if err != nil {
		return err
	}
	m := &done.Migrated[0]
	if m.Err() != nil {
		return m.Err()
	}
	r := &res.Migrated
	file, err := filepath.Rel(t.folder, m.File)
	if err != nil {
		return err
	}
	r.Session, r.File, r.title, r.turns, r.messages = m.Session, filepath.ToSlash(file), m.Title, m.Turns, m.Messages
	for _, l := range m.Losses {
		r.losses += l.Count
	}
	// The client finds the folder by its real path; people know it by this one.
	named := *m
	named.Cwd = t.path(demoApp)
	r.Continue = command(&named, dir, "")
	return r.read(m.File)
}

// read takes from the session's file what became of its tools.
func (r *demoMigrated) read(path string) error {
	b, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	r.size = int64(len(b))
	for line := range bytes.Lines(b) {
		var doc struct {
			Type    string `json:"type"`
			Message struct {
				Content json.RawMessage `json:"content"`
			} `json:"message"`
			Rehome struct {
				Tool string `json:"tool"`
			} `json:"rehome"`
		}
		if err := json.Unmarshal(line, &doc); err != nil {
			return err
		}
		if doc.Rehome.Tool == "" {
			continue
		}
		var calls []struct {
			Name string `json:"name"`
		}
		if err := json.Unmarshal(doc.Message.Content, &calls); err != nil {
			return err
		}
		for _, c := range calls {
			pair := []string{doc.Rehome.Tool, "-> " + c.Name}
			if !slices.ContainsFunc(r.tools, func(p []string) bool { return slices.Equal(p, pair) }) {
				r.tools = append(r.tools, pair)
			}
		}
	}
	return nil
}
