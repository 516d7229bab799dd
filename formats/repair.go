package formats

import (
	"cmp"
	"slices"

	"rehome/formats/rule"
	"rehome/formats/store"
)

// Repair is one round of repairs on a file in a private copy of a store. A round need
// not handle every finding: the copy is checked again after it, and another round follows
// as long as one does something.
type Repair struct {
	// Findings are what to repair in the file, at least one, sorted by line.
	Findings []rule.Finding
	// Report receives every act, when it is done.
	Report func(Act)
	// Owns reports whether a path lies in the private copy, and no link leads elsewhere.
	// Only such files may be changed; those with findings are. nil = all.
	Owns func(path string) bool
	// Moved receives where the lines of a file that was written again were before; nil =
	// nobody asks.
	Moved func(path string, from []Origin)
}

// Origin says that the lines from Line on, up to that of the next Origin, were those from
// Was on before a repair.
type Origin struct{ Line, Was int }

// LineBefore returns the number that a line had before a repair.
func LineBefore(line int, from []Origin) int {
	n, _ := slices.BinarySearchFunc(from, line, func(o Origin, line int) int { return cmp.Compare(o.Line, line+1) })
	if n == 0 {
		return line
	}
	return from[n-1].Was + line - from[n-1].Line
}

// Own reports whether a file may be changed, although no finding is about it.
func (r *Repair) Own(path string) bool { return r.Owns == nil || r.Owns(path) }

// Act is one thing that a repair did.
type Act struct {
	Rule string // the id of the rule that the place violated
	At   store.Addr
	Did  string // what was done, in the past tense. Names from the store are quoted
	Lost string // what the repaired store lacks, "" if nothing is lost
}

// File returns the path of the file that an address in a store refers to.
func (l *Location) File(at store.Addr) string {
	if !l.IsDir() || at.File == "" {
		return l.Path
	}
	return l.Join(at.File).Path
}

// Did reports an act on the place of a finding.
func (r *Repair) Did(f rule.Finding, did, lost string) {
	r.Report(Act{Rule: f.Rule, At: f.At, Did: did, Lost: lost})
}
