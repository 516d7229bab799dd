//go:build !linux && !darwin

package fsevents

// isRemote reports whether a folder is on a file system that others can change
// without an event here. Windows reports what happens on a share.
func isRemote(string) bool { return false }
