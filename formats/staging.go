package formats

import (
	"encoding/hex"
	"strings"
)

// StagingMark stands in the name of each folder in which a conversion is built:
// .NAME.rehome-0123456789abcdef.
const StagingMark = ".rehome-"

// IsStaging reports such a name. The folder is rehome's own, wherever it lies: no
// store has it as a part.
func IsStaging(name string) bool {
	at := strings.LastIndex(name, StagingMark)
	if at < 1 || name[0] != '.' {
		return false
	}
	b, err := hex.DecodeString(name[at+len(StagingMark):])
	return err == nil && len(b) == 8
}
