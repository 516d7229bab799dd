package formats

import "strings"

// A sidecar keeps what a target cannot hold, in a file beside it, so that the
// way back is exact. Before 0.1 it was called residue: files of that name are
// read wherever one of today's name is, and no longer written.
const (
	SidecarSuffix    = ".sidecar.ndjson"
	OldSidecarSuffix = ".residue.ndjson"
)

// IsSidecar reports whether a file of this name is a sidecar.
func IsSidecar(name string) bool {
	return strings.HasSuffix(name, SidecarSuffix) || strings.HasSuffix(name, OldSidecarSuffix)
}
