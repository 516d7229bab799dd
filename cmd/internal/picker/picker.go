// Package picker lets the user choose a row of a list on a terminal, with a
// fuzzy filter and a preview.
//
// It is built on Bubble Tea 2: fzf's package links an HTTP server, which this
// program must not have, and runs previews through a shell; Bubble Tea 1 asks
// the terminal for its colors before main, in every command.
package picker

import (
	"context"
	"errors"
	"fmt"
	"io"

	tea "charm.land/bubbletea/v2"

	"rehome/cmd/internal/screen"
)

// ErrCanceled means that the user left without a choice.
var ErrCanceled = fmt.Errorf("nothing chosen: %w", context.Canceled)

// List is what the user chooses from.
type List struct {
	Header []screen.Safe // lines above the list
	// Search has the text of each row that the filter matches.
	Search []string
	Count  screen.Safe // how many rows there are: 3 sessions
	// Line returns a row, at most width cells wide.
	Line func(row, width int, selected bool) screen.Safe
	// Actions returns what can be done with a row: Enter does the first, unless the user chose
	// another one with Tab. nil = Options.Action.
	Actions func(row int) []screen.Safe
	// Preview returns a text about a row that is safe to print. Lines longer than
	// width are cut. It is called on a goroutine of its own and stops early when
	// its context is canceled.
	Preview func(ctx context.Context, row, width int) string
}

// Options are the options of Pick.
type Options struct {
	Loading screen.Safe // said while Load runs: reading sessions…
	Action  screen.Safe // what Enter does: continue
	Query   string      // the first filter
	Palette screen.Palette
	In      io.Reader // the terminal
	Out     io.Writer
	// Load returns the list. The user can type while it runs.
	Load func(ctx context.Context) (*List, error)
}

// Pick shows a list on the whole terminal until the user chooses a row, and returns that
// row and which of its actions. The terminal is restored however it ends, unless the process
// is killed with a signal that cannot be caught. A list without rows returns -1.
func Pick(ctx context.Context, o Options) (row, action int, err error) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	m := &model{o: o, ctx: ctx, previews: map[int][]string{}, query: []rune(o.Query), chosen: -1}
	// Signals cancel ctx, so Bubble Tea must not handle them itself.
	_, err = tea.NewProgram(m, tea.WithContext(ctx), tea.WithInput(o.In), tea.WithOutput(o.Out), tea.WithoutSignalHandler()).Run()
	switch {
	case ctx.Err() != nil:
		return -1, 0, ctx.Err()
	case err != nil && !errors.Is(err, tea.ErrProgramKilled):
		return -1, 0, fmt.Errorf("cannot use the terminal: %w", err)
	}
	return m.chosen, m.chosenAction, m.err
}
