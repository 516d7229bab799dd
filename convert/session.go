package convert

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"rehome/formats"
	"rehome/formats/session"
)

// The lanes.
const (
	exactLane   = "exact"
	sessionLane = "session"
)

// Misuse is an error of options that do not go together.
type Misuse struct{ error }

func (m Misuse) Unwrap() error { return m.error }

// chooseLane looks at what was found. The exact lane carries relatives; what
// is written session by session, and is no relative of anything here, goes by
// meaning.
func (j *job) chooseLane(ctx context.Context) error {
	to := j.reg.Lookup(j.o.To)
	if !j.byMeaning(ctx, to) {
		if (len(j.o.Sessions) > 0 || j.picky()) && !j.parts() {
			return j.refuseChoice(ctx, to)
		}
		if j.o.History {
			return Misuse{&formats.Error{Err: errors.New("--history has no effect on an exact conversion"), Hint: "omit it: every record is copied, abandoned turns too"}}
		}
		return nil
	}
	j.rep.Lane = sessionLane
	j.sidecar.off = true
	return j.fitsSessions(to)
}

// refuseChoice says why a choice of sessions cannot be carried: because nothing
// can become what is asked for, or because that takes a store whole.
func (j *job) refuseChoice(ctx context.Context, to *formats.Format) error {
	for _, f := range j.found {
		if to != nil && len(f.Detected) > 0 && to.Encode == nil && !formats.Related(f.Detected[0].Format, to) {
			return j.openEnded(ctx, f.Detected[0].Format, f.Loc, fmt.Errorf("single sessions of %s cannot be converted to %s yet", f.Detected[0].Format.Name, to.Name))
		}
	}
	return Misuse{&formats.Error{At: j.src, Err: errors.New("this conversion copies whole stores, not single sessions"),
		Hint: "omit the selection, or write single sessions with --to canonical"}}
}

// parts reports whether all that was found can be carried in parts.
func (j *job) parts() bool {
	for _, f := range j.found {
		if len(f.Detected) > 0 && !f.Detected[0].Format.Partial {
			return false
		}
	}
	return true
}

func (j *job) byMeaning(ctx context.Context, to *formats.Format) bool {
	if to == nil || to.Encode == nil {
		return false
	}
	if to.Create == nil || j.moving != nil {
		return true
	}
	for _, f := range j.found {
		if len(f.Detected) > 0 && formats.Related(f.Detected[0].Format, to) && !j.text(ctx, f, to) {
			return false
		}
	}
	return true
}

// text reports that a text is that of a store which is no relative of the
// target: a text can hold stores of several families.
func (j *job) text(ctx context.Context, f Found, to *formats.Format) bool {
	from := f.Detected[0].Format
	if !from.Text || from.Open == nil || from.Decode != nil {
		return false
	}
	origin, err := j.originOf(ctx, from, f.Loc)
	of := j.reg.Lookup(origin)
	return err == nil && of != nil && of != to && !formats.Related(of, to)
}

// fitsSessions refuses options of which nothing would come in the session lane.
func (j *job) fitsSessions(to *formats.Format) error {
	refuse := func(flag, why string) error {
		return Misuse{&formats.Error{Err: errors.New(flag + " has no effect with --to " + to.Name), Hint: "omit it: " + why}}
	}
	switch {
	case j.o.Cwd != "":
		return refuse("--cwd", "the sessions keep the folder they belong to")
	case j.o.Compress != "":
		return refuse("--compress", "sessions are written as plain text")
	case j.o.WithSecrets:
		return refuse("--with-secrets", "sessions are written without keys and tokens")
	case j.o.Sidecar != "" && j.o.Sidecar != "beside" && j.o.Sidecar != "none":
		return refuse("--sidecar", "unrecognized data is kept in the sessions themselves")
	}
	return nil
}

// finished is a session that is staged and waits for its name.
type finished struct {
	head   session.Head
	staged string
	report int // its place in StoreReport.Sessions
}

// settleSessions gives all sessions their names and places them.
func (j *job) settleSessions(ctx context.Context) error {
	if j.moving != nil {
		return j.install(ctx)
	}
	err := j.outcome()
	if err == nil {
		err = j.someChosen()
	}
	to := j.reg.Lookup(j.o.To)
	if err == nil {
		err = j.oneFileEach(to)
	}
	if err != nil {
		return err
	}
	j.nameSessions(to)
	if j.o.DryRun {
		return nil
	}
	some, err := j.gatherSessions(ctx, to)
	if err != nil || !some {
		return err
	}
	return j.settle(ctx)
}

// nameSessions gives each session a file of its own, unless the target is one.
func (j *job) nameSessions(to *formats.Format) {
	names := newNames()
	for i := range j.finished {
		for _, f := range j.finished[i] {
			if j.oneFile(to, &f.head) {
				continue
			}
			rep, asked := &j.rep.Stores[i].Sessions[f.report], to.SessionPath(&f.head)
			if rep.File = names.give(asked); rep.File != asked {
				rep.Note = "renamed: another session has the name " + asked
			}
		}
	}
}

// gatherSessions moves what is staged to where it has its name, and reports
// whether there was any.
func (j *job) gatherSessions(ctx context.Context, to *formats.Format) (some bool, err error) {
	goal := j.stage.path(j.goal, ".")
	var one *os.File
	for i := range j.finished {
		for _, f := range j.finished[i] {
			if err := ctx.Err(); err != nil {
				return false, errors.Join(err, closed(one))
			}
			name := j.rep.Stores[i].Sessions[f.report].File
			if name == "" {
				one, err = appendTo(one, goal, f.staged)
			} else {
				err = moveInto(goal, name, f.staged)
				if at, content := companion(to, &f.head, filepath.Join(goal, filepath.FromSlash(name))); err == nil && content != nil {
					err = os.WriteFile(at, content, 0o600)
				}
			}
			if err != nil {
				return false, errors.Join(err, closed(one))
			}
			some = true
		}
	}
	return some, closed(one)
}

// oneFile reports that the target is not a folder of sessions, but the file of
// one, or of all of them.
func (j *job) oneFile(to *formats.Format, h *session.Head) bool {
	return strings.EqualFold(filepath.Ext(j.goal.base()), filepath.Ext(to.SessionPath(h)))
}

// oneFileEach refuses to put several sessions into a file that can hold one.
func (j *job) oneFileEach(to *formats.Format) error {
	n := j.rep.Sessions(Placed) + j.rep.Sessions(Checked)
	if !to.OneSessionPerFile || n < 2 || !j.oneFile(to, &session.Head{}) {
		return nil
	}
	return &formats.Error{Format: to.Name, At: j.dst, Err: fmt.Errorf("cannot write %d sessions to one file", n), Hint: "pass a folder as DST, or one session as SRC#ID"}
}

// companion is what belongs beside a session's file, and where; nil if nothing.
func companion(to *formats.Format, h *session.Head, path string) (at string, content []byte) {
	if to.Companion == nil {
		return "", nil
	}
	ending, content := to.Companion(h)
	return strings.TrimSuffix(path, filepath.Ext(path)) + ending, content
}

func closed(f *os.File) error {
	if f == nil {
		return nil
	}
	return f.Close()
}

// appendTo adds a staged session to the one file that all of them share.
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
	return one, os.Remove(staged) // it would take room twice
}

func moveInto(goal, name, staged string) error {
	to := filepath.Join(goal, filepath.FromSlash(name))
	if err := os.MkdirAll(filepath.Dir(to), 0o777); err != nil {
		return err
	}
	return moveNew(staged, to)
}

// fileNames gives each session a name of its own, also where a disk ignores
// case.
type fileNames struct {
	taken map[string]bool
	last  map[string]int // number given last, by the name that was asked for in lower case
	steps int            // names that were tried
}

func newNames() *fileNames {
	return &fileNames{taken: map[string]bool{}, last: map[string]int{}}
}

func (n *fileNames) give(asked string) string {
	name, stem := asked, strings.ToLower(asked)
	for n.steps++; n.taken[strings.ToLower(name)]; n.steps++ {
		n.last[stem]++
		ext := filepath.Ext(asked)
		name = strings.TrimSuffix(asked, ext) + "-" + strconv.Itoa(n.last[stem]+1) + ext
	}
	n.taken[strings.ToLower(name)] = true
	return name
}
