package store

import (
	"encoding/hex"
	"fmt"
	"path"
	"strconv"
	"strings"
	"unicode/utf8"
)

// Addr names one record of a store well enough to find it again, also where
// its key is NULL or occurs twice: the row id settles it.
type Addr struct {
	File  string // slash path inside the store
	Set   string // table name; "" for a file
	RowID int64
	HasID bool
	Key   Cell // first column, where that says more than a row id
	Line  int  // from 1, text files only
}

// String prints the address as people quote it: index.db/runs#42,
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

// Short is the address for those who know which of the files of that name is
// meant: its folders are left out.
func (a Addr) Short() string {
	if a.File != "" {
		a.File = path.Base(a.File)
	}
	return a.String()
}

// keyText shows a key in one short line, whatever bytes it holds.
func keyText(c Cell) string {
	const most = 60
	switch c.Class {
	case Int:
		return strconv.FormatInt(c.Int(), 10)
	case Real:
		return fmt.Sprint(c.Real())
	case Text:
		b := c.Bytes()
		cut := len(b) > most
		if cut {
			b = b[:most]
			for len(b) > 0 && !utf8.RuneStart(c.Bytes()[len(b)]) {
				b = b[:len(b)-1]
			}
		}
		q := strconv.QuoteToGraphic(string(b))
		q = q[1 : len(q)-1]
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
