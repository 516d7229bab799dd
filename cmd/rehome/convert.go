package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"
	"unicode/utf8"

	"rehome/convert"
	"rehome/formats"
	"rehome/formats/loss"
)

// convertResult is the report of a conversion: schema convert-result-1.
type convertResult struct{ *convert.Report }

// Validate rejects combinations of flags that the grammar allows.
func (c *convertCmd) Validate() error {
	if c.Last && c.Dst == "" { // the only argument is DST
		c.Src, c.Dst = "", c.Src
	}
	refuse := func(what, hint string) error { return &formats.Error{Err: errors.New(what), Hint: hint} }
	switch {
	case c.Jobs < 0:
		return fmt.Errorf("--jobs: must not be negative: %d", c.Jobs)
	case c.Cwd != nil && *c.Cwd == "":
		return refuse("--cwd: empty", "name a folder; . is the working directory")
	case c.Home != nil && *c.Home == "":
		return refuse("--home: empty", "name a home folder, or omit the flag to use yours")
	case c.Last && c.Src != "":
		return refuse("--last cannot be combined with SRC", "omit one of them")
	case c.Src == "" && !c.Last:
		return refuse("SRC is missing", "name a store, a folder of stores or a session, or pass --last for the newest session of this directory")
	case c.Dst == "" && c.Cwd == nil:
		return refuse("DST is missing", "name the target, or pass --cwd DIR to write where clients look for sessions of DIR")
	case c.Home != nil && c.Cwd == nil:
		return refuse("--home has no effect without --cwd", "pass --cwd DIR too")
	case c.Home != nil && c.Dst != "":
		return refuse("--home cannot be combined with DST", "omit one of them")
	}
	_, err := parseTime(c.Since, time.Now())
	return err
}

// cwdAndHome returns the folder to assign the sessions to, and the home folder
// below which its client looks for them.
func (c *convertCmd) cwdAndHome(getenv func(string) string) (cwd, home string, err error) {
	if c.Cwd == nil {
		return "", "", nil
	}
	if c.Home != nil {
		home = *c.Home
	}
	if cwd, err = absFolder(*c.Cwd); err == nil {
		err = checkUTF8(cwd)
	}
	if err != nil || c.Dst != "" || home != "" {
		return cwd, home, err
	}
	if home = getenv(homeVariable()); home == "" {
		return "", "", noHomeError("pass --home DIR")
	}
	return cwd, home, nil
}

// checkUTF8 rejects a folder that no session can name, as session records are UTF-8.
func checkUTF8(dir string) error {
	if utf8.ValidString(dir) {
		return nil
	}
	return &formats.Error{At: dir, Err: errors.New("folder name is not valid UTF-8, so no session can record it"), Hint: "rename the folder"}
}

// absFolder returns a folder as a program that works in it names it. An
// absolute path is returned unchanged, including trailing slashes, because
// clients compare folders as strings. A relative path is joined to the working
// directory without symbolic links, as the system reports it.
func absFolder(dir string) (string, error) {
	if filepath.IsAbs(dir) {
		return dir, nil
	}
	wd, err := os.Getwd()
	if err == nil {
		wd, err = filepath.EvalSymlinks(wd)
	}
	if err != nil {
		return "", &formats.Error{At: dir, Err: err, Hint: "pass an absolute path to --cwd"}
	}
	return filepath.Join(wd, dir), nil
}

func (c *convertCmd) options() convert.Options {
	o := convert.Options{
		From: c.From, To: c.To, DryRun: c.DryRun, Replace: c.Replace, Update: c.Update, Delete: c.Delete, Force: c.Force, Allow: c.Allow, Sidecar: c.Sidecar,
		WithSecrets: c.WithSecrets, Compress: c.Compress, Flat: c.Flat, History: c.History, Live: c.Live, Jobs: c.Jobs, Verify: c.Verify, Workspace: c.Project,
	}
	if c.Compress == "none" {
		o.Compress = ""
	}
	if c.Strict {
		o.Allow = loss.Reshaped
	}
	return o
}

// stateDir returns the folder for what updates remember.
func (a *app) stateDir() string {
	return cmp.Or(convert.StateDir(machine(a.out.getenv)), convert.NoState)
}

// Run converts SRC to DST and prints the report, even if stores failed.
func (c *convertCmd) Run(a *app) error {
	o := c.options()
	src, err := a.resolveSource(c.Src, c.Last, c.Live)
	if err != nil {
		return err
	}
	if o.Sessions = c.Session; src.session != "" {
		o.Sessions = append([]string{src.session}, c.Session...)
	}
	since, err := parseTime(c.Since, a.now())
	if err != nil {
		return err
	}
	if !since.IsZero() {
		o.Since = since.UnixMilli()
	}
	if o.Cwd, o.Home, err = c.cwdAndHome(a.out.getenv); err != nil {
		return err
	}
	o.State = a.stateDir()
	in, err := a.stdin(src.path)
	if err != nil {
		return err
	}
	defer in.remove()
	o.OnNotice, o.Verbose = a.out.remark, a.out.verbose
	o.OnProgress = a.out.progress()
	report, err := convert.Convert(a.ctx, a.reg, in.path, c.Dst, o)
	report.Source, err = src.path, in.restate(err)
	a.out.endProgress()
	if errors.Is(err, context.Canceled) {
		return summary{"interrupted: nothing was written", err}
	}
	if err != nil && sameError(report) {
		return err
	}
	if werr := a.out.printResult(convertResult{report}); werr != nil {
		return errors.Join(err, werr)
	}
	if err = reportError(report, err); err != nil {
		return reported{err}
	}
	return nil
}

// sameError reports whether every store failed with the same error, so that the
// report adds nothing to the error.
func sameError(r *convert.Report) bool {
	for _, s := range r.Stores {
		if s.Status != convert.Failed || s.Error.Message != r.Stores[0].Error.Message {
			return false
		}
	}
	return true
}

// reportError returns the error that a report amounts to, or nil on success.
// Failed stores outrank withheld ones.
func reportError(r *convert.Report, err error) error {
	failed, withheld, all := r.Failed(), r.Withheld(), len(r.Stores)
	switch {
	case r.Lane == convert.SessionConversion && err == nil:
		return sessionError(r)
	case err != nil:
		return summary{fmt.Sprintf("nothing written: %s failed", plural(int64(failed), "store")), err}
	case failed > 0:
		return fmt.Errorf("%d of %s failed", failed, plural(int64(all), "store"))
	case withheld > 0:
		return fmt.Errorf("%d of %s withheld: %w", withheld, plural(int64(all), "store"), errWithheld)
	}
	return nil
}

// summary is a one-line version of errors that the report has already shown in
// detail. It wraps the original error.
type summary struct {
	text string
	error
}

func (s summary) Error() string { return s.text }
func (s summary) Unwrap() error { return s.error }
