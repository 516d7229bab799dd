// Package verdict prints the findings of `rehome check`, with one file per output
// format: text, JSON, SARIF, JUnit, GitHub annotations and Markdown.
//
// The output depends only on the stores, not on a clock or the order of workers.
// Names and values from a store are foreign text, which each format escapes in
// its own way.
package verdict

import (
	"net/url"
	"path/filepath"
	"slices"
	"strings"

	"rehome/convert/check"
	"rehome/formats/rule"
	"rehome/formats/store"
)

// Verdict is the report of a check, and what of it counts.
type Verdict struct {
	*check.Report
	FailOn  rule.Severity            // findings at or above it fail the check
	Notes   bool                     // list notes instead of only counting them
	Verbose bool                     // list everything, in text
	Width   int                      // of the terminal for text, 0 if unknown
	Name    func(path string) string // how text names a store; nil = by its path
	Version string                   // of the program

	Repairable int64  // how many findings `rehome repair` repairs
	Repair     string // its command
}

// showsSeverity reports whether findings of a severity are listed.
func (v *Verdict) showsSeverity(of rule.Severity) bool {
	return v.Notes || of > rule.Note || v.FailOn == rule.Note
}

// lists reports whether findings of a rule are listed. Unrecognized files
// always are, since nothing else mentions them.
func (v *Verdict) lists(r *rule.Rule) bool {
	return v.showsSeverity(r.Severity) || r.ID == check.Unrecognized
}

// listed returns the findings of a store to list. Those that the baseline covers are not.
func (v *Verdict) listed(s *check.Store) (out []check.RuleFindings) {
	for _, b := range s.Findings {
		if b.Count > 0 && v.lists(b.Rule) {
			out = append(out, b)
		}
	}
	return out
}

// FailingCount returns the number of findings that fail the check.
func (v *Verdict) FailingCount() (n int64) {
	for of := v.FailOn; of <= rule.Error; of++ {
		n += v.Count(of)
	}
	return n
}

// WorstRule returns the id of the first rule among the most severe ones with findings.
func (v *Verdict) WorstRule() (id string) {
	worst := rule.Note
	for _, s := range v.Stores {
		for _, b := range s.Findings {
			if b.Count > 0 && (id == "" || b.Rule.Severity > worst) {
				id, worst = b.Rule.ID, b.Rule.Severity
			}
		}
	}
	return id
}

// fails reports whether a store fails the check.
func (v *Verdict) fails(s *check.Store) bool {
	return s.Err != nil || slices.ContainsFunc(s.Findings, func(b check.RuleFindings) bool { return b.Count > 0 && b.Rule.Severity >= v.FailOn })
}

// PathErrors returns why paths could not be searched.
func (v *Verdict) PathErrors() (out []error) {
	for _, s := range v.Failed() {
		if s.Format == "" {
			out = append(out, s.Err)
		}
	}
	return out
}

// Failed returns the stores that could not be examined.
func (v *Verdict) Failed() (out []*check.Store) {
	for _, s := range v.Stores {
		if s.Err != nil {
			out = append(out, s)
		}
	}
	return out
}

// detail returns what is wrong at a place, in one line: the pointer into the
// record, and the reason.
func detail(f rule.Finding) string {
	s := strings.ReplaceAll(f.Text(), "\n", "; ")
	if f.Pointer != "" {
		s = strings.TrimSuffix(f.Pointer+": "+s, ": ")
	}
	return s
}

// addrInFile returns an address within its file, such as blobs#3 (3fa1c2…).
func addrInFile(at store.Addr) string {
	at.File = ""
	return at.String()
}

// slashPath returns a path with slashes, relative to wd if it is below it.
func slashPath(path, wd string) string {
	if filepath.IsAbs(path) && wd != "" {
		if rel, err := filepath.Rel(wd, path); err == nil && filepath.IsLocal(rel) {
			path = rel
		}
	}
	return filepath.ToSlash(filepath.Clean(path))
}

// uri returns a path as a URI reference.
func uri(path string) string {
	u := url.URL{Path: path}
	if strings.HasPrefix(path, "/") {
		u.Scheme = "file"
	} else if filepath.VolumeName(filepath.FromSlash(path)) != "" {
		u.Scheme, u.Path = "file", "/"+path
	}
	s := u.EscapedPath()
	if u.Scheme != "" {
		return "file://" + s
	}
	if first, _, _ := strings.Cut(s, "/"); strings.Contains(first, ":") {
		s = "./" + s // the colon would end a scheme
	}
	return s
}
