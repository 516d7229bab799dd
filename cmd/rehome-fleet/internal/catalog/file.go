package catalog

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"io"
	"os"
	"path/filepath"

	"rehome/cmd/rehome-fleet/internal/tables"
	"rehome/formats"
	"rehome/internal/fsx"
)

// FileName is the name of a file of rows in the results of a fleet.
const FileName = "catalog.ndjson"

// WriteFile writes the rows of a store, or of a folder of stores, to a new file. It appears
// as a whole, or not at all.
func WriteFile(ctx context.Context, reg *formats.Registry, src, to string, o Options) (_ *Report, err error) {
	t, err := tables.NewTarget(src, to, "choose another file", false, o.OnNotice)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, t.Stage.Remove()) }()
	r, err := read(ctx, reg, src, to, tables.Meta{}, o)
	if err != nil {
		return nil, err
	}
	defer r.dir.Remove()
	built := filepath.Join(t.Stage.Path, FileName)
	rep, err := r.write(built, src, to)
	if err == nil {
		_, err = t.Place(built, fsx.Move)
	}
	if err != nil {
		return nil, t.Named(err)
	}
	return rep, nil
}

// write writes a file, and reads it again.
func (r *reading) write(at, src, to string) (*Report, error) {
	f, err := os.OpenFile(at, os.O_RDWR|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	rep := &Report{Source: src, Target: to}
	rowCount := int64(0)
	err = writeFile(f, r.format(), func(out io.Writer) (err error) {
		rep.Stores, err = r.each(func(c *content) error {
			err := c.write(out)
			c.report.Status = Written
			rowCount += int64(c.report.Sessions + c.report.Losses + c.report.Findings)
			return err
		})
		return err
	})
	if err != nil {
		return nil, err
	}
	in, _, err := readRows(f, nil, [placeColumns]any{})
	if err != nil {
		return nil, err
	}
	for in.Next() {
		rowCount--
	}
	if err = in.err; err == nil && rowCount != 0 {
		err = errors.New("the file does not hold the rows that were written")
	}
	return rep, errors.Join(err, f.Sync())
}

// format returns the format of the stores; "" if they are of several.
func (r *reading) format() (name string) {
	for _, s := range r.stores {
		if s.Error != nil || s.Format == name {
			continue
		}
		if name != "" {
			return ""
		}
		name = s.Format
	}
	return name
}

// writeFile writes a header, and then rows.
func writeFile(to io.Writer, format string, rows func(io.Writer) error) error {
	out := bufio.NewWriterSize(to, 64<<10)
	err := json.NewEncoder(out).Encode(header{rowsVersion, format})
	if err == nil {
		err = rows(out)
	}
	if err == nil {
		err = out.Flush()
	}
	return err
}
