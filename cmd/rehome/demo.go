package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"rehome/formats"
	"rehome/testdata/chat"
)

// demoResult is what the demo did and found: schema demo-result-2. Its text
// walks through the four steps.
type demoResult struct {
	Folder   string   `json:"folder"`
	Session  string   `json:"session"`  // in Claude Code
	Continue string   `json:"continue"` // the command that opens it there
	Diff     demoDiff `json:"diff"`
	Equal    bool     `json:"equal"`  // the restored store gives the same text
	Caught   bool     `json:"caught"` // check reported the fault

	chat, diff, report      []string // what the commands print
	turns, messages, losses int64
}

// demoDiff is what one more turn changes in a session printed by show.
type demoDiff struct {
	Added   int `json:"added"`
	Removed int `json:"removed"`
}

// tour is a demo under way. The working directory is its folder, so that the
// commands run exactly as they are printed.
type tour struct{ *house }

// Run shows a chat, continues it in Claude Code, takes it to text and back,
// and damages the text.
func (demoCmd) Run(h *house) error {
	folder, err := os.MkdirTemp("", "rehome-demo-")
	if err == nil {
		folder, err = filepath.EvalSymlinks(folder) // as the client names it
	}
	if err != nil {
		return &formats.Error{Op: "demo", Err: err}
	}
	if before, err := os.Getwd(); err == nil {
		defer os.Chdir(before)
	}
	if err := os.Chdir(folder); err != nil {
		return &formats.Error{Op: "demo", Err: err}
	}
	t, res := tour{h}, &demoResult{Folder: folder}
	for _, step := range []func(*demoResult) error{t.look, t.goOn, t.keep, t.damage} {
		if err := step(res); err != nil {
			return err
		}
	}
	if err := h.out.show(res); err != nil {
		return err
	}
	if !res.Equal || !res.Caught {
		return shown{&formats.Error{Op: "demo", At: folder, Err: errors.New("rehome did not do what it promises")}}
	}
	return nil
}

// look prints the chat.
func (t tour) look(res *demoResult) (err error) {
	if err := t.lay("login.db"); err != nil {
		return err
	}
	res.chat, err = t.rehome(0, "show", "chat/store.db")
	return err
}

// goOn makes the chat a session of Claude Code, in a config folder of its own.
func (t tour) goOn(res *demoResult) error {
	if err := os.Mkdir("my-app", 0o755); err != nil {
		return err
	}
	lines, err := t.rehome(0, "migrate", "chat/store.db", "--cwd", "my-app", "--claude-dir", "claude", "--json")
	if err != nil {
		return err
	}
	var report struct {
		Migrated []struct {
			Session, Continue string
			Turns, Messages   int64
			Losses            []struct{ Count int64 }
		}
	}
	if err := json.Unmarshal([]byte(strings.Join(lines, "\n")), &report); err != nil {
		return err
	}
	for _, m := range report.Migrated {
		res.Session, res.Continue, res.turns, res.messages = m.Session, m.Continue, m.Turns, m.Messages
		for _, l := range m.Losses {
			res.losses += l.Count
		}
	}
	return nil
}

// keep takes the chat to text and back, and shows it again one turn later.
func (t tour) keep(res *demoResult) error {
	for _, args := range [][]string{
		{"convert", "chat/store.db", "text", "--to", "archive"},
		{"convert", "text", "restored/store.db"},
		{"convert", "restored/store.db", "again", "--to", "archive"},
	} {
		if _, err := t.rehome(0, args...); err != nil {
			return err
		}
	}
	var err error
	if res.Equal, err = sameFolders("text", "again"); err != nil {
		return err
	}
	if err := t.lay("login-later.db"); err != nil {
		return err
	}
	later, err := t.rehome(0, "show", "chat/store.db")
	if err != nil {
		return err
	}
	for _, h := range hunks(res.chat, later) {
		for _, l := range res.chat[h.old : h.old+h.removed] {
			res.diff = append(res.diff, "-"+l)
		}
		for _, l := range later[h.fresh : h.fresh+h.added] {
			res.diff = append(res.diff, "+"+l)
		}
		res.Diff.Added, res.Diff.Removed = res.Diff.Added+h.added, res.Diff.Removed+h.removed
	}
	return nil
}

// damage leaves a file out, as a commit might, and has check find it.
func (t tour) damage(res *demoResult) (err error) {
	if err := os.Remove("text/blobs.ndjson"); err != nil {
		return err
	}
	res.report, err = t.rehome(4, "check", "text")
	res.Caught = err == nil
	return err
}

// rehome runs one command of this program and returns what it prints.
func (t tour) rehome(want int, args ...string) ([]string, error) {
	var stdout, stderr bytes.Buffer
	code := run(t.ctx, args, &stdout, &stderr, func(name string) string {
		return map[string]string{"TZ": "UTC", "COLUMNS": "76"}[name]
	})
	if err := t.ctx.Err(); err != nil {
		return nil, err
	}
	if code != want {
		return nil, &formats.Error{Op: "demo", At: "rehome " + strings.Join(args, " "), Err: fmt.Errorf("exit %d: %s%s", code, stdout.String(), stderr.String())}
	}
	return lines(stdout.Bytes()), nil
}

// lay puts a store of the sample where a client would have it.
func (tour) lay(sample string) error {
	b, err := chat.Demo.ReadFile(sample)
	if err != nil {
		return err
	}
	if err := os.MkdirAll("chat", 0o755); err != nil {
		return &formats.Error{Op: "demo", Err: err}
	}
	return os.WriteFile("chat/store.db", b, 0o644)
}

// sameFolders reports whether two folders without subfolders hold the same
// files with the same bytes.
func sameFolders(a, b string) (bool, error) {
	left, err := os.ReadDir(a)
	if err != nil {
		return false, err
	}
	right, err := os.ReadDir(b)
	if err != nil || !slices.EqualFunc(left, right, func(x, y os.DirEntry) bool { return x.Name() == y.Name() }) {
		return false, err
	}
	for _, f := range left {
		x, err := os.ReadFile(filepath.Join(a, f.Name()))
		if err != nil {
			return false, err
		}
		y, err := os.ReadFile(filepath.Join(b, f.Name()))
		if err != nil || !bytes.Equal(x, y) {
			return false, err
		}
	}
	return true, nil
}
