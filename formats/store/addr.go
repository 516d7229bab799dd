package store

import (
	"encoding/hex"
	"fmt"
	"path"
	"slices"
	"strconv"
	"unicode/utf8"
)

// Addr is the address of one record of a store. The row id makes it unique if the
// key is NULL or a duplicate.
type Addr struct {
	File  string // slash path inside the store
	Set   string // table name; "" for a file
	RowID int64
	HasID bool
	Key   Cell // the first column, if it says more than the row id
	Line  int  // from 1, text files only
}

// String returns the address as messages show it: index.db/runs#42,
// store.db/blobs#3 (3fa1c2…), runs.ndjson:7.
func (a Addr) String() string {
	s := append(make([]byte, 0, 64), a.File...)
	if a.File != "" && a.Set != "" {
		s = append(s, '/')
	}
	s = append(s, a.Set...)
	if a.HasID {
		s = strconv.AppendInt(append(s, '#'), a.RowID, 10)
	}
	if k := keyText(a.Key); k != "" {
		s = append(append(append(s, " ("...), k...), ')')
	}
	if a.Line > 0 {
		s = strconv.AppendInt(append(s, ':'), int64(a.Line), 10)
	}
	return string(s)
}

// Short returns the address without the folders of the file, for messages that name
// the store anyway.
func (a Addr) Short() string {
	if a.File != "" {
		a.File = path.Base(a.File)
	}
	return a.String()
}

// keyText returns a key as one short line without control characters.
func keyText(c Cell) string {
	const maxKey = 60
	switch c.Class {
	case Int:
		return strconv.FormatInt(c.Int(), 10)
	case Real:
		return fmt.Sprint(c.Real())
	case Text:
		b := c.Bytes()
		cut := len(b) > maxKey
		if cut {
			b = b[:maxKey]
			for len(b) > 0 && !utf8.RuneStart(c.Bytes()[len(b)]) {
				b = b[:len(b)-1]
			}
		}
		q := string(b)
		if slices.ContainsFunc(b, func(c byte) bool { return c < ' ' || c >= 0x7f || c == '"' || c == '\\' }) {
			q = strconv.QuoteToGraphic(q)
			q = q[1 : len(q)-1]
		}
		if cut {
			q += "…"
		}
		return q
	case Blob:
		if len(c.Bytes()) > 8 {
			return hex.EncodeToString(c.Bytes()[:8]) + "…"
		}
		return hex.EncodeToString(c.Bytes())
	}
	return ""
}
