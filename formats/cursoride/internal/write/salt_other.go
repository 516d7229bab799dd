//go:build !linux && !darwin && !windows

package write

import "io/fs"

// salt returns what the client adds to the path of a folder to make its id. There is no
// client for this system.
func salt(fs.FileInfo) string { return "" }
