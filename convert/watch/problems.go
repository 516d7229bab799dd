package watch

import (
	"errors"
	"maps"
	"slices"
	"time"

	"rehome/convert"
	"rehome/formats"
)

// ErrLosses is the error of what is not written because of its losses.
var ErrLosses = errors.New("losses exceed --allow")

var errNotFound = errors.New("not found")

// problems are why stores could not be updated, by path, or sessions of them, by path#id.
// "" stands for all stores.
type problems map[string]error

// problemsOf returns the problems of a round.
func problemsOf(r *convert.Report, err error) problems {
	if err != nil {
		return problems{"": err} // the stores say the same
	}
	p := problems{}
	for i := range r.Stores {
		switch s := &r.Stores[i]; s.Status {
		case convert.Failed:
			p[s.Path] = s.Err()
		case convert.Skipped:
			p[s.Path] = lossy(s.Path)
		default:
			for _, c := range s.Sessions {
				at := s.Path + "#" + c.ID
				switch c.Status {
				case convert.Failed:
					p[at] = &formats.Error{At: at, Err: sessionError(c.Error.Message), Hint: c.Error.Hint}
				case convert.Skipped:
					p[at] = lossy(at)
				}
			}
		}
	}
	return p
}

func lossy(at string) error {
	return &formats.Error{At: at, Err: ErrLosses, Hint: "run `rehome convert --update` to list them"}
}

// sessionError is why a session could not be converted, which depends on what is in it.
type sessionError string

func (e sessionError) Error() string { return string(e) }

// joined returns the problems as one error, nil if there are none.
func (p problems) joined() error {
	var errs []error
	for _, store := range slices.Sorted(maps.Keys(p)) {
		errs = append(errs, p[store])
	}
	return errors.Join(errs...)
}

// repeat reports whether another round could do better before the source changes.
func (p problems) repeat() bool {
	for _, err := range p {
		if !errors.Is(err, formats.ErrUnknown) && !errors.Is(err, ErrLosses) && !errors.Is(err, errNotFound) && !errors.As(err, new(sessionError)) {
			return true
		}
	}
	return false
}

// busy reports whether the stores are only in use.
func (p problems) busy() bool {
	for _, err := range p {
		if !errors.Is(err, formats.ErrBusy) {
			return false
		}
	}
	return len(p) > 0
}

// reportProblems reports the problems that are not known yet, and when there are none
// left. delay is the time until the next round, 0 if it depends on a change.
func (w *watcher) reportProblems(p problems, delay time.Duration) {
	if p.busy() && w.failures < busyRounds {
		return // a client writes: one of the next rounds will do
	}
	for _, store := range slices.Sorted(maps.Keys(p)) {
		if err := p[store]; w.problems[store] == nil || w.problems[store].Error() != err.Error() {
			w.emit(Event{Kind: Problem, Store: store, Message: err.Error(), Hint: formats.Hint(err), Retry: delay.Seconds()})
		}
	}
	if len(p) == 0 && len(w.problems) > 0 {
		w.emit(Event{Kind: Recovered})
	}
	w.problems = p
}
