//go:build !linux

package fleet

import (
	"math"
	"os"
	"os/exec"
)

// On other systems the limits are those of the Go runtime, of time and of output.
func prepare(*exec.Cmd) {}

func killGroup(p *os.Process) error { return p.Kill() }

func limit(int, Limits) error { return nil }

func freeSpace(string) (int64, error) { return math.MaxInt64, nil }
