package tables

import (
	"rehome/convert"
	"rehome/formats/loss"
)

// Report is the result of Write. Its JSON is the output of `rehome-fleet parquet --json`.
type Report struct {
	Source   string                  `json:"source"`
	Target   string                  `json:"target"`
	Backup   string                  `json:"backup,omitempty"` // where Options.Replace kept the old tables
	NoText   bool                    `json:"no_text"`
	Tables   []TableReport           `json:"tables"`
	Stores   []StoreReport           `json:"stores"` // in the order of the walk
	Losses   []loss.Group            `json:"losses"`
	Redacted []convert.RedactedCount `json:"redacted,omitzero"`
}

// TableReport is one table.
type TableReport struct {
	Table string `json:"table"`
	Rows  int64  `json:"rows"`
	Bytes int64  `json:"bytes"`
}

// StoreReport is one store.
type StoreReport struct {
	Path     string               `json:"path"` // slash path below the source; "." is the source itself
	Format   string               `json:"format,omitempty"`
	Sessions int                  `json:"sessions"`         // in the tables
	Failed   []FailedSession      `json:"failed,omitempty"` // sessions that could not be read
	Error    *convert.ErrorReport `json:"error,omitempty"`  // why nothing of the store could be read

	found string
}

// Found is the slash path at which the store was found. Path is another one if that held a
// value that was redacted.
func (s *StoreReport) Found() string { return s.found }

// FailedSession is a session that could not be read.
type FailedSession struct {
	ID    string               `json:"id"`
	Error *convert.ErrorReport `json:"error,omitempty"`
}

// Complete reports whether all sessions of all stores are in the tables.
func (r *Report) Complete() bool {
	for _, s := range r.Stores {
		if s.Error != nil || len(s.Failed) > 0 {
			return false
		}
	}
	return true
}

// Rows returns the number of rows of a table.
func (r *Report) Rows(table string) int64 {
	for _, t := range r.Tables {
		if t.Table == table {
			return t.Rows
		}
	}
	return 0
}

// add adds a store with a name.
func (r *Report) add(s *convert.StoreReport, name string) {
	out := StoreReport{Path: name, Format: s.From, Error: s.Error, found: s.Path}
	for _, one := range s.Sessions {
		if one.Status == convert.Placed {
			out.Sessions++
			continue
		}
		out.Failed = append(out.Failed, FailedSession{one.ID, one.Error})
	}
	r.Stores = append(r.Stores, out)
	r.Losses = loss.Merge(r.Losses, s.Losses)
}
