package main

import (
	"context"
	"errors"
	"fmt"

	"rehome/convert/backup"
	"rehome/convert/sessions"
	"rehome/formats"
)

// backupResult is the report of a backup: schema backup-result-1.
type backupResult struct {
	*backup.Report
	verbose bool
}

// restoreResult is the report of a restore: schema restore-result-1.
type restoreResult struct {
	*backup.Restored
	verbose bool
}

// Validate rejects invalid values of flags.
func (c *backupCmd) Validate() error {
	switch {
	case c.Jobs < 0:
		return fmt.Errorf("--jobs: must not be negative: %d", c.Jobs)
	case c.Keep < 0:
		return fmt.Errorf("--keep: must be at least 1: %d", c.Keep)
	}
	return nil
}

// backupDir returns the folder of backups: the given one, or that of this machine.
func backupDir(a *app, dir string) (string, error) {
	if dir != "" {
		return dir, nil
	}
	if dir = backup.Dir(machine(a.out.getenv)); dir == "" {
		return "", noHomeError("name a folder of backups")
	}
	return dir, nil
}

// Run backs up this machine and prints what has changed.
func (c *backupCmd) Run(a *app) error {
	dir, err := backupDir(a, c.Dir)
	if err != nil {
		return err
	}
	if c.Schedule != "" {
		return c.printSchedule(a, dir)
	}
	o := backup.Options{
		Machine: machine(a.out.getenv), Program: version(), Now: a.now, Keep: c.Keep, WithoutSecrets: c.WithoutSecrets, Delete: c.Delete,
		DryRun: c.DryRun, Live: c.Live, Jobs: c.Jobs, Folders: workingDirs(), OnNotice: a.out.remark, OnProgress: a.out.progress(),
	}
	report, err := backup.Run(a.ctx, a.reg, dir, o)
	a.out.endProgress()
	if errors.Is(err, context.Canceled) {
		return summary{"interrupted: no snapshot was made", err}
	}
	if err != nil {
		return err
	}
	if err := a.out.printResult(backupResult{report, a.out.verbose}); err != nil {
		return err
	}
	if n := report.Count(backup.Failed); n > 0 {
		errs := make([]error, 0, n)
		for i := range report.Stores {
			errs = append(errs, report.Stores[i].Err())
		}
		return reported{summary{fmt.Sprintf("%d of %s could not be read", n, plural(int64(len(report.Stores)), "store")), sameKind(errs)}}
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
func (c *restoreCmd) Run(a *app) error {
	if c.Backup != "" && c.Session == "" && !exists(c.Backup) { // the only argument is a session
		c.Backup, c.Session = "", c.Backup
	}
	dir, err := backupDir(a, c.Backup)
	if err != nil {
		return err
	}
	snapshot, err := backup.Open(a.reg, dir)
	if err != nil {
		return err
	}
	o := backup.RestoreOptions{
		Machine: machine(a.out.getenv), To: c.To, Client: c.Client, Project: c.Project, Replace: c.Replace, DryRun: c.DryRun, Jobs: c.Jobs, OnNotice: a.out.remark,
	}
	if c.Session != "" {
		if o.IDs, err = a.findIn(snapshot.Listing(), snapshot.Dir, c.Session); err != nil {
			return err
		}
	}
	done, err := backup.Restore(a.ctx, snapshot, o)
	if err != nil {
		return err
	}
	if err := a.out.printResult(restoreResult{done, a.out.verbose}); err != nil {
		return err
	}
	failed, older := done.Count(backup.Failed), done.Count(backup.Older)
	all := plural(int64(len(done.Stores)), "store")
	switch {
	case failed > 0:
		return reported{fmt.Errorf("%d of %s could not be restored", failed, all)}
	case older > 0:
		return reported{fmt.Errorf("%d of %s not restored: older than the backup", older, all)}
	}
	return nil
}

// findIn returns the id of the session that a name stands for in a backup.
func (a *app) findIn(l *sessions.Listing, dir, name string) ([]string, error) {
	found := a.withoutCopies(l.Find(name))
	if len(found) == 0 {
		return nil, &formats.Error{At: dir, Err: fmt.Errorf("no session %q in this backup%s", name, shortPrefix(name)), Hint: "run `rehome restore --dry-run -v` to list its stores, or name another snapshot"}
	}
	if !sameID(found) {
		if _, err := a.pick(l, name, found); err != nil {
			return nil, err
		}
	}
	return []string{found[0].ID}, nil
}
