package sdkdoc

import (
	"strings"

	"rehome/formats/store"
)

// Oddity is what the SDK stumbles over in a row.
type Oddity uint8

const (
	NotOdd    Oddity = iota
	OddStatus        // a status that it does not know: it shows none
	OddJSON          // text that is not JSON: it lists nothing of the table because of it
)

// Odd returns what the SDK would stumble over in a row.
// What came whole out of a line is JSON wherever it must be; loose says that
// cells came from elsewhere, too.
func (k Kind) Odd(row []store.Cell, loose bool) Oddity {
	if k > Event {
		return NotOdd
	}
	if k <= Run && !k.KnowsStatus(row[[...]int{AgentStatus, RunStatus}[k]].Bytes()) {
		return OddStatus
	}
	if !loose {
		return NotOdd
	}
	for col, c := range row {
		if k.HoldsJSON(col) && c.Class != store.Null && (c.Class != store.Text || !parses(c.Bytes())) {
			return OddJSON
		}
	}
	return NotOdd
}

// Object reports whether the SDK can read the line, or passes over it.
func Object(line []byte) bool {
	return past(line, 0) == len(line) || split(line, nil, nil).object
}

func parses(b []byte) bool { return flat(b) != nil }

// Noise reports names of files that systems, editors of folders and git leave
// anywhere. They are nobody's data.
func Noise(name string) bool {
	switch strings.ToLower(name) {
	case ".ds_store", "thumbs.db", "desktop.ini", ".gitattributes", ".gitignore":
		return true
	}
	return false
}
