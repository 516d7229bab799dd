package console

import (
	"context"
	"errors"
	"fmt"

	"rehome/convert"
	"rehome/convert/watch"
	"rehome/formats"
)

// ErrLosses means that stores were skipped because of their losses.
var ErrLosses = errors.New("losses exceed --allow")

// UsageError is an invalid command line.
type UsageError struct{ Err error }

// Usage returns err as an invalid command line.
func Usage(err error) error { return UsageError{err} }

// NewUsageError returns a UsageError that points to the help of the command.
func NewUsageError(err error) error {
	return Usage(&formats.Error{Err: err, Hint: "run `rehome help COMMAND` for its arguments and flags"})
}

func (e UsageError) Error() string { return e.Err.Error() }
func (e UsageError) Unwrap() error { return e.Err }

// Silent ends the program with a code and without a message: that of the client
// that it ran, or what the user chose not to do.
type Silent struct{ Code int }

func (s Silent) Error() string { return fmt.Sprintf("exit status %d", s.Code) }

// ExitStatus is one row of the table of exit codes.
type ExitStatus struct {
	Code    int
	Meaning string
	matches func(error) bool
}

// ExitStatuses returns the table of exit codes. The first row that matches an
// error determines its code; code 1 is for errors that no other row matches.
func ExitStatuses() []ExitStatus {
	as := func(target error) func(error) bool {
		return func(err error) bool { return errors.Is(err, target) }
	}
	return []ExitStatus{
		{0, "success", func(err error) bool { return err == nil }},
		{1, "failure", nil},
		{2, "invalid command line", func(err error) bool { return errors.As(err, new(UsageError)) || errors.As(err, new(convert.Misuse)) }},
		{3, "losses exceed --allow", func(err error) bool { return errors.Is(err, ErrLosses) || errors.Is(err, watch.ErrLosses) }},
		{4, "problems or differences", as(ErrFindings)},
		{5, "source in use or changing", as(formats.ErrBusy)},
		{130, "interrupted", as(context.Canceled)},
	}
}

// ExitCode returns the exit code of an error.
func ExitCode(err error) int {
	if s, ok := errors.AsType[Silent](err); ok {
		return s.Code
	}
	// An interrupt outranks the failures that it caused.
	if errors.Is(err, context.Canceled) {
		return 130
	}
	for _, o := range ExitStatuses() {
		if o.matches != nil && o.matches(err) {
			return o.Code
		}
	}
	return 1
}

// Summary is a one-line version of errors that the report has already shown in
// detail. It wraps the original error.
type Summary struct {
	Text string
	Err  error
}

// Summarize returns a Summary of err.
func Summarize(text string, err error) error { return Summary{text, err} }

func (s Summary) Error() string { return s.Text }

func (s Summary) Unwrap() error { return s.Err }

// ErrFindings means that there are findings at or above --fail-on.
var ErrFindings = errors.New("check found problems")

// Reported is an error that the result on stdout already shows, so that --json
// prints a single object.
type Reported struct{ Err error }

// Printed returns err as one that the result shows.
func Printed(err error) error { return Reported{err} }

func (e Reported) Error() string { return e.Err.Error() }
func (e Reported) Unwrap() error { return e.Err }
