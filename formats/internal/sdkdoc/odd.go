package sdkdoc

import (
	"slices"
	"strings"

	"rehome/formats/store"
)

// Odd says in words what the SDK would stumble over in a row, "" if nothing.
// What came whole out of a line is JSON wherever it must be; loose says that
// cells came from elsewhere, too.
func (k Kind) Odd(row []store.Cell, loose bool) string {
	if k > Event {
		return ""
	}
	if known := k.statuses(); known != nil {
		status := row[[...]int{agentStatus, runStatus}[k]]
		if !slices.Contains(known, string(status.Bytes())) {
			return "a status that the SDK does not know: it shows none"
		}
	}
	if !loose {
		return ""
	}
	for _, col := range k.jsons() {
		if c := row[col]; c.Class != store.Null && (c.Class != store.Text || !parses(c.Bytes())) {
			return "text that is no JSON where the SDK wants some: it lists nothing of " + k.Table() + " because of it"
		}
	}
	return ""
}

// statuses are those that the SDK knows, as its databases spell them.
func (k Kind) statuses() []string {
	switch k {
	case Agent:
		return []string{"IDLE", "RUNNING", "ARCHIVED", "ERROR"}
	case Run:
		return []string{"FINISHED", "RUNNING", "QUEUED", "CREATING", "ERROR", "CANCELLED", "EXPIRED"}
	}
	return nil
}

// jsons are the columns that the SDK parses whenever it lists the table.
func (k Kind) jsons() []int {
	switch k {
	case Agent:
		return []int{agentMetadata, agentCheckpoint}
	case Run:
		return []int{runParams, runStart, runLatest, runUsage}
	}
	return []int{eventPayload}
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
