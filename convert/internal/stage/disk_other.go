//go:build !linux

package stage

// SyncDisk returns false: the system cannot sync one disk.
func SyncDisk(string) (bool, error) { return false, nil }
