package main

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"rehome/cmd/rehome/internal/screen"
	"rehome/convert"
	"rehome/formats"
)

// migrateResult is what became of sessions: schema migrate-result-1.
type migrateResult struct {
	To       string         `json:"to"`
	Dir      string         `json:"dir"`
	DryRun   bool           `json:"dry_run"`
	Migrated []migrateEntry `json:"migrated"`

	Empty     int `json:"empty,omitempty"`
	Histories int `json:"prompt_histories,omitempty"`
}

// migrateEntry is a session, and the one command that continues it.
type migrateEntry struct {
	*convert.Migrated
	Continue string `json:"continue,omitempty"`
}

// Validate refuses what the grammar alone cannot.
func (c *migrateCmd) Validate() error {
	refuse := func(what, hint string) error { return &formats.Error{Err: errors.New(what), Hint: hint} }
	for _, folder := range []struct {
		flag  string
		value *string
	}{{"--cwd", c.Cwd}, {"--home", c.Home}, {"--claude-dir", c.ClaudeDir}, {"--project", c.Project}} {
		if folder.value != nil && *folder.value == "" {
			return refuse(folder.flag+": empty", "name a folder, or omit the flag")
		}
	}
	switch {
	case c.Jobs < 0:
		return fmt.Errorf("--jobs: must not be negative: %d", c.Jobs)
	case c.All != (c.Project != nil):
		return refuse("--project and --all must be used together", "--project DIR --all migrates every session of that folder")
	case c.All && (c.Src != "" || c.Last):
		return refuse("--all cannot be combined with SRC or --last", "omit SRC and --last")
	case c.Last && c.Src != "":
		return refuse("--last cannot be combined with SRC", "omit one of them")
	case c.Src == "" && !c.Last && !c.All:
		return refuse("SRC is missing", "name a session or a store, or pass --last for the newest session of this directory")
	}
	return nil
}

// Run migrates the sessions, and prints how to continue them.
func (c *migrateCmd) Run(h *house) error {
	usual, _ := (&migrateCmd{}).configDir(h.out.getenv)
	if c.Home != nil {
		h.out.getenv = elsewhere(*c.Home)
	}
	o := convert.MigrateOptions{
		From: c.From, To: c.To, DropThinking: c.NoThinking || c.Thinking == "drop", History: c.History, FullHistory: c.Compacted,
		Update: c.Update, Again: c.Again, DryRun: c.DryRun, Live: c.Live, Jobs: c.Jobs, Say: h.out.say,
	}
	var err error
	if o.Dir, err = c.configDir(h.out.getenv); err != nil {
		return err
	}
	if c.Cwd != nil {
		if o.Cwd, err = workplace(*c.Cwd); err != nil {
			return err
		}
	}
	from, folders, err := c.sources(h)
	if err != nil {
		return err
	}
	o.Folders = append(here(), folders...)
	var in *spooled
	if len(from) == 1 {
		if in, err = h.stdin(from[0].Path); err != nil {
			return err
		}
		defer in.remove()
		from[0].Path = in.path
	}
	o.Progress = h.out.progress()
	done, err := convert.Migrate(h.ctx, h.reg, from, o)
	h.out.endProgress()
	if in != nil {
		err = in.restate(err)
	}
	if len(done.Migrated) == 0 && err != nil {
		return err
	}
	res := &migrateResult{To: done.To, Dir: done.Dir, DryRun: done.DryRun, Migrated: []migrateEntry{}, Empty: done.Empty, Histories: done.Histories}
	for i := range done.Migrated {
		m := &done.Migrated[i]
		e := migrateEntry{Migrated: m}
		if m.Err() == nil && (!o.DryRun || m.Status == convert.Same) {
			e.Continue = command(m, o.Dir, usual)
		}
		res.Migrated = append(res.Migrated, e)
	}
	if len(res.Migrated) == 1 && err == nil && done.Migrated[0].Err() != nil {
		return done.Migrated[0].Err() // the whole story
	}
	if werr := h.out.show(res); werr != nil {
		return errors.Join(err, werr)
	}
	if failed := done.Count(convert.Failed); failed > 0 {
		err = errors.Join(err, fmt.Errorf("%d of %s failed", failed, many(int64(len(res.Migrated)), "session")))
	}
	if err != nil {
		return shown{err}
	}
	return nil
}

// sources are the sessions that are meant, by the stores that hold them, and the
// folders that they were found to belong to.
func (c *migrateCmd) sources(h *house) (out []convert.MigrateSource, folders []string, err error) {
	if !c.All {
		src, err := h.meant(c.Src, c.Last, c.Live)
		one := convert.MigrateSource{Path: src.path}
		if src.session != "" {
			one.Sessions = []string{src.session}
		}
		return []convert.MigrateSource{one}, []string{src.folder}, err
	}
	listing, err := (&lsCmd{Project: *c.Project, Live: c.Live}).list(h)
	if err != nil {
		return nil, nil, err
	}
	found, _ := listing.Select(convert.ListFilter{Project: *c.Project})
	at := map[string]int{}
	for _, s := range found {
		if s.Sources[0].Format == c.To {
			continue // the client has it
		}
		path := s.Sources[0].Path
		n, ok := at[path]
		if !ok {
			n = len(out)
			at[path] = n
			out = append(out, convert.MigrateSource{Path: path})
		}
		out[n].Sessions, folders = append(out[n].Sessions, s.ID), append(folders, s.Workspace)
	}
	if len(out) == 0 {
		return nil, nil, &formats.Error{At: *c.Project, Err: errors.New("no session of another client belongs to this folder"), Hint: "run `rehome ls` to list all sessions"}
	}
	return out, folders, nil
}

// elsewhere is the environment of a user whose home folder is another: what
// ours says of clients' folders is not about theirs.
func elsewhere(home string) func(string) string {
	return func(name string) string {
		if name == homeVariable() {
			return home
		}
		return ""
	}
}

// configDir is where Claude Code keeps its sessions.
func (c *migrateCmd) configDir(getenv func(string) string) (string, error) {
	if c.ClaudeDir != nil {
		return filepath.Abs(*c.ClaudeDir)
	}
	if dir := getenv(claudeVariable); dir != "" {
		return filepath.Abs(dir)
	}
	home := getenv(homeVariable())
	if home == "" {
		return "", noHome("give --home DIR, or --claude-dir DIR")
	}
	return filepath.Abs(filepath.Join(home, ".claude"))
}

const claudeVariable = "CLAUDE_CONFIG_DIR"

// workplace is a folder by the name that a program has for it that works in
// it: without links.
func workplace(dir string) (string, error) {
	refuse := func(err error) (string, error) {
		return "", &formats.Error{At: dir, Err: err, Hint: "pass an existing folder with --cwd; the session continues in it"}
	}
	abs, err := filepath.Abs(dir)
	if err != nil {
		return refuse(err)
	}
	info, err := os.Stat(abs)
	switch {
	case errors.Is(err, os.ErrNotExist):
		return refuse(errors.New("no such folder"))
	case err != nil:
		return refuse(err)
	case !info.IsDir():
		return refuse(errors.New("not a folder"))
	}
	real, err := filepath.EvalSymlinks(abs)
	if err != nil {
		return refuse(err)
	}
	return real, sayable(real)
}

// command continues a session. A config folder that is not the usual
// one has to be named to the client.
func command(m *convert.Migrated, dir, usual string) string {
	say := "claude --resume " + m.Session
	if dir != usual {
		say = claudeVariable + "=" + shellWord(dir) + " " + say
	}
	return "cd " + shellWord(m.Cwd) + " && " + say
}

// shellWord is text as a shell reads it for one word. What a screen would spell
// out is spelled as a shell understands it, so that it can be pasted.
func shellWord(s string) string {
	plain := func(r rune) bool {
		return r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || strings.ContainsRune("/._-+:@%", r)
	}
	if s != "" && strings.TrimFunc(s, plain) == "" {
		return s
	}
	if string(screen.Visible(s)) == s {
		return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'"
	}
	b := []byte("$'")
	for _, c := range []byte(s) {
		if c < ' ' || c >= 0x7f || c == '\'' || c == '\\' {
			b = fmt.Appendf(b, `\%03o`, c)
		} else {
			b = append(b, c)
		}
	}
	return string(append(b, '\''))
}
