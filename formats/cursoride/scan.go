package cursoride

import (
	"bytes"
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"

	"rehome/formats"
	"rehome/formats/cursoride/internal/lexical"
	"rehome/formats/cursoride/internal/lists"
	"rehome/formats/cursoride/internal/read"
	"rehome/formats/internal/agentstate"
	"rehome/formats/internal/sqlitefile"
	"rehome/formats/internal/sqlitepages"
	"rehome/internal/rawjson"
)

// scanner searches the rows of a store. A row of cursorDiskKV belongs to the session in
// its key. Of a blob, the sessions are found that refer to it, in a second pass, which is
// only needed for terms that are in blobs.
func scanner(known *sqlitefile.Known) func(context.Context, *formats.Location, formats.View, *formats.Scan) error {
	return func(ctx context.Context, l *formats.Location, v formats.View, s *formats.Scan) error {
		if !l.IsDir() || !l.Has(lists.GlobalName) && !l.Has(lists.SpacesName) {
			s.AddAll("") // the rest of its sessions is in another database
			return nil
		}
		files, err := scanned(l)
		if err != nil {
			return err
		}
		c := &scan{Scan: s, talked: map[string]bool{}, blobs: map[string]uint64{}}
		s.Take("", agentstate.Words())
		s.Take("", []byte(read.NoName))
		o := sqlitefile.Options{Live: v.Live, OnNotice: v.OnNotice, Verbose: v.Verbose, Known: known}
		for _, f := range files {
			if err := sqlitefile.EachRow(ctx, f, o, c.table(c.disk)); err != nil || s.Done() {
				return err
			}
		}
		s.AddExcept(c.talked, c.typed)
		if len(c.blobs) == 0 {
			return nil
		}
		c.holders = map[string][]holder{}
		for _, f := range files {
			if err := sqlitefile.EachRow(ctx, f, o, c.table(c.refer)); err != nil {
				return err
			}
		}
		c.resolve()
		return nil
	}
}

// scanned lists the databases of a user dir.
func scanned(l *formats.Location) ([]string, error) {
	var out []string
	add := func(path string) {
		if lists.IsFile(path) {
			out = append(out, path)
		}
	}
	add(filepath.Join(l.Path, filepath.FromSlash(lists.GlobalDB)))
	spaces := filepath.Join(l.Path, lists.SpacesName)
	list, err := os.ReadDir(spaces)
	for _, e := range list {
		add(filepath.Join(spaces, e.Name(), lists.DbName))
	}
	if errors.Is(err, os.ErrNotExist) {
		err = nil
	}
	return out, err
}

// scan is one walk over the databases of a store.
type scan struct {
	*formats.Scan
	talked map[string]bool   // sessions that have a record or a bubble
	typed  uint64            // terms in the lists of prompts
	blobs  map[string]uint64 // terms by blob

	holders map[string][]holder // what refers to a blob
}

// holder is a session or a blob.
type holder struct{ session, blob string }

// table returns the function for the rows of a table: disk for those of cursorDiskKV.
func (c *scan) table(disk func(family lists.Family, id string, r *sqlitepages.Row, value int)) func(*sqlitefile.PlanTable) func(*sqlitepages.Row) error {
	return func(t *sqlitefile.PlanTable) func(*sqlitepages.Row) error {
		key, value := t.Column("key"), t.Column("value")
		switch {
		case t.Name == lists.HeadTable:
			return func(r *sqlitepages.Row) error {
				c.head(r.Record())
				return nil
			}
		case key < 0 || value < 0:
		case t.Name == lists.ItemTable && c.holders == nil:
			return func(r *sqlitepages.Row) error {
				c.item(string(r.Cell(key).Bytes()), r)
				return nil
			}
		case t.Name == lists.DiskTable:
			return func(r *sqlitepages.Row) error {
				k := r.Cell(key).Bytes()
				if f := lists.FamilyOf(k); f.Owned || f.Prefix == lists.BlobRow {
					disk(f, string(k[len(f.Prefix):]), r, value)
				}
				return nil
			}
		}
		return nil
	}
}

// head searches a head of sessions, which has more than a title only if it has the
// conversation, too.
func (c *scan) head(record []byte) {
	if c.holders == nil && bytes.Contains(record, []byte("conversation")) {
		c.any(record)
	}
}

// any searches what can be of any session.
func (c *scan) any(record []byte) {
	if bytes.Contains(record, []byte("ichText")) || bytes.Contains(record, []byte("conversationState")) {
		c.AddAll("")
	}
	c.Take("", record)
}

// item searches a row of ItemTable.
func (c *scan) item(key string, r *sqlitepages.Row) {
	for _, l := range lists.ListRows {
		if key != l.Key {
			continue
		}
		switch l.Kind {
		case lists.ListGlobal, lists.ListWorkspace:
			c.head(r.Record())
		case lists.ListTabs:
			c.any(r.Record())
		case lists.ListPrompts:
			c.typed = c.Find(r.Record(), c.typed)
		}
	}
}

// disk searches a row of a session, or a blob.
func (c *scan) disk(f lists.Family, rest string, r *sqlitepages.Row, value int) {
	cell := r.Cell(value)
	if f.Prefix == lists.BlobRow {
		if terms := c.Find(lists.BlobBytes(cell.Class, cell.Bytes()), 0); terms != 0 {
			c.blobs[rest] |= terms
		}
		return
	}
	id, _, _ := strings.Cut(rest, ":")
	c.Take(id, r.Record())
	switch f.Prefix {
	case lists.ComposerRow:
		c.talked[id] = true
		if state := rawjson.TextAt(cell.Bytes(), "conversationState"); state != "" {
			c.Take(id, lists.RootBytes(state))
		}
		if bytes.Contains(cell.Bytes(), []byte(`"conversation"`)) && bytes.Contains(cell.Bytes(), []byte(`richText`)) {
			c.AddAll(id)
		}
	case lists.BubbleRow:
		c.talked[id] = true
		c.rich(id, cell.Bytes())
	}
}

// rich searches the rich text of a bubble that has no other: its words can be split.
func (c *scan) rich(id string, bubble []byte) {
	if !bytes.Contains(bubble, []byte("richText")) || rawjson.TextAt(bubble, "text") != "" {
		return
	}
	doc := rawjson.Last(bubble, "richText")
	if rawjson.IsText(doc) {
		doc = []byte(rawjson.Text(doc))
	}
	text, _ := lexical.Text(string(doc))
	c.Take(id, []byte(text))
}

// refer collects what a row refers to.
func (c *scan) refer(f lists.Family, rest string, r *sqlitepages.Row, value int) {
	cell := r.Cell(value)
	if f.Prefix == lists.BlobRow {
		lists.EachBlobRef(lists.BlobBytes(cell.Class, cell.Bytes()), func(hash string) {
			c.holders[hash] = append(c.holders[hash], holder{blob: rest})
		})
		return
	}
	id, _, _ := strings.Cut(rest, ":")
	lists.EachRef(cell.Bytes(), func(hash string) {
		c.holders[hash] = append(c.holders[hash], holder{session: id})
	})
}

// resolve gives the terms in blobs to the sessions that refer to them.
func (c *scan) resolve() {
	var todo []string
	for hash := range c.blobs {
		todo = append(todo, hash)
	}
	for len(todo) > 0 {
		hash := todo[len(todo)-1]
		todo = todo[:len(todo)-1]
		terms := c.blobs[hash]
		for _, h := range c.holders[hash] {
			if h.session != "" {
				c.Add(h.session, terms)
			} else if c.blobs[h.blob]&terms != terms {
				c.blobs[h.blob] |= terms
				todo = append(todo, h.blob)
			}
		}
	}
}
