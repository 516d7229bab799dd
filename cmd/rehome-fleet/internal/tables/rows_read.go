package tables

import (
	"errors"
	"io"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"time"

	"github.com/parquet-go/parquet-go"
)

// Column is a column of a table, for other kinds of tables.
type Column struct {
	Name string
	Type reflect.Type // string, int64, bool, time.Time or []string; NULL is a nil any
	Null bool         // a value can be NULL
}

// Columns returns the columns of the rows R of a table.
func Columns[R any]() (out []Column) {
	for _, c := range columnsOf[R]().list {
		kind, null := c.kind, strings.Contains(c.tag, ",optional")
		if kind.Kind() == reflect.Pointer {
			kind, null = kind.Elem(), true
		}
		if strings.Contains(c.tag, "timestamp") {
			kind = reflect.TypeFor[time.Time]()
		}
		out = append(out, Column{c.name, kind, null})
	}
	return out
}

// Values returns the values of a row, in the order of Columns. Those that are NULL in
// Parquet are nil.
func Values[R any](row *R) (out []any) {
	v := reflect.ValueOf(row).Elem()
	for _, c := range columnsOf[R]().list {
		f := v.FieldByIndex(c.index)
		switch {
		case f.Kind() == reflect.Pointer && f.IsNil(), f.IsZero() && strings.Contains(c.tag, ",optional"):
			out = append(out, nil)
			continue
		case f.Kind() == reflect.Pointer:
			f = f.Elem()
		case f.Kind() == reflect.Slice && f.IsNil():
			out = append(out, []string{})
			continue
		}
		if strings.Contains(c.tag, "timestamp") {
			out = append(out, time.UnixMilli(f.Int()).UTC())
			continue
		}
		out = append(out, f.Interface())
	}
	return out
}

// Each calls f with each row of a table in a folder that Write wrote. The row is valid
// until f returns.
func Each[R any](dir, table string, f func(*R) error) error {
	file, err := os.Open(filepath.Join(dir, table+Suffix))
	if err != nil {
		return err
	}
	defer file.Close()
	in := parquet.NewGenericReader[R](file)
	defer in.Close()
	for batch := make([]R, 16); ; clear(batch) {
		n, err := in.Read(batch)
		for i := range batch[:n] {
			if err := f(&batch[i]); err != nil {
				return err
			}
		}
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
	}
}
