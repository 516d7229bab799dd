package cli

import (
	"context"
	"errors"
	"fmt"

	"rehome/convert"
	"rehome/convert/watch"
	"rehome/formats"
)

// errLosses means that stores were skipped because of their losses.
var errLosses = errors.New("losses exceed --allow")

// usageError is an invalid command line.
type usageError struct{ error }

func newUsageError(err error) error {
	return usageError{&formats.Error{Err: err, Hint: "run `rehome help COMMAND` for its arguments and flags"}}
}

func (e usageError) Unwrap() error { return e.error }

// silent ends the program with a code and without a message: that of the client
// that it ran, or what the user chose not to do.
type silent struct{ code int }

func (s silent) Error() string { return fmt.Sprintf("exit status %d", s.code) }

// exitStatus is one row of the table of exit codes.
type exitStatus struct {
	code    int
	meaning string
	matches func(error) bool
}

// exitStatuses returns the table of exit codes. The first row that matches an
// error determines its code; code 1 is for errors that no other row matches.
func exitStatuses() []exitStatus {
	as := func(target error) func(error) bool {
		return func(err error) bool { return errors.Is(err, target) }
	}
	return []exitStatus{
		{0, "success", func(err error) bool { return err == nil }},
		{1, "failure", nil},
		{2, "invalid command line", func(err error) bool { return errors.As(err, new(usageError)) || errors.As(err, new(convert.Misuse)) }},
		{3, "losses exceed --allow", func(err error) bool { return errors.Is(err, errLosses) || errors.Is(err, watch.ErrLosses) }},
		{4, "problems or differences", as(errFindings)},
		{5, "source in use or changing", as(formats.ErrBusy)},
		{130, "interrupted", as(context.Canceled)},
	}
}

func exitCode(err error) int {
	if s, ok := errors.AsType[silent](err); ok {
		return s.code
	}
	// An interrupt outranks the failures that it caused.
	if errors.Is(err, context.Canceled) {
		return 130
	}
	for _, o := range exitStatuses() {
		if o.matches != nil && o.matches(err) {
			return o.code
		}
	}
	return 1
}
