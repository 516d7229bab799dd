package convert

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"rehome/formats"
	"rehome/formats/loss"
	"rehome/formats/store"
)

// Report is what a conversion did. Its JSON is the result of
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

	Workspaces []WorkspaceReport `json:"workspaces,omitempty"` // session lane: what comes of each folder
}

// The states of a store.
const (
	Placed   = "placed"
	Withheld = "withheld" // its losses are beyond the allowed line
	Failed   = "failed"
	Checked  = "checked" // read in a dry run
)

// StoreReport is what became of one store.
type StoreReport struct {
	Path    string       `json:"path"` // slash path below the source; "." is the source itself
	From    string       `json:"from"`
	To      string       `json:"to"`
	Status  string       `json:"status"`
	Sets    []SetReport  `json:"sets"`
	Rows    int64        `json:"rows"`
	Bytes   int64        `json:"bytes"`
	Losses  []loss.Group `json:"losses"`
	Omitted int64        `json:"omitted"` // secrets the source text had left at home: the target lacks them

	// In the session lane Rows are the records that were read, and Bytes those
	// of the lines that were made of them.
	Sessions   []SessionReport `json:"sessions,omitempty"`
	Superseded int64           `json:"superseded,omitempty"` // of the records: older states, which are no loss

	Error *ErrorReport `json:"error,omitempty"`

	err    error
	beyond bool // losses behind the last session that are beyond the allowed line
}

// SetReport is one table or plain file of a store.
type SetReport struct {
	File   string `json:"file"`
	Table  string `json:"table"`
	Rows   int64  `json:"rows"`
	Bytes  int64  `json:"bytes"`
	Digest string `json:"digest"`
}

// ErrorReport is an error in words.
type ErrorReport struct {
	Message string `json:"message"`
	Hint    string `json:"hint,omitempty"`
}

// Err is why the store failed, nil if it did not.
func (s *StoreReport) Err() error { return s.err }

// Failed is the number of stores that failed.
func (r *Report) Failed() int { return r.count(Failed) }

// Withheld is the number of stores whose losses are beyond the allowed line.
func (r *Report) Withheld() int { return r.count(Withheld) }

// standing is the number of stores that can be placed.
func (r *Report) standing() int { return r.count(Placed) + r.count(Checked) }

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

// unplace takes back what was said of a store when the whole conversion
// failed later: a report must not call placed what is not there.
func (s *StoreReport) unplace(err error) {
	if s.Status == Placed || s.Status == Checked || s.Status == "" {
		s.failSessions()
		s.fail(err)
	}
}

// scanned enters what the reader says of itself after its scan.
func (s *StoreReport) scanned(schema *store.Schema, sum store.Summary) {
	s.Rows, s.Bytes = sum.Rows(), sum.Bytes()
	for i, set := range schema.Sets {
		s.Sets = append(s.Sets, SetReport{
			File: set.File, Table: set.Name,
			Rows: sum[i].Rows, Bytes: sum[i].Bytes, Digest: spell(sum[i].Digest),
		})
	}
}

// inFile names the file in the places of a store that is one: to the codec it
// is the store itself, which has no name.
func inFile(l *formats.Location, to loss.Sink) loss.Sink {
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

// spell is how digests are written everywhere.
func spell(d store.Digest) string { return fmt.Sprintf("%s%016x%016x", digestPrefix, d.Hi, d.Lo) }

const digestPrefix = "xxh3:"

// joined is several errors as one, a line each.
func joined(errs []error, more int) error {
	if len(errs) == 1 && more == 0 {
		return errs[0]
	}
	return &several{errs: errs, more: more}
}

type several struct {
	errs []error
	more int
}

func (e *several) Error() string {
	var lines []string
	for _, err := range e.Each() {
		lines = append(lines, err.Error())
	}
	return strings.Join(lines, "\n")
}

// Each is every error by itself, for who has a line and a hint for each.
func (e *several) Each() []error {
	out := slices.Clone(e.errs)
	if e.more > 0 {
		out = append(out, fmt.Errorf("and %d more stores failed", e.more))
	}
	return out
}

// Is tells the kind of failure. One busy store among many does not make the
// whole run busy, so only a kind they all share is found.
func (e *several) Is(kind error) bool {
	for _, err := range e.errs {
		if !errors.Is(err, kind) {
			return false
		}
	}
	return len(e.errs) > 0
}

// As finds the first error of a type, so that its hint is heard.
func (e *several) As(to any) bool {
	for _, err := range e.errs {
		if errors.As(err, to) {
			return true
		}
	}
	return false
}
