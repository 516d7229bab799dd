package cli

import (
	"errors"
	"fmt"
	"testing"

	"rehome/cmd/internal/console"
	"rehome/cmd/internal/verdict"
	"rehome/convert/check"
	"rehome/formats"
	"rehome/formats/rule"
)

// TestCheckCodes: what could not be examined outranks what was found, and is
// busy only if all of it is.
func TestCheckCodes(t *testing.T) {
	fine := &check.Store{Path: "a", Format: "x"}
	broken := &check.Store{Path: "b", Format: "x", Findings: []check.RuleFindings{{Rule: rule.Lookup("RH301"), Count: 2}}}
	known := &check.Store{Path: "b", Format: "x", Findings: []check.RuleFindings{{Rule: rule.Lookup("RH301"), Known: 2}}}
	noted := &check.Store{Path: "c", Format: "x", Findings: []check.RuleFindings{{Rule: rule.Lookup("RH191"), Count: 1}}}
	busy := &check.Store{Path: "d", Format: "x", Err: &formats.Error{Err: fmt.Errorf("%w: it changed", formats.ErrBusy)}}
	gone := &check.Store{Path: "e", Err: errors.New("no such file")}
	for _, c := range []struct {
		stores []*check.Store
		failOn rule.Severity
		want   int
	}{
		{nil, rule.Note, 0}, {[]*check.Store{fine}, rule.Note, 0},
		{[]*check.Store{fine, broken}, rule.Error, 4}, {[]*check.Store{known}, rule.Note, 0},
		{[]*check.Store{noted}, rule.Note, 4}, {[]*check.Store{noted}, rule.Warning, 0},
		{[]*check.Store{broken, busy}, rule.Warning, 5}, {[]*check.Store{busy, gone}, rule.Warning, 1},
		{[]*check.Store{fine, gone}, rule.Warning, 1},
	} {
		v := &verdict.Verdict{Report: &check.Report{Stores: c.stores}, FailOn: c.failOn}
		err := (&checkCmd{}).verdictError(v)
		if got := console.ExitCode(err); got != c.want {
			t.Errorf("%d stores, the line at %s: exit %d, want %d (%v)", len(c.stores), c.failOn, got, c.want, err)
		}
		if err != nil && !errors.As(err, new(console.Reported)) {
			t.Errorf("%v would be printed in the place of the result", err)
		}
	}
}

// TestCheckJobs: what is printed does not depend on the number of workers.
func TestCheckJobs(t *testing.T) {
	dir := t.TempDir()
	t.Chdir(dir)
	furnish(t, dir)
	first := ""
	for _, jobs := range []string{"1", "2", "7"} {
		for _, form := range []string{"text", "json", "sarif", "junit", "github", "markdown"} {
			stdout, _, code := call(t, "check", ".", "--notes", "--secrets", "--for", "claude-code", "--fail-on", "error", "--format", form,
				"--jobs", jobs)
			if code != 0 || len(stdout) < 100 {
				t.Errorf("%s: exit %d: %s", form, code, stdout)
			}
			if form == "json" {
				if first == "" {
					first = stdout
				}
				if stdout != first {
					t.Errorf("%s workers: another result", jobs)
				}
			}
		}
	}
}
