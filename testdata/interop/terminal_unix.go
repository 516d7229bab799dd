//go:build linux || darwin

package main

import (
	"os"
	"syscall"

	"golang.org/x/sys/unix"
)

// openTerminal gives both ends of a terminal: the person's and the program's.
func openTerminal(rows, columns uint16) (person, program *os.File, err error) {
	if person, err = os.OpenFile("/dev/ptmx", os.O_RDWR|unix.O_NOCTTY, 0); err != nil {
		return nil, nil, err
	}
	name, err := other(int(person.Fd()))
	if err == nil {
		err = unix.IoctlSetWinsize(int(person.Fd()), unix.TIOCSWINSZ, &unix.Winsize{Row: rows, Col: columns})
	}
	if err == nil {
		program, err = os.OpenFile(name, os.O_RDWR|unix.O_NOCTTY, 0)
	}
	if err != nil {
		person.Close()
		return nil, nil, err
	}
	return person, program, nil
}

// inFront makes the terminal, which is standard input, the program's own.
func inFront() *syscall.SysProcAttr { return &syscall.SysProcAttr{Setsid: true, Setctty: true} }

// end ends a session's processes.
func end(pid int) { unix.Kill(-pid, unix.SIGKILL) }
