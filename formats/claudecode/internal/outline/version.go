package outline

import (
	"strconv"
	"strings"
)

// Version is the newest version of the client whose lines are known here; lines that
// rehome writes are like its own.
const Version = "2.1.330"

// Newer reports whether a version is later than Version.
func Newer(version string) bool {
	for known := range strings.SplitSeq(Version, ".") {
		k, _ := strconv.Atoi(known)
		part, rest, _ := strings.Cut(version, ".")
		n, err := strconv.Atoi(part)
		if err != nil || n != k {
			return err == nil && n > k
		}
		version = rest
	}
	return false
}
