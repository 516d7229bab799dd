package hometest

import (
	"os"
	"syscall"
)

// memory returns the most memory that a process used, in MB.
func memory(p *os.ProcessState) int64 { return p.SysUsage().(*syscall.Rusage).Maxrss >> 10 }
