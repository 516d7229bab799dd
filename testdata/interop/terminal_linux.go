package main

import (
	"fmt"

	"golang.org/x/sys/unix"
)

// other is the name of a terminal's other end, which may be opened then.
func other(fd int) (string, error) {
	if err := unix.IoctlSetPointerInt(fd, unix.TIOCSPTLCK, 0); err != nil {
		return "", err
	}
	n, err := unix.IoctlGetInt(fd, unix.TIOCGPTN)
	return fmt.Sprintf("/dev/pts/%d", n), err
}
