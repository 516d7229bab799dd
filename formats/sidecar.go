package formats

import "strings"

// A sidecar is a file next to a target with what the target cannot hold, so that
// the way back is exact. Before 0.1 it was called residue: files with the old
// suffix are still read, but no longer written.
const (
	SidecarSuffix    = ".sidecar.ndjson"
	OldSidecarSuffix = ".residue.ndjson"
)

// PartSidecar is the sidecar inside of a folder that is a part of a store, or of a
// store that has such parts: see Parted.
const PartSidecar = "sidecar.ndjson"

// IsSidecar reports whether a file with this name is a sidecar.
func IsSidecar(name string) bool {
	return strings.HasSuffix(name, SidecarSuffix) || strings.HasSuffix(name, OldSidecarSuffix) || name == PartSidecar
}
