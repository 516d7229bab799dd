package cli

import (
	"context"
	"errors"
	"fmt"

	"rehome/cmd/internal/console"
	"rehome/cmd/internal/screen"
	"rehome/convert/backup"
	"rehome/convert/sessions"
	"rehome/formats"
)

type backupCmd struct {
	Dir string `arg:"" optional:"" help:"Folder of backups (default: rehome/backup in your data folder). Created if missing; private to you."`

	WithoutSecrets bool `group:"What to include:" help:"Leave out keys and tokens"`
	Delete         bool `group:"What to include:" help:"Drop sessions that no longer exist on this machine (kept by default)"`

	Keep     int    `group:"Output:" placeholder:"N" help:"Remove the oldest snapshots beyond N (default: keep all)"`
	DryRun   bool   `group:"Output:" help:"Read and verify everything, but write nothing"`
	List     bool   `group:"Output:" help:"List the snapshots in DIR, with their clients, sessions and size, without making one"`
	Schedule string `group:"Output:" name:"print-schedule" enum:",cron,launchd,windows,claude" default:"" placeholder:"FOR" help:"Print how to run this backup regularly: a line for cron, a plist for launchd, a command for windows, or a hook for claude. Installs nothing."`

	console.ReadFlags
}

func (backupCmd) Help() string {
	return `Each run makes a snapshot, DIR/<time in UTC>, that is complete by itself: SQLite stores as archives, all other stores
as copies of their files. Everything is verified. Equal files are hard links to the previous snapshot, so a snapshot
takes only the space of what has changed. If nothing has changed, there is no new snapshot.

Sessions of clients that rehome does not read, such as Gemini CLI and OpenCode, are kept too, without keys and logins.
The result lists what was left out, and docs/backup.md all clients.

Sessions that a client has deleted stay in the backup. The backup includes keys and tokens, so it is refused inside a
git work tree unless you pass --without-secrets.

Examples:

    rehome backup
    rehome backup /mnt/disk/sessions --keep 30
    rehome backup --list
    rehome backup --print-schedule cron`
}

type restoreCmd struct {
	Backup  string `arg:"" optional:"" help:"Folder of backups, or a snapshot in it (default: the newest snapshot in rehome/backup in your data folder)"`
	Session string `arg:"" optional:"" help:"Session to restore: its id, an id prefix, or words from its title (default: everything)"`

	Client  string `group:"Which sessions:" placeholder:"NAME" help:"Restore only sessions of this client: cursor-cli, cursor-sdk, cursor-ide, ... (cursor for all three), or one that is only kept, such as gemini-cli"`
	Project string `group:"Which sessions:" placeholder:"DIR" help:"Restore only sessions of this folder and its subfolders"`

	WithSettings bool `group:"Which sessions:" help:"Also restore files that are no sessions and tell a client what to do: memory, settings, MCP servers"`

	To      string `group:"Where to:" placeholder:"DIR" help:"Restore to this folder, as if it were your home folder"`
	Replace bool   `group:"Where to:" help:"Replace what is older than the backup, keeping it as NAME.bak-1 (-2, ...)"`
	DryRun  bool   `group:"Where to:" help:"Verify the backup and list what would be restored, without writing anything"`

	Jobs int `group:"Advanced:" placeholder:"N" help:"Max number of workers (default: one per CPU)"`
}

func (restoreCmd) Help() string {
	return `Restores stores to where their clients look for them. What exists is compared first: what is equal stays as it is, what
is older than the backup is refused unless you pass --replace, and what is newer is never touched.

Files that hold no session, such as Claude Code's memory of a project, can tell a client what to do. They are listed,
and restored only with --with-settings. Pass it for backups that you made yourself.

A store that holds many sessions is restored only as a whole. To get single sessions of it back, restore it to another
folder with --to, and migrate them from there.

Examples:

    rehome restore --dry-run
    rehome restore
    rehome restore --client claude-code --project ~/app
    rehome restore /mnt/disk/sessions/2026-11-22T172803Z 5d0b2b7e
    rehome restore --to ~/restored`
}

// backupResult is the report of a backup: schema backup-result-1.
type backupResult struct {
	*backup.Report
	verbose bool
}

// snapshotList is the list of a folder of backups: schema backup-list-1.
type snapshotList struct {
	Dir       string                `json:"dir"`
	Snapshots []backup.SnapshotInfo `json:"snapshots"`
}

// restoreResult is the report of a restore: schema restore-result-1.
type restoreResult struct {
	*backup.Restored
	withSettings bool
	verbose      bool
}

// Validate rejects invalid values of flags.
func (c *backupCmd) Validate() error {
	if c.Keep < 0 {
		return fmt.Errorf("--keep: must be at least 1: %d", c.Keep)
	}
	return nil
}

// backupDir returns the folder of backups: the given one, or that of this machine.
func backupDir(a *console.App, dir string) (string, error) {
	if dir != "" {
		return dir, nil
	}
	if dir = backup.Dir(console.Machine(a.Out.Getenv)); dir == "" {
		return "", console.NoHomeError("name a folder of backups")
	}
	return dir, nil
}

// Run backs up this machine and prints what has changed.
func (c *backupCmd) Run(a *console.App) error {
	dir, err := backupDir(a, c.Dir)
	if err != nil {
		return err
	}
	switch {
	case c.Schedule != "":
		return c.printSchedule(a, dir)
	case c.List:
		list, err := backup.List(dir)
		if err != nil {
			return err
		}
		return a.Out.Print(a.Ctx, &snapshotList{dir, list})
	}
	o := backup.Options{
		Machine: console.Machine(a.Out.Getenv), Program: version(), Now: a.Now, Keep: c.Keep, WithoutSecrets: c.WithoutSecrets, Delete: c.Delete,
		DryRun: c.DryRun, Live: c.Live, Jobs: c.Jobs, Folders: console.WorkingDirs(), OnNotice: a.Out.Remark, OnProgress: a.Out.Progress(),
	}
	report, err := backup.Run(a.Ctx, a.Reg, dir, o)
	a.Out.EndProgress()
	if errors.Is(err, context.Canceled) {
		return console.Summarize("interrupted: no snapshot was made", err)
	}
	if err != nil {
		return err
	}
	if err := a.Out.Print(a.Ctx, backupResult{report, a.Out.Verbose}); err != nil {
		return err
	}
	if n := report.Count(backup.Failed); n > 0 {
		errs := make([]error, 0, n)
		for i := range report.Stores {
			errs = append(errs, report.Stores[i].Err())
		}
		return console.Printed(console.Summarize(fmt.Sprintf("%d of %s could not be read", n, screen.Plural(int64(len(report.Stores)), "store")),
			sameKind(errs)))
	}
	return nil
}

// sameKind returns an error that is busy only if all are: one busy store among many
// does not make the whole run busy.
func sameKind(errs []error) error {
	for _, err := range errs {
		if err != nil && !errors.Is(err, formats.ErrBusy) {
			return err
		}
	}
	return errors.Join(errs...)
}

// Validate rejects combinations of flags that the grammar allows.
func (c *restoreCmd) Validate() error {
	if c.Jobs < 0 {
		return fmt.Errorf("--jobs: must not be negative: %d", c.Jobs)
	}
	return nil
}

// Run restores from a backup and prints what it restored.
func (c *restoreCmd) Run(a *console.App) error {
	if c.Backup != "" && c.Session == "" && !console.Exists(c.Backup) { // the only argument is a session
		c.Backup, c.Session = "", c.Backup
	}
	dir, err := backupDir(a, c.Backup)
	if err != nil {
		return err
	}
	snapshot, err := backup.Open(a.Reg, dir)
	if err != nil {
		return err
	}
	o := backup.RestoreOptions{
		Machine: console.Machine(a.Out.Getenv), To: c.To, Client: c.Client, Project: c.Project, Replace: c.Replace, WithSettings: c.WithSettings,
		DryRun: c.DryRun, Jobs: c.Jobs, OnNotice: a.Out.Remark,
	}
	if c.Session != "" {
		if o.IDs, err = findInSnapshot(a, snapshot.Listing(), snapshot.Dir, c.Session); err != nil {
			return err
		}
	}
	done, err := backup.Restore(a.Ctx, snapshot, o)
	if err != nil {
		return err
	}
	if err := a.Out.Print(a.Ctx, restoreResult{done, c.WithSettings, a.Out.Verbose}); err != nil {
		return err
	}
	failed, older := done.Count(backup.Failed), done.Count(backup.Older)
	all := screen.Plural(int64(len(done.Stores)), "store")
	switch {
	case failed > 0:
		return console.Printed(fmt.Errorf("%d of %s could not be restored", failed, all))
	case older > 0:
		return console.Printed(fmt.Errorf("%d of %s not restored: older than the backup", older, all))
	}
	return nil
}

// findInSnapshot returns the id of the session that a name stands for in a backup.
func findInSnapshot(a *console.App, l *sessions.Listing, dir, name string) ([]string, error) {
	found := withoutCopies(l.Find(name))
	if len(found) == 0 {
		return nil, &formats.Error{At: dir, Err: fmt.Errorf("no session %q in this backup%s", name, shortPrefix(name)),
			Hint: "run `rehome restore --dry-run -v` to list its stores, or name another snapshot"}
	}
	if !sameID(found) {
		if _, err := pick(a, l, name, found); err != nil {
			return nil, err
		}
	}
	return []string{found[0].ID}, nil
}
