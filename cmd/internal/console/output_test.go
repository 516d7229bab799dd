package console

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	"rehome/formats"
)

// TestEveryErrorOnItsLine: joined errors are told one by one, each with its
// hint, and what is foreign in them is made visible.
func TestEveryErrorOnItsLine(t *testing.T) {
	var stderr strings.Builder
	o := NewOutput(&stderr, &stderr, func(string) string { return "" }, OutputFlags{})
	code := o.Fail(errors.Join(
		&formats.Error{At: "a\x1b[2J", Err: formats.ErrBusy, Hint: "close it"},
		&formats.Error{At: "b\nrehome: done", Err: formats.ErrBusy},
	))
	want := "rehome: a\\x1b[2J: in use\n  hint: close it\nrehome: b\\nrehome: done: in use\n"
	if code != 5 || stderr.String() != want {
		t.Errorf("exit %d\n%s\nwant\n%s", code, stderr.String(), want)
	}
}

// TestRemarks: a remark is printed once, however often a store is read.
func TestRemarks(t *testing.T) {
	var stderr strings.Builder
	o := NewOutput(&stderr, &stderr, func(string) string { return "" }, OutputFlags{})
	for _, remark := range []string{"a.db", "plain", "a.db", "plain", "b.db"} {
		o.Remark(remark)
	}
	if want := "rehome: a.db\nrehome: plain\nrehome: b.db\n"; stderr.String() != want {
		t.Errorf("%s", stderr.String())
	}
}

func TestExitCodes(t *testing.T) {
	busy := &formats.Error{At: "store.db", Err: fmt.Errorf("%w: it changed", formats.ErrBusy)}
	for want, errs := range map[int][]error{
		0:   {nil},
		1:   {errors.New("any"), formats.ErrUnknown, &formats.Error{Err: formats.ErrExists}},
		3:   {Printed(fmt.Errorf("1 of 2 stores skipped: %w", ErrLosses))},
		5:   {busy, Summarize("nothing placed", busy), Printed(Summarize("nothing placed", busy))},
		2:   {NewUsageError(errors.New("unknown flag"))},
		130: {context.Canceled, fmt.Errorf("%w: %w", formats.ErrBusy, context.Canceled)},
	} {
		for _, err := range errs {
			if got := ExitCode(err); got != want {
				t.Errorf("%v: %d, want %d", err, got, want)
			}
		}
	}
}
