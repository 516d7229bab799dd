package convert

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"rehome/convert/internal/pipe"
	"rehome/convert/sessions"
	"rehome/formats"
	"rehome/formats/session"
	"rehome/internal/fsx"
)

// The kinds of conversion: values of Report.Lane.
const (
	ExactConversion   = "exact"
	SessionConversion = "session"
)

// Misuse is an error of options that are invalid, or that cannot be combined.
type Misuse struct{ Err error }

func (m Misuse) Error() string { return m.Err.Error() }

func (m Misuse) Unwrap() error { return m.Err }

// chooseConversion chooses the kind of conversion. Related formats convert exactly.
// Formats that are written by session, and that are not related to any source,
// convert by session.
func (j *job) chooseConversion(ctx context.Context) error {
	to := j.reg.Lookup(j.opts.To)
	if !j.bySession(ctx, to) {
		if (len(j.opts.Sessions) > 0 || j.filtered()) && !j.allSplit() {
			return j.selectionError(ctx, to)
		}
		return j.checkExactOptions()
	}
	j.rep.Lane = SessionConversion
	j.sidecar.Off = true
	if err := j.checkSessionOptions(to); err != nil || len(to.Clients) == 0 || len(j.opts.Sessions) == 0 {
		return err
	}
	all, err := withSubagents(ctx, j.reg, MigrateSource{Path: j.src, Sessions: j.opts.Sessions}, j.opts.Live, j.opts.Jobs)
	j.opts.Sessions, j.inner = slices.Compact(slices.Sorted(slices.Values(all))), true // a client shows them within their parents
	return err
}

// checkExactOptions returns an error for options without effect on an exact conversion.
func (j *job) checkExactOptions() error {
	for _, o := range []struct {
		flag string
		set  bool
		hint string
	}{
		{"--history", j.opts.History, "omit it: every record is copied, abandoned turns too"},
		{"--no-thinking", j.opts.DropThinking, "omit it: every record is copied, reasoning too"},
		{"--compacted", j.opts.FullHistory, "omit it: every record is copied, as the client has it"},
		{"--by-session", j.opts.BySession, "omit it, or pass --to with a format that single sessions can be written to"},
	} {
		if o.set {
			return Misuse{&formats.Error{Err: errors.New(o.flag + " has no effect on an exact conversion"), Hint: o.hint}}
		}
	}
	return nil
}

// selectionError returns why single sessions cannot be converted: no possible
// target, or one that takes whole stores.
func (j *job) selectionError(ctx context.Context, to *formats.Format) error {
	for _, f := range j.found {
		if to != nil && len(f.Detected) > 0 && to.Writer == nil && !formats.Related(f.Detected[0].Format, to) {
			return j.noTargetError(ctx, f.Detected[0].Format, f.Loc, fmt.Errorf("single sessions of %s cannot be converted to %s yet", f.Detected[0].Format.Name, to.Name))
		}
	}
	return Misuse{&formats.Error{At: j.src, Err: errors.New("this conversion copies whole stores, not single sessions"),
		Hint: "omit the selection, or write single sessions with --to canonical"}}
}

// allSplit reports whether every source format can be read in parts.
func (j *job) allSplit() bool {
	for _, f := range j.found {
		if len(f.Detected) > 0 && (f.Detected[0].Format.Records == nil || !f.Detected[0].Format.Records.Partial) {
			return false
		}
	}
	return true
}

func (j *job) bySession(ctx context.Context, to *formats.Format) bool {
	if to == nil || to.Writer == nil {
		return false
	}
	if to.Records == nil || j.opts.BySession || j.selects() && !j.allSplit() {
		return true
	}
	for _, f := range j.found {
		if len(f.Detected) > 0 && formats.Related(f.Detected[0].Format, to) && !j.unrelatedText(ctx, f, to) {
			return false
		}
	}
	return true
}

// unrelatedText reports whether a text was made from a store that is not
// related to the target: text can hold stores of several families.
func (j *job) unrelatedText(ctx context.Context, f Found, to *formats.Format) bool {
	from := f.Detected[0].Format
	if !from.Text || from.Records == nil || from.Sessions != nil {
		return false
	}
	origin, err := sessions.Origin(ctx, from, f.Loc)
	of := j.reg.Lookup(origin)
	return err == nil && of != nil && of != to && !formats.Related(of, to)
}

// checkSessionOptions returns an error for options without effect on a session
// conversion.
func (j *job) checkSessionOptions(to *formats.Format) error {
	refuse := func(flag, why string) error {
		return Misuse{&formats.Error{Err: errors.New(flag + " has no effect with --to " + to.Name), Hint: "omit it: " + why}}
	}
	switch {
	case j.opts.Cwd != "" && len(to.Clients) == 0:
		return refuse("--cwd", "the sessions keep the folder they belong to")
	case j.opts.DropThinking && len(to.Clients) == 0:
		return refuse("--no-thinking", "canonical text holds everything")
	case j.opts.FullHistory && len(to.Clients) == 0:
		return refuse("--compacted", "canonical text holds everything")
	case j.opts.Compress != "":
		return refuse("--compress", "only exact conversions compress text")
	case j.opts.WithSecrets:
		return refuse("--with-secrets", "sessions are written without keys and tokens")
	case j.opts.Sidecar != "" && j.opts.Sidecar != "beside" && j.opts.Sidecar != "none":
		return refuse("--sidecar", "unrecognized data is kept in the sessions themselves")
	case j.opts.Update && to.Writer.Join != nil:
		return Misuse{&formats.Error{Err: errors.New("--update cannot add sessions to a store of " + to.Name), Hint: "omit --update, and pass --replace if the store exists"}}
	}
	return nil
}

// stagedSession is a session that is staged and has no file name yet.
type stagedSession struct {
	*pipe.Result
	report int // index in StoreReport.Sessions
}

// commitSessions names all sessions and places them.
func (j *job) commitSessions(ctx context.Context) error {
	err := j.failure()
	if err == nil {
		err = j.requireMatch()
	}
	to := j.reg.Lookup(j.opts.To)
	if err == nil {
		err = j.checkOneFile(to)
	}
	if err != nil {
		return err
	}
	some := false
	if j.joins() {
		some, err = j.joinSessions(ctx, to)
	} else if j.nameSessions(to); !j.opts.DryRun || j.update != nil {
		some, err = j.gatherSessions(ctx)
	}
	if err != nil || !some {
		return err
	}
	return j.commit(ctx)
}

// nameSessions gives each session its own file name, unless the target is a
// file.
func (j *job) nameSessions(to *formats.Format) {
	names := newFileNames()
	for i := range j.stagedSessions {
		files := map[*pipe.Result]string{}
		for _, f := range j.stagedSessions[i] {
			rep, asked := &j.rep.Stores[i].Sessions[f.report], to.Writer.Path(&f.Head)
			switch {
			case f.Draft.Within:
				rep.File = files[f.Root]
				continue
			case j.oneFile(to, &f.Head):
				continue
			}
			if rep.File = names.assign(asked); rep.File != asked {
				rep.Note = "renamed: another session has the name " + asked
			}
			files[f.Result] = rep.File
		}
	}
}

// gatherSessions moves the staged sessions to their names, and reports whether
// there were any.
func (j *job) gatherSessions(ctx context.Context) (some bool, err error) {
	goal := j.stage.StorePath(j.dest, ".")
	var one *os.File
	defer func() { err = errors.Join(err, closeFile(one)) }()
	for i := range j.stagedSessions {
		for _, f := range j.stagedSessions[i] {
			if err := ctx.Err(); err != nil {
				return false, err
			}
			switch name := j.rep.Stores[i].Sessions[f.report].File; {
			case f.Draft.Within:
			case name == "":
				one, err = appendTo(one, goal, f.Path)
			default:
				err = moveInto(goal, name, f.Result)
			}
			if err != nil {
				return false, err
			}
			some = true
		}
	}
	return some, nil
}

// oneFile reports whether the target is a file of one or all sessions, and not
// a folder.
func (j *job) oneFile(to *formats.Format, h *session.Head) bool {
	return !to.Writer.Folders && strings.EqualFold(filepath.Ext(j.dest.Base()), filepath.Ext(to.Writer.Path(h)))
}

// checkOneFile returns an error if several sessions would go to a file that can
// hold one.
func (j *job) checkOneFile(to *formats.Format) error {
	n := j.rep.Sessions(Placed) + j.rep.Sessions(Checked)
	if j.opts.Update && j.oneFile(to, &session.Head{}) {
		return &formats.Error{Format: to.Name, At: j.dst, Err: errors.New("--update needs a folder as DST: a file cannot keep sessions that are no longer in the source"), Hint: "pass a folder"}
	}
	if to.Writer.Many || n < 2 || !j.oneFile(to, &session.Head{}) {
		return nil
	}
	return &formats.Error{Format: to.Name, At: j.dst, Err: fmt.Errorf("cannot write %d sessions to one file", n), Hint: "pass a folder as DST, or one session as SRC#ID"}
}

// companionPath returns the path of the file that belongs next to that of a session.
func companionPath(path, extension string) string {
	return strings.TrimSuffix(path, filepath.Ext(path)) + extension
}

func closeFile(f *os.File) error {
	if f == nil {
		return nil
	}
	return f.Close()
}

// appendTo appends a staged session to the one file of all sessions.
func appendTo(one *os.File, goal, staged string) (*os.File, error) {
	if one == nil {
		if err := os.MkdirAll(filepath.Dir(goal), 0o777); err != nil {
			return nil, err
		}
		f, err := os.OpenFile(goal, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o666)
		if err != nil {
			return nil, err
		}
		one = f
	}
	from, err := os.Open(staged)
	if err != nil {
		return one, err
	}
	defer from.Close()
	if _, err := io.Copy(one, from); err != nil {
		return one, err
	}
	return one, os.Remove(staged) // free the space
}

func moveInto(goal, name string, r *pipe.Result) error {
	to := filepath.Join(goal, filepath.FromSlash(name))
	if err := os.MkdirAll(filepath.Dir(to), 0o777); err != nil {
		return err
	}
	err := fsx.Move(r.Path, to)
	if ext := r.Draft.Companion; err == nil && ext != "" {
		err = fsx.Move(r.Path+ext, companionPath(to, ext))
	}
	return err
}

// fileNames gives each session a unique name, even on disks that ignore case.
type fileNames struct {
	taken map[string]bool
	last  map[string]int // last number, by requested name in lower case
	steps int            // names tried
}

func newFileNames() *fileNames {
	return &fileNames{taken: map[string]bool{}, last: map[string]int{}}
}

func (n *fileNames) assign(asked string) string {
	name, stem := asked, strings.ToLower(asked)
	for n.steps++; n.taken[strings.ToLower(name)]; n.steps++ {
		n.last[stem]++
		ext := filepath.Ext(asked)
		name = strings.TrimSuffix(asked, ext) + "-" + strconv.Itoa(n.last[stem]+1) + ext
	}
	n.taken[strings.ToLower(name)] = true
	return name
}
