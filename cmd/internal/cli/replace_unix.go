//go:build unix

package cli

import (
	"context"
	"os"
	"os/exec"
	"syscall"
)

// replaceProcess makes this process the one of a command. It returns only if that
// fails.
func replaceProcess(_ context.Context, cmd *exec.Cmd) error {
	if err := os.Chdir(cmd.Dir); err != nil {
		return err
	}
	return &os.PathError{Op: "exec", Path: cmd.Path, Err: syscall.Exec(cmd.Path, cmd.Args, cmd.Environ())}
}
