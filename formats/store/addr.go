package store

import (
	"encoding/hex"
	"fmt"
	"path"
	"slices"
	"strconv"
	"strings"
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
	var s strings.Builder
	s.WriteString(a.File)
	if a.File != "" && a.Set != "" {
		s.WriteByte('/')
	}
	s.WriteString(a.Set)
	if a.HasID {
		s.WriteString("#" + strconv.FormatInt(a.RowID, 10))
	}
	if k := keyText(a.Key); k != "" {
		s.WriteString(" (" + k + ")")
	}
	if a.Line > 0 {
		s.WriteString(":" + strconv.Itoa(a.Line))
	}
	return s.String()
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
