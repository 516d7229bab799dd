// Package sqliterepair repairs SQLite files as containers: what sqlitecheck finds wrong
// with their pages and indexes.
package sqliterepair

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"syscall"

	"rehome/formats"
	"rehome/formats/internal/sqlitecheck"
	"rehome/formats/internal/sqlitefile"
	"rehome/formats/rule"
)

// File repairs the findings of one file that concern its pages, and reports whether it
// did. Then no other repair of that file makes sense in the same round. code allows
// schemas that run SQL, which those of clients do not.
func File(ctx context.Context, path string, r *formats.Repair, code bool) (done bool, err error) {
	var wrong []rule.Finding
	cut := true
	for _, f := range r.Findings {
		switch f.Rule {
		case "RH104":
		case "RH103", "RH105", "RH106", "RH107", "RH108", "RH109", "RH110", "RH118":
			cut = false
		default:
			continue
		}
		wrong = append(wrong, f)
	}
	if len(wrong) == 0 {
		return false, nil
	}
	longer, undo, err := sqlitefile.SetSize(path)
	if err != nil {
		return false, err
	}
	if cut {
		if longer {
			r.Did(wrong[0], "removed the bytes after the last page", "")
		}
		return longer, nil
	}
	log, err := sqlitecheck.Log(ctx, path+"-wal")
	if err != nil {
		return false, errors.Join(err, undo())
	}
	s, err := sqlitefile.Rebuild(ctx, path, code)
	if err != nil {
		// The system's own errors end the run; what the file is to blame for is left.
		err = errors.Join(Fatal(ctx, err), undo())
		return false, err
	}
	if log != "" { // SQLite ignores the rest, too
		s.Lost = append(s.Lost, "the write-ahead log from where it is damaged: "+log)
	}
	lost := strings.Join(s.Lost, "; ")
	if s.More > 0 {
		lost += fmt.Sprintf("; and %d more", s.More)
	}
	r.Did(wrong[0], "copied "+rule.Count(s.Rows, "row").String()+" into a new database with the same schema", lost)
	return true, nil
}

// Fatal returns an error that is not about the content of a file: it ends the repair.
func Fatal(ctx context.Context, err error) error {
	if ctx.Err() != nil {
		return ctx.Err()
	}
	if no := syscall.Errno(0); errors.As(err, &no) || errors.Is(err, formats.ErrFull) || errors.Is(err, formats.ErrBusy) {
		return err
	}
	return nil
}

// Repair repairs the databases of stores as containers only.
func Repair(code bool) func(context.Context, string, *formats.Repair) error {
	return func(ctx context.Context, path string, r *formats.Repair) error {
		_, err := File(ctx, path, r, code)
		return err
	}
}
