package verdict

import (
	"encoding/xml"
	"io"

	"rehome/cmd/internal/screen"
	"rehome/convert/check"
)

type (
	junitSuites struct {
		XMLName  xml.Name     `xml:"testsuites"`
		Name     screen.Safe  `xml:"name,attr"`
		Tests    int          `xml:"tests,attr"`
		Failures int          `xml:"failures,attr"`
		Errors   int          `xml:"errors,attr"`
		Suites   []junitSuite `xml:"testsuite"`
	}
	junitSuite struct {
		Name     screen.Safe `xml:"name,attr"`
		Tests    int         `xml:"tests,attr"`
		Failures int         `xml:"failures,attr"`
		Errors   int         `xml:"errors,attr"`
		Cases    []junitCase `xml:"testcase"`
	}
	junitCase struct {
		Class   screen.Safe   `xml:"classname,attr"`
		Name    screen.Safe   `xml:"name,attr"`
		File    screen.Safe   `xml:"file,attr"`
		Failure *junitFailure `xml:"failure,omitempty"`
		Error   *junitFailure `xml:"error,omitempty"`
		Out     screen.Safe   `xml:"system-out,omitempty"`
	}
	junitFailure struct {
		Message screen.Safe `xml:"message,attr"`
		Type    screen.Safe `xml:"type,attr"`
		Text    screen.Safe `xml:",chardata"`
	}
)

// JUnit prints the verdict as a test report: a suite per store, with a case for the
// store and one per rule with findings. Findings that do not fail the job are the
// output of a passed case. Readers identify cases by class and name, so the class is the store.
func (v *Verdict) JUnit(w io.Writer, wd string) error {
	all := junitSuites{Name: "rehome check"}
	for _, s := range v.Stores {
		suite := v.suite(s, wd)
		all.Tests, all.Failures, all.Errors = all.Tests+suite.Tests, all.Failures+suite.Failures, all.Errors+suite.Errors
		all.Suites = append(all.Suites, suite)
	}
	if _, err := io.WriteString(w, xml.Header); err != nil {
		return err
	}
	enc := xml.NewEncoder(w)
	enc.Indent("", "  ")
	if err := enc.Encode(all); err != nil {
		return err
	}
	_, err := io.WriteString(w, "\n")
	return err
}

func (v *Verdict) suite(s *check.Store, wd string) junitSuite {
	name := screen.Visible(slashPath(s.Path, wd))
	suite := junitSuite{Name: name}
	examined := junitCase{Class: name, Name: "fully examined", File: name}
	if s.Err != nil {
		suite.Errors++
		examined.Error = &junitFailure{screen.Visible(s.Err.Error()), "error", screen.Join(hints(s), "\n")}
	}
	suite.Cases = append(suite.Cases, examined)
	for _, b := range s.Findings {
		fails := b.Rule.Severity >= v.FailOn
		if b.Count == 0 || !fails && !v.lists(b.Rule) {
			continue
		}
		c := junitCase{Class: name, Name: screen.Visible(b.Rule.ID + " " + b.Rule.Title), File: screen.Visible(slashPath(s.File(b.Places[0].At), wd))}
		if text := junitText(s, b, wd); fails {
			suite.Failures++
			c.Failure = &junitFailure{screen.Sprintf("%s: %s", screen.Plural(b.Count, "finding"), b.Rule.Title), screen.Visible(b.Rule.Severity.String()), text}
		} else {
			c.Out = text
		}
		suite.Cases = append(suite.Cases, c)
	}
	suite.Tests = len(suite.Cases)
	return suite
}

// junitText returns the first places of a finding, and the fix.
func junitText(s *check.Store, b check.RuleFindings, wd string) screen.Safe {
	var out []screen.Safe
	for _, f := range b.Places[:min(len(b.Places), maxPlaces)] {
		line := place(s, f)
		if inText(f) {
			line = screen.Sprintf("%s:%d", slashPath(s.File(f.At), wd), f.At.Line)
		}
		if what := detail(f); what != "" {
			line += ": " + screen.Visible(what)
		}
		out = append(out, line)
	}
	if rest := b.Count - int64(min(len(b.Places), maxPlaces)); rest > 0 {
		out = append(out, "+"+screen.Grouped(rest)+" more")
	}
	return screen.Join(out, "\n") + "\nfix: " + screen.Visible(b.Rule.Fix) + "\n"
}
