//go:build !(linux || darwin || freebsd || netbsd || openbsd || dragonfly)

package convert

import "os"

// locksWork is false: a folder left by a killed run is named, not removed.
const locksWork = false

func takeLock(path string, fresh bool) (*os.File, bool, error) {
	f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE|os.O_EXCL, 0o600)
	return f, false, err
}
