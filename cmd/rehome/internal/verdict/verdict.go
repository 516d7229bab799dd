// Package verdict prints what `rehome check` found, one file a format: text for
// people, JSON, SARIF and JUnit for programs, GitHub's annotations and Markdown
// for the page of a job.
//
// All of it is the same for the same stores: no clock, no order of workers.
// Whatever a store calls itself is foreign, and each format has its own way to
// keep that from acting.
package verdict

import (
	"net/url"
	"path/filepath"
	"strings"

	"rehome/convert"
	"rehome/formats/rule"
	"rehome/formats/store"
)

// Verdict is what was found, and how much of it counts.
type Verdict struct {
	*convert.CheckReport
	FailOn  rule.Severity // findings at or above it count
	Notes   bool          // show notes, which are only counted otherwise
	Version string        // of the program
}

// shows reports whether breaches of a severity are told one by one.
func (v *Verdict) shows(of rule.Severity) bool {
	return v.Notes || of > rule.Note || v.FailOn == rule.Note
}

// tells reports whether breaches of a rule are told one by one. Files that
// nobody recognizes are named, whatever is shown: nothing else was said of them.
func (v *Verdict) tells(r *rule.Rule) bool {
	return v.shows(r.Severity) || r.ID == convert.Unrecognized
}

// told are the breaches of a store that are told one by one: those that are
// not all known.
func (v *Verdict) told(s *convert.CheckedStore) (out []convert.Breach) {
	for _, b := range s.Breaches {
		if b.Count > 0 && v.tells(b.Rule) {
			out = append(out, b)
		}
	}
	return out
}

// Counts reports whether there is anything that fails a job.
func (v *Verdict) Counts() (n int64) {
	for of := v.FailOn; of <= rule.Error; of++ {
		n += v.Count(of)
	}
	return n
}

// First is the id of the first of the gravest rules that are broken.
func (v *Verdict) First() (id string) {
	worst := rule.Note
	for _, s := range v.Stores {
		for _, b := range s.Breaches {
			if b.Count > 0 && (id == "" || b.Rule.Severity > worst) {
				id, worst = b.Rule.ID, b.Rule.Severity
			}
		}
	}
	return id
}

// Failed are the stores that could not be examined.
func (v *Verdict) Failed() (out []*convert.CheckedStore) {
	for _, s := range v.Stores {
		if s.Err != nil {
			out = append(out, s)
		}
	}
	return out
}

// says is what is wrong at a place, in a line: where in the record, and what.
func says(f rule.Finding) string {
	s := strings.ReplaceAll(f.Text(), "\n", "; ")
	if f.Pointer != "" {
		s = strings.TrimSuffix(f.Pointer+": "+s, ": ")
	}
	return s
}

// inside is a place within its file: blobs#3 (3fa1c2…).
func inside(at store.Addr) string {
	at.File = ""
	return at.String()
}

// slashed is a path as URLs and other machines spell it: with slashes, and
// below the working directory where it is.
func slashed(path, wd string) string {
	if filepath.IsAbs(path) && wd != "" {
		if rel, err := filepath.Rel(wd, path); err == nil && filepath.IsLocal(rel) {
			path = rel
		}
	}
	return filepath.ToSlash(filepath.Clean(path))
}

// uri is a path as a URI reference.
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
