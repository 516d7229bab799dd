package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"unicode/utf8"

	"rehome/convert"
	"rehome/formats"
	"rehome/formats/loss"
)

// convertResult is the report of a conversion: schema convert-result-1.
type convertResult struct{ *convert.Report }

// Validate refuses what the grammar alone cannot.
func (c *convertCmd) Validate() error {
	if c.Last && c.Dst == "" { // the only word is where the result goes
		c.Src, c.Dst = "", c.Src
	}
	refuse := func(what, hint string) error { return &formats.Error{Err: errors.New(what), Hint: hint} }
	switch {
	case c.Jobs < 0:
		return fmt.Errorf("--jobs: must not be negative: %d", c.Jobs)
	case c.Cwd != nil && *c.Cwd == "":
		return refuse("--cwd: empty", "name the folder to assign the sessions to; . is the working directory")
	case c.Home != nil && *c.Home == "":
		return refuse("--home: empty", "name a home folder, or omit the flag to use yours")
	case c.Last && c.Src != "":
		return refuse("--last cannot be combined with SRC", "omit one of them")
	case c.Src == "" && !c.Last:
		return refuse("SRC is missing", "name a store, a folder of stores or a session, or pass --last for the newest session of this directory")
	case c.Dst == "" && c.Cwd == nil:
		return refuse("DST is missing", "name the target, or pass --cwd DIR to write where the client looks for sessions of DIR")
	case c.Home != nil && c.Cwd == nil:
		return refuse("--home has no effect without --cwd", "pass --cwd DIR too")
	case c.Home != nil && c.Dst != "":
		return refuse("--home cannot be combined with DST", "omit one of them")
	}
	return nil
}

// place is the folder that the sessions are to belong to, and the home folder
// below which its client looks for them.
func (c *convertCmd) place(getenv func(string) string) (cwd, home string, err error) {
	if c.Cwd == nil {
		return "", "", nil
	}
	if c.Home != nil {
		home = *c.Home
	}
	if cwd, err = workspace(*c.Cwd); err == nil {
		err = sayable(cwd)
	}
	if err != nil || c.Dst != "" || home != "" {
		return cwd, home, err
	}
	if home = getenv(homeVariable()); home == "" {
		return "", "", noHome("pass --home DIR")
	}
	return cwd, home, nil
}

// sayable refuses a folder that no session can name: their records are UTF-8.
func sayable(dir string) error {
	if utf8.ValidString(dir) {
		return nil
	}
	return &formats.Error{At: dir, Err: errors.New("folder name is not valid UTF-8, so no session can record it"), Hint: "rename the folder"}
}

// workspace is a folder as a program that works in it calls it. An absolute
// path is taken as it stands, slashes at its end included, for clients know a
// folder by the string alone. What others begin with, the working directory,
// is what the system calls it, not the way that the shell went.
func workspace(dir string) (string, error) {
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
		From: c.From, To: c.To, DryRun: c.DryRun, Replace: c.Replace, Allow: c.Allow, Sidecar: c.Sidecar,
		WithSecrets: c.WithSecrets, Compress: c.Compress, History: c.History, Live: c.Live, Jobs: c.Jobs, Workspace: c.Project,
	}
	if c.Compress == "none" {
		o.Compress = ""
	}
	if c.Strict {
		o.Allow = loss.Reshaped
	}
	return o
}

// Run carries SRC to DST and shows the report, also when stores failed.
func (c *convertCmd) Run(h *house) error {
	o := c.options()
	src, err := h.meant(c.Src, c.Last, c.Live)
	if err != nil {
		return err
	}
	if o.Sessions = c.Session; src.session != "" {
		o.Sessions = append([]string{src.session}, c.Session...)
	}
	since, err := moment(c.Since, h.now())
	if err != nil {
		return err
	}
	if !since.IsZero() {
		o.Since = since.UnixMilli()
	}
	if o.Cwd, o.Home, err = c.place(h.out.getenv); err != nil {
		return err
	}
	in, err := h.stdin(src.path)
	if err != nil {
		return err
	}
	defer in.remove()
	o.Say = h.out.say
	o.Progress = h.out.progress()
	report, err := convert.Convert(h.ctx, h.reg, in.path, c.Dst, o)
	report.Source, err = src.path, in.restate(err)
	h.out.endProgress()
	if errors.Is(err, context.Canceled) {
		return summary{"interrupted: nothing was placed", err}
	}
	if err != nil && oneStory(report) {
		return err
	}
	if werr := h.out.show(convertResult{report}); werr != nil {
		return errors.Join(err, werr)
	}
	if err = reportError(report, err); err != nil {
		return shown{err}
	}
	return nil
}

// oneStory reports whether a report of stores that all failed says no more
// than the error does: they failed of the same, or there was but one.
func oneStory(r *convert.Report) bool {
	for _, s := range r.Stores {
		if s.Status != convert.Failed || s.Error.Message != r.Stores[0].Error.Message {
			return false
		}
	}
	return true
}

// reportError is the error that a report amounts to; nil if all went well.
// Failing outranks withholding: what failed was not even judged.
func reportError(r *convert.Report, err error) error {
	failed, withheld, all := r.Failed(), r.Withheld(), len(r.Stores)
	switch {
	case r.Lane == "session" && err == nil:
		return sessionVerdict(r)
	case err != nil:
		return summary{fmt.Sprintf("nothing placed: %s failed", many(int64(failed), "store")), err}
	case failed > 0:
		return fmt.Errorf("%d of %s failed", failed, many(int64(all), "store"))
	case withheld > 0:
		return fmt.Errorf("%d of %s withheld: %w", withheld, many(int64(all), "store"), errWithheld)
	}
	return nil
}

// summary says in one line what the report has told in many; it is still the
// error that it sums up.
type summary struct {
	words string
	error
}

func (s summary) Error() string { return s.words }
func (s summary) Unwrap() error { return s.error }
