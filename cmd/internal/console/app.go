// Package console is what every command shares: how results, progress and errors are printed, the
// exit codes, stdin, and flags that several commands have. It knows no command.
package console

import (
	"context"
	"time"

	"rehome/formats"
)

// App is the state that every command shares.
type App struct {
	Ctx context.Context
	Reg *formats.Registry
	Out *Output
	Now func() time.Time

	OwnEnv func(string) string // the environment that --home replaced; nil if it did not
}
