package main

import (
	"bytes"
	"unsafe"

	"golang.org/x/sys/unix"
)

// other is the name of a terminal's other end, which may be opened then.
func other(fd int) (string, error) {
	var name [128]byte // as long as TIOCPTYGNAME says
	for _, call := range []struct{ request, arg uintptr }{
		{unix.TIOCPTYGRANT, 0}, {unix.TIOCPTYUNLK, 0}, {unix.TIOCPTYGNAME, uintptr(unsafe.Pointer(&name[0]))},
	} {
		if _, _, err := unix.Syscall(unix.SYS_IOCTL, uintptr(fd), call.request, call.arg); err != 0 {
			return "", err
		}
	}
	end, _, _ := bytes.Cut(name[:], []byte{0})
	return string(end), nil
}
