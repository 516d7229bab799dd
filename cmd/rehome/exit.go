package main

import (
	"context"
	"errors"

	"rehome/convert"
	"rehome/formats"
)

// errWithheld: stores were held back because of their losses.
var errWithheld = errors.New("losses exceed --allow")

// usageError is an invalid command line.
type usageError struct{ error }

func newUsageError(err error) error {
	return usageError{&formats.Error{Err: err, Hint: "run `rehome --help` for commands, `rehome COMMAND --help` for flags"}}
}

func (e usageError) Unwrap() error { return e.error }

// outcome is one row of the table of exit codes.
type outcome struct {
	code int
	what string
	is   func(error) bool
}

// outcomes is the table: the first row that recognizes an error names its
// code. The row for 1 takes what no other row took.
func outcomes() []outcome {
	as := func(target error) func(error) bool {
		return func(err error) bool { return errors.Is(err, target) }
	}
	return []outcome{
		{0, "success", func(err error) bool { return err == nil }},
		{1, "failure", nil},
		{2, "invalid command line", func(err error) bool { return errors.As(err, new(usageError)) || errors.As(err, new(convert.Misuse)) }},
		{3, "losses exceed --allow", as(errWithheld)},
		{4, "check found problems", as(errFindings)},
		{5, "source in use or changing", as(formats.ErrBusy)},
		{130, "interrupted", as(context.Canceled)},
	}
}

func exitCode(err error) int {
	// Interrupted comes first: what failed because of it is not the news.
	if errors.Is(err, context.Canceled) {
		return 130
	}
	for _, o := range outcomes() {
		if o.is != nil && o.is(err) {
			return o.code
		}
	}
	return 1
}
