package cli

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"rehome/cmd/internal/console"
	"rehome/cmd/internal/demochat"
	"rehome/convert"
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
type demoRun struct {
	*console.App
	demoResult
	err error // the first one; nothing runs after it
}

// Run shows a chat, continues it in Claude Code, converts it to text and back,
// and damages the text.
func (demoCmd) Run(a *console.App) error {
	folder, err := os.MkdirTemp("", "rehome-demo-")
	if err == nil {
		folder, err = filepath.EvalSymlinks(folder) // as the client names it
	}
	if before, werr := os.Getwd(); werr == nil {
		defer os.Chdir(before)
	}
	if err = cmp.Or(err, os.Chdir(folder)); err != nil {
		return &formats.Error{Op: "demo", Err: err}
	}
	d := &demoRun{App: a, demoResult: demoResult{Folder: folder}}
	d.steps()
	if d.err == nil {
		d.err = a.Out.Print(a.Ctx, &d.demoResult)
	}
	if d.err == nil && (!d.Equal || !d.Caught) {
		return console.Printed(&formats.Error{Op: "demo", At: folder, Err: errors.New("a step did not produce the expected result")})
	}
	return d.err
}

func (d *demoRun) steps() {
	d.writeSample("login.db")
	d.chat = d.run(0, "show", "chat/store.db")
	d.err = cmp.Or(d.err, os.Mkdir("my-app", 0o755))
	var to struct {
		Migrated []struct {
			Session, Continue string
			Turns, Messages   int64
			Losses            []struct{ Count int64 }
		}
	}
	d.runJSON(&to, "migrate", "chat/store.db", "--cwd", "my-app", "--claude-dir", "claude")
	for _, m := range to.Migrated {
		d.Session, d.Continue, d.turns, d.messages = m.Session, m.Continue, m.Turns, m.Messages
		for _, l := range m.Losses {
			d.losses += l.Count
		}
	}
	d.run(0, "convert", "chat/store.db", "text", "--to", "archive")
	d.run(0, "convert", "text", "restored/store.db")
	var again struct{ Stores []struct{ Change string } }
	d.runJSON(&again, "convert", "restored/store.db", "text", "--to", "archive", "--update")
	d.Equal = len(again.Stores) == 1 && again.Stores[0].Change == convert.Unchanged
	d.writeSample("login-later.db") // one more turn
	later := d.run(0, "show", "chat/store.db")
	for _, h := range udiff.Changes(d.chat, later) {
		for _, l := range d.chat[h.OldStart : h.OldStart+h.Removed] {
			d.diff = append(d.diff, "-"+l)
		}
		for _, l := range later[h.NewStart : h.NewStart+h.Added] {
			d.diff = append(d.diff, "+"+l)
		}
		d.Diff.Added, d.Diff.Removed = d.Diff.Added+h.Added, d.Diff.Removed+h.Removed
	}
	d.err = cmp.Or(d.err, os.Remove("text/blobs.ndjson")) // as an incomplete commit would
	d.report = d.run(4, "check", "text")
	d.Caught = d.err == nil
}

// run runs one command of this program and returns the lines it prints.
func (d *demoRun) run(want int, args ...string) []string {
	if d.err != nil {
		return nil
	}
	var stdout, stderr bytes.Buffer
	code := run(d.Ctx, args, &stdout, &stderr, func(name string) string {
		return map[string]string{"TZ": "UTC", "COLUMNS": "76"}[name]
	})
	if d.err = d.Ctx.Err(); d.err == nil && code != want {
		d.err = &formats.Error{Op: "demo", At: "rehome " + strings.Join(args, " "),
			Err: fmt.Errorf("exit %d: %s%s", code, stdout.String(), stderr.String())}
	}
	return strings.Split(strings.TrimSuffix(stdout.String(), "\n"), "\n")
}

// runJSON runs one command with --json.
func (d *demoRun) runJSON(result any, args ...string) {
	if lines := d.run(0, append(args, "--json")...); d.err == nil {
		d.err = json.Unmarshal([]byte(strings.Join(lines, "\n")), result)
	}
}

// writeSample writes a sample store where a client would keep it.
func (d *demoRun) writeSample(sample string) {
	b, err := demochat.Stores.ReadFile(sample)
	d.err = cmp.Or(d.err, err, os.MkdirAll("chat", 0o755), os.WriteFile("chat/store.db", b, 0o644))
}
