package convert

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"

	"rehome/formats"
	"rehome/formats/loss"
	"rehome/formats/store"
)

// Report is the result of a conversion. Its JSON is the output of
// `rehome convert --json`.
type Report struct {
	Lane    string        `json:"lane"`
	Source  string        `json:"source"`
	Target  string        `json:"target"`
	Placed  bool          `json:"placed"`
	DryRun  bool          `json:"dry_run"`
	Backup  string        `json:"backup,omitempty"`  // where --replace kept the old target
	Sidecar string        `json:"residue,omitempty"` // the sidecar that was written
	Stores  []StoreReport `json:"stores"`            // in the order of the walk

	// Losses are those of the places that a caller has read the source from, and moved the target to.
	Losses []loss.Group `json:"losses,omitempty"`

	Redacted   []RedactedCount   `json:"redacted,omitzero"`    // by rule: the sums of what was placed; nil if nothing was to be redacted
	Workspaces []WorkspaceReport `json:"workspaces,omitempty"` // session conversion: the sums of each folder
}

// The states of a store.
const (
	Placed  = "placed"
	Skipped = "skipped" // losses beyond Options.Allow
	Failed  = "failed"
	Checked = "checked" // read in a dry run
)

// What an update changes, besides Updated: values of StoreReport.Change and
// FileChange.Change.
const (
	Unchanged = "unchanged"
	Added     = "added"
	Kept      = "kept"    // no longer in the source, but still in the target
	Removed   = "removed" // no longer in the source, and removed from the target
)

// FileChange is a file of the target that an update changes, or keeps although the
// source no longer has it.
type FileChange struct {
	Path   string `json:"path"` // slash path below the target; "." is the target itself
	Change string `json:"change"`
}

// StoreReport is the result for one store.
type StoreReport struct {
	Path     string          `json:"path"` // slash path below the source; "." is the source itself
	From     string          `json:"from"`
	To       string          `json:"to"`
	Status   string          `json:"status"`
	Sets     []SetReport     `json:"sets"`
	Rows     int64           `json:"rows"`
	Bytes    int64           `json:"bytes"`
	Losses   []loss.Group    `json:"losses"`
	Redacted []RedactedCount `json:"redacted,omitempty"` // with Options.Redact: by kind of value
	Omitted  int64           `json:"omitted"`            // secrets withheld from the source text, so that the target lacks them

	// In a session conversion, Rows are the records that were read, and Bytes
	// is the size of the lines made from them.
	Sessions   []SessionReport `json:"sessions,omitempty"`
	Superseded int64           `json:"superseded,omitempty"` // of the records: older states, which are not lost

	// Partial reports that an update read only what changed in the source, and
	// counted only that.
	Partial bool `json:"partial,omitempty"`
	// In an update, Change is what happens to the store, and Files are the files
	// that are not as they were, or that are kept. A store that is no longer in the
	// source has a report, too: its Status is Kept or Removed.
	Change string       `json:"change,omitempty"`
	Files  []FileChange `json:"files,omitempty"`

	Error *ErrorReport `json:"error,omitempty"`

	err          error
	place        string // slash path below the target, if it is not Path
	skipped      bool   // update: not read, as it has not changed
	lossesBeyond bool   // losses after the last session that exceed Options.Allow
}

// Place returns the slash path of a store below the target, which is not its Path if that
// held a value that was redacted.
func (s *StoreReport) Place() string { return cmp.Or(s.place, s.Path) }

// SetReport is one table or plain file of a store.
type SetReport struct {
	File   string `json:"file"`
	Table  string `json:"table"`
	Rows   int64  `json:"rows"`
	Bytes  int64  `json:"bytes"`
	Digest string `json:"digest"`
}

// ErrorReport is the text of an error.
type ErrorReport struct {
	Message string `json:"message"`
	Hint    string `json:"hint,omitempty"`
}

// Err returns why the store failed, nil if it did not.
func (s *StoreReport) Err() error { return s.err }

// Failed returns the number of stores that failed.
func (r *Report) Failed() int { return r.count(Failed) }

// Skipped returns the number of stores with losses beyond Options.Allow.
func (r *Report) Skipped() int { return r.count(Skipped) }

// Skip corrects the report of a target that a caller has not moved to the place that it is
// for, because that would lose too much.
func (r *Report) Skip() {
	r.Placed, r.Sidecar, r.Redacted = false, "", nil
	for i := range r.Stores {
		s := &r.Stores[i]
		if s.Status != Placed {
			continue
		}
		s.Status = Skipped
		for k := range s.Sessions {
			if one := &s.Sessions[k]; one.Status == Placed {
				one.Status, one.File = Skipped, ""
			}
		}
	}
	if r.Workspaces != nil {
		r.Workspaces = r.byWorkspace()
	}
}

// Changed reports whether an update changed anything, or would in a dry run.
func (r *Report) Changed() bool {
	return slices.ContainsFunc(r.Stores, func(s StoreReport) bool {
		return s.Change != "" && s.Change != Unchanged && s.Change != Kept
	})
}

// placeable returns the number of stores that can be placed.
func (r *Report) placeable() int { return r.count(Placed) + r.count(Checked) }

func (r *Report) count(status string) (n int) {
	for i := range r.Stores {
		if r.Stores[i].Status == status {
			n++
		}
	}
	return n
}

func newStoreReport(f Found) StoreReport {
	s := StoreReport{Path: f.Rel, Sets: []SetReport{}, Losses: []loss.Group{}}
	if len(f.Detected) > 0 {
		s.From = f.Detected[0].Format.Name
	}
	return s
}

func failedStore(rel string, err error) StoreReport {
	s := newStoreReport(Found{Rel: rel})
	s.fail(err)
	return s
}

func (s *StoreReport) fail(err error) {
	s.Status, s.err = Failed, err
	s.Error = &ErrorReport{Message: err.Error(), Hint: formats.Hint(err)}
}

// unplace corrects the report of a store after the whole conversion failed: a
// report must not call placed what is not there.
func (s *StoreReport) unplace(err error) {
	if !s.skipped && (s.Status == Placed || s.Status == Checked || s.Status == "") {
		s.Change, s.Files = "", nil
		s.failSessions()
		s.fail(err)
	}
}

// setCounts sets the counts from the reader's summary.
func (s *StoreReport) setCounts(schema *store.Schema, sum store.Summary) {
	s.Rows, s.Bytes = sum.Rows(), sum.Bytes()
	for i, set := range schema.Sets {
		s.Sets = append(s.Sets, SetReport{
			File: set.File, Table: set.Name,
			Rows: sum[i].Rows, Bytes: sum[i].Bytes, Digest: sum[i].Digest.String(),
		})
	}
}

// withFileName adds the file's name to the places of losses if the store is a
// file: to the codec it is the store itself, which has no name.
func withFileName(l *formats.Location, to loss.Sink) loss.Sink {
	if l.IsDir() {
		return to
	}
	return func(n loss.Loss) {
		if n.At.File == "" {
			n.At.File = l.Name()
		}
		to(n)
	}
}

// joinDistinct joins the errors that differ, but only the first maxErrors of them.
func joinDistinct(all []error) error {
	var errs []error
	seen := map[string]bool{}
	more := 0
	for _, err := range all {
		switch {
		case err == nil:
		case seen[err.Error()] || len(errs) == maxErrors:
			more++
		default:
			seen[err.Error()] = true
			errs = append(errs, err)
		}
	}
	return joinErrors(errs, more)
}

// joinErrors joins errors, a line each.
func joinErrors(errs []error, more int) error {
	if len(errs) == 1 && more == 0 {
		return errs[0]
	}
	return &multiError{errs: errs, more: more}
}

type multiError struct {
	errs []error
	more int
}

func (e *multiError) Error() string {
	var lines []string
	for _, err := range e.Each() {
		lines = append(lines, err.Error())
	}
	return strings.Join(lines, "\n")
}

// Each returns every error by itself, for callers that print a line and a hint
// for each.
func (e *multiError) Each() []error {
	out := slices.Clone(e.errs)
	if e.more > 0 {
		out = append(out, fmt.Errorf("and %d more stores failed", e.more))
	}
	return out
}

// Is reports whether all errors are of a kind: one busy store among many does
// not make the whole run busy.
func (e *multiError) Is(kind error) bool {
	for _, err := range e.errs {
		if !errors.Is(err, kind) {
			return false
		}
	}
	return len(e.errs) > 0
}

// As finds the first error of a type, so that its hint is printed.
func (e *multiError) As(to any) bool {
	for _, err := range e.errs {
		if errors.As(err, to) {
			return true
		}
	}
	return false
}
