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

	"rehome/cmd/rehome/internal/demochat"
	"rehome/formats"
	"rehome/internal/udiff"
)

type demoCmd struct{}

func (demoCmd) Help() string {
	return `Shows a sample chat, migrates it to Claude Code, converts it to text for git and back, and finds a file missing from
a commit. Everything is written to a new temporary folder, which is kept for you to explore.

Examples:

    rehome demo
    rehome demo --color always | less -R`
}

// demoResult is the outcome of the demo: schema demo-result-2. Its text shows
// the four steps.
type demoResult struct {
	Folder   string   `json:"folder"`
	Session  string   `json:"session"`  // in Claude Code
	Continue string   `json:"continue"` // the command that opens it there
	Diff     demoDiff `json:"diff"`
	Equal    bool     `json:"equal"`  // the restored store gives the same text
	Caught   bool     `json:"caught"` // check reported the damage

	chat, diff, report      []string // output of the commands
	turns, messages, losses int64
}

// demoDiff counts the lines that one more turn changes in the output of show.
type demoDiff struct {
	Added   int `json:"added"`
	Removed int `json:"removed"`
}

// demoRun is a demo in progress. The working directory is the demo's folder, so
// that the commands run exactly as they are printed.
type demoRun struct{ *app }

// Run shows a chat, continues it in Claude Code, converts it to text and back,
// and damages the text.
func (demoCmd) Run(a *app) error {
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
	t, res := demoRun{a}, &demoResult{Folder: folder}
	for _, step := range []func(*demoResult) error{t.showChat, t.migrateChat, t.roundTrip, t.damageText} {
		if err := step(res); err != nil {
			return err
		}
	}
	if err := a.out.printResult(res); err != nil {
		return err
	}
	if !res.Equal || !res.Caught {
		return reported{&formats.Error{Op: "demo", At: folder, Err: errors.New("a step did not produce the expected result")}}
	}
	return nil
}

// showChat prints the chat.
func (d demoRun) showChat(res *demoResult) (err error) {
	if err := d.writeSample("login.db"); err != nil {
		return err
	}
	res.chat, err = d.run(0, "show", "chat/store.db")
	return err
}

// migrateChat migrates the chat to Claude Code, in a config folder of the demo.
func (d demoRun) migrateChat(res *demoResult) error {
	if err := os.Mkdir("my-app", 0o755); err != nil {
		return err
	}
	lines, err := d.run(0, "migrate", "chat/store.db", "--cwd", "my-app", "--claude-dir", "claude", "--json")
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

// roundTrip converts the chat to text and back, and compares what show prints
// before and after one more turn.
func (d demoRun) roundTrip(res *demoResult) error {
	for _, args := range [][]string{
		{"convert", "chat/store.db", "text", "--to", "archive"},
		{"convert", "text", "restored/store.db"},
		{"convert", "restored/store.db", "again", "--to", "archive"},
	} {
		if _, err := d.run(0, args...); err != nil {
			return err
		}
	}
	var err error
	if res.Equal, err = equalFolders("text", "again"); err != nil {
		return err
	}
	if err := d.writeSample("login-later.db"); err != nil {
		return err
	}
	later, err := d.run(0, "show", "chat/store.db")
	if err != nil {
		return err
	}
	for _, h := range udiff.Changes(res.chat, later) {
		for _, l := range res.chat[h.OldStart : h.OldStart+h.Removed] {
			res.diff = append(res.diff, "-"+l)
		}
		for _, l := range later[h.NewStart : h.NewStart+h.Added] {
			res.diff = append(res.diff, "+"+l)
		}
		res.Diff.Added, res.Diff.Removed = res.Diff.Added+h.Added, res.Diff.Removed+h.Removed
	}
	return nil
}

// damageText deletes a file, as an incomplete commit would, and runs check on the rest.
func (d demoRun) damageText(res *demoResult) (err error) {
	if err := os.Remove("text/blobs.ndjson"); err != nil {
		return err
	}
	res.report, err = d.run(4, "check", "text")
	res.Caught = err == nil
	return err
}

// run runs one command of this program and returns the lines it prints.
func (d demoRun) run(want int, args ...string) ([]string, error) {
	var stdout, stderr bytes.Buffer
	code := run(d.ctx, args, &stdout, &stderr, func(name string) string {
		return map[string]string{"TZ": "UTC", "COLUMNS": "76"}[name]
	})
	if err := d.ctx.Err(); err != nil {
		return nil, err
	}
	if code != want {
		return nil, &formats.Error{Op: "demo", At: "rehome " + strings.Join(args, " "), Err: fmt.Errorf("exit %d: %s%s", code, stdout.String(), stderr.String())}
	}
	return splitLines(stdout.Bytes()), nil
}

// writeSample writes a sample store where a client would keep it.
func (demoRun) writeSample(sample string) error {
	b, err := demochat.Stores.ReadFile(sample)
	if err != nil {
		return err
	}
	if err := os.MkdirAll("chat", 0o755); err != nil {
		return &formats.Error{Op: "demo", Err: err}
	}
	return os.WriteFile("chat/store.db", b, 0o644)
}

// equalFolders reports whether two folders without subfolders hold the same
// files with the same bytes.
func equalFolders(a, b string) (bool, error) {
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

func splitLines(b []byte) []string {
	if len(b) == 0 {
		return nil
	}
	return strings.Split(strings.TrimSuffix(string(b), "\n"), "\n")
}
