package clients

import (
	"context"
	"iter"
	"slices"
	"strings"

	"rehome/formats"
	"rehome/formats/internal/tally"
	"rehome/formats/store"
)

// The formats of what is kept, in an index: files as they are, and any database.
const (
	FilesFormat    = "files"
	DatabaseFormat = "sqlite"
)

// Format returns the format of the files or of the databases of a client. It reads databases without secrets. projects are the folders that may be
// those of projects.
func (c *Client) Format(reg *formats.Registry, name string, projects []string) *formats.Format {
	home := &formats.Home{Roots: func(m formats.Machine) []string { return c.Roots(m, projects) }}
	for _, p := range slices.Concat(c.Keep, c.Beside, c.Databases) {
		home.SessionFiles = append(home.SessionFiles, "*/"+p)
	}
	f := &formats.Format{Name: FilesFormat, Home: home}
	if name != DatabaseFormat {
		return f
	}
	*f = *reg.Lookup(DatabaseFormat)
	f.Home = home
	if len(c.SecretTables)+len(c.SecretColumns) > 0 {
		open, records := f.Records.Open, *f.Records
		f.Records, records.Changes = &records, nil
		records.Open = func(ctx context.Context, l *formats.Location, v formats.View) (store.Reader, error) {
			r, err := open(ctx, l, v)
			if err != nil {
				return nil, err
			}
			return &reader{Reader: r, client: c}, nil
		}
	}
	return f
}

// Secrets returns what is left out of the client's databases.
func (c *Client) Secrets() (out []string) {
	for _, name := range c.SecretTables {
		out = append(out, "table "+name)
	}
	for _, name := range c.SecretColumns {
		out = append(out, "column "+name)
	}
	return out
}

// reader reads a database without secrets.
type reader struct {
	store.Reader
	client  *Client
	summary store.Summary
}

func (r *reader) Summary() store.Summary { return r.summary }

// Batches yields the rows of all tables that are not secret, with empty cells in secret
// columns: a column may be NOT NULL.
func (r *reader) Batches(ctx context.Context) iter.Seq2[*store.Batch, error] {
	return func(yield func(*store.Batch, error) bool) {
		r.summary = tally.Scan(len(r.Schema().Sets), yield, func(t *tally.Tally) error {
			for b, err := range r.Reader.Batches(ctx) {
				if err != nil {
					return err
				}
				if err := t.Give(r.without(b)); err != nil {
					return err
				}
			}
			return nil
		})
	}
}

func (r *reader) without(b *store.Batch) *store.Batch {
	set := r.Schema().Sets[b.Set]
	if containsFold(r.client.SecretTables, set.Name) {
		b.Release()
		return nil
	}
	secret := make([]bool, b.Width())
	for i := range secret {
		secret[i] = containsFold(r.client.SecretColumns, set.Name+"."+set.Columns[i])
	}
	if !slices.Contains(secret, true) {
		return b
	}
	defer b.Release()
	out := store.NewBatch(b.Set, b.Width())
	for row := range b.Rows() {
		out.Row(b.RowID(row))
		for i := range secret {
			if cell := b.Cell(row, i); secret[i] && cell.Class != store.Null {
				out.AddText("")
			} else {
				out.Add(cell)
			}
		}
	}
	return out
}

// containsFold compares names as SQLite does.
func containsFold(list []string, name string) bool {
	return slices.ContainsFunc(list, func(s string) bool { return strings.EqualFold(s, name) })
}
