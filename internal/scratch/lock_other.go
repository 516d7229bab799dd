//go:build !(linux || darwin || freebsd || netbsd || openbsd || dragonfly)

package scratch

import "os"

// locksWork is false: a folder left by a killed run is named, not removed.
const locksWork = false

func takeLock(path string, fresh bool) (*os.File, bool, error) {
	f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE|os.O_EXCL, 0o600)
	return f, false, err
}

func mine(os.FileInfo) bool { return true }

// unlink does nothing: an open file keeps its name here.
func unlink(*os.File) error { return nil }
