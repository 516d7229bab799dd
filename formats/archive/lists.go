package archive

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"unicode/utf8"

	"rehome/formats"
	"rehome/formats/internal/digest"
	"rehome/formats/internal/entries"
	"rehome/formats/internal/lines"
	"rehome/formats/store"
	"rehome/internal/rawjson"
)

// entryLine is the line of an entry of a list of sessions, which has a file of its own. The
// value that it was in keeps an empty list.
type entryLine struct {
	Key    string          `json:"key"`            // of the row
	List   string          `json:"list,omitempty"` // the member of its value; "" is the value itself
	ID     string          `json:"id"`
	After  string          `json:"after,omitempty"`
	Before string          `json:"before,omitempty"`
	Entry  json.RawMessage `json:"entry"`
}

const entrySuffix = ".entry.ndjson"

var errEntry = errors.New("not written the way rehome writes an entry of a list")

// appendEntry appends the line of an entry.
func appendEntry(dst []byte, key string, e *entries.Entry) []byte {
	for _, m := range []struct{ name, value string }{{`{"key":`, key}, {`,"list":`, e.Member}, {`,"id":`, e.ID}, {`,"after":`, e.After}, {`,"before":`, e.Before}} {
		if m.value != "" || m.name == `{"key":` {
			dst = rawjson.Quote(append(dst, m.name...), []byte(m.value))
		}
	}
	dst = append(append(dst, `,"entry":`...), e.JSON...)
	return append(dst, "}\n"...)
}

// parseEntry parses a line that appendEntry wrote.
func parseEntry(line []byte) (key string, e entries.Entry, err error) {
	var l entryLine
	if json.Unmarshal(line, &l) != nil || l.ID == "" {
		return "", e, errEntry
	}
	e = entries.Entry{Member: l.List, ID: l.ID, After: l.After, Before: l.Before, JSON: l.Entry}
	if !bytes.Equal(appendEntry(nil, l.Key, &e), line) {
		return "", e, errEntry
	}
	return l.Key, e, nil
}

// entryPath returns the file of an entry, below the folder of its table. It names the
// session, and is another one for each list that has it.
func entryPath(key string, e *entries.Entry) string {
	return hashed(fmt.Sprintf("%s-%08x", strings.ToLower(e.ID), uint32(digest.Name(key+"\x00"+e.Member+"\x00"+e.ID)))) + entrySuffix
}

// listsOf returns the members that are lists in the value of a row of a set, by the key of
// the row.
func listsOf(set *store.Set, lists []formats.List) map[string][]entries.Member {
	var out map[string][]entries.Member
	for _, l := range lists {
		if set.Kind == store.Table && l.Set == set.Name {
			if out == nil {
				out = map[string][]entries.Member{}
			}
			out[l.Key] = append(out[l.Key], entries.Member{Name: l.Member, ID: l.ID})
		}
	}
	return out
}

// valueCell is the column of a value that has lists; its key is in the first one.
const valueCell = 1

// splitRow returns the cell that replaces the value of a row, and the entries of its lists.
// A value that text cannot hold line by line is not split.
func splitRow(lists map[string][]entries.Member, b *store.Batch, i int) (frame store.Cell, key string, list []entries.Entry) {
	if lists == nil || b.Width() <= valueCell || b.Cell(i, 0).Class != store.Text {
		return frame, "", nil
	}
	key = string(b.Cell(i, 0).Bytes())
	members, value := lists[key], b.Cell(i, valueCell)
	if members == nil || value.Class != store.Text && value.Class != store.Blob || !utf8.Valid(value.Bytes()) {
		return frame, "", nil
	}
	text, list, ok := entries.Split(value.Bytes(), members)
	if !ok || slices.ContainsFunc(list, func(e entries.Entry) bool { return bytes.ContainsAny(e.JSON, "\r\n") }) {
		return frame, "", nil
	}
	if value.Class == store.Text {
		return store.TextCell(text), key, list
	}
	return store.BlobCell(text), key, list
}

// listing is the entries of the lists in one table, by the key of their row.
type listing struct {
	entries map[string][]entries.Entry
	file    map[string]string // one of each key
	size    int
}

// list reads the files of entries of a table.
func (r *reader) list(set int) (l *listing, at string, err error) {
	l = &listing{map[string][]entries.Entry{}, map[string]string{}, 0}
	for _, file := range r.lists[set] {
		key, e, err := r.entry(set, file)
		if err == nil {
			if l.size += len(e.JSON); l.size > maxLine {
				err = fmt.Errorf("lists of more than %d MB", maxLine>>20)
			}
		}
		if err != nil {
			return nil, file, err
		}
		l.entries[key] = append(l.entries[key], e)
		l.file[key] = file
	}
	return l, "", nil
}

// entry reads the file of an entry: its line, and a trailer.
func (r *reader) entry(set int, file string) (key string, e entries.Entry, err error) {
	f, err := r.root.Open(file)
	if err != nil {
		return "", e, err
	}
	defer f.Close()
	b, err := io.ReadAll(io.LimitReader(f, maxLine))
	if err != nil {
		return "", e, err
	}
	n := bytes.IndexByte(b, '\n') + 1
	line, last := b[:n], b[n:]
	var got text
	got.add(line, r.placeOf(set, file))
	said, ok := parseTrailer(last)
	switch {
	case lines.Conflict(b):
		return "", e, errConflict
	case !ok:
		return "", e, errNoTrailer
	}
	if err := got.differs(said); err != nil {
		return "", e, err
	}
	return parseEntry(line)
}

// join replaces the values of rows whose lists have entries. The batch is released if
// another one is returned.
func (l *listing) join(b *store.Batch) (*store.Batch, error) {
	var out *store.Batch
	for i := range b.Rows() {
		key := b.Cell(i, 0)
		var list []entries.Entry
		if key.Class == store.Text && b.Width() > valueCell {
			list = l.entries[string(key.Bytes())]
		}
		if out == nil && list != nil {
			out = slice(b, 0, i)
		}
		if out == nil {
			continue
		}
		if list == nil {
			addRow(out, b, i, b.RowID(i))
			continue
		}
		frame := b.Cell(i, valueCell)
		value, err := entries.Join(frame.Bytes(), list)
		if err == nil && frame.Class != store.Text && frame.Class != store.Blob {
			err = errors.New("no list in the value")
		}
		if err != nil {
			return b, fmt.Errorf("row %s: %w", quote(string(key.Bytes())), err)
		}
		delete(l.entries, string(key.Bytes()))
		out.Row(b.RowID(i))
		for col := range b.Width() {
			if col == valueCell {
				out.AddBytes(frame.Class, value)
			} else {
				out.Add(b.Cell(i, col))
			}
		}
	}
	if out == nil {
		return b, nil
	}
	b.Release()
	return out, nil
}
