package formats

import (
	"encoding/hex"
	"strings"
)

// StagingMark is part of the name of each folder that a conversion writes to before
// it moves the result to its place: .NAME.rehome-0123456789abcdef, or
// .NAME.rehome-update if the target exists.
const StagingMark = ".rehome-"

// IsStaging reports whether a folder with this name is a staging folder of rehome,
// which is never part of a store.
func IsStaging(name string) bool {
	at := strings.LastIndex(name, StagingMark)
	if at < 1 || name[0] != '.' {
		return false
	}
	if name[at+len(StagingMark):] == "update" {
		return true
	}
	b, err := hex.DecodeString(name[at+len(StagingMark):])
	return err == nil && len(b) == 8
}
