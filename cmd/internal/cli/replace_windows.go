package cli

import (
	"context"
	"errors"
	"os"
	"os/exec"

	"rehome/cmd/internal/console"
)

// replaceProcess runs a command to its end, because a process of Windows cannot
// become another one. Interrupts are left to the command.
func replaceProcess(ctx context.Context, cmd *exec.Cmd) error {
	cmd.Stdin, cmd.Stdout, cmd.Stderr = os.Stdin, os.Stdout, os.Stderr
	console.IgnoreInterrupts(ctx, true)
	err := cmd.Run()
	if exit, ok := errors.AsType[*exec.ExitError](err); ok {
		return console.Silent{Code: exit.ExitCode()}
	}
	return err
}
