package cli

import (
	"context"
	"errors"

	"rehome/cmd/internal/prose"
	"rehome/formats"
	"rehome/formats/loss"
)

// turnsError names the range that selects no turn.
func (v *viewer) turnsError(err error) error {
	none, ok := errors.AsType[prose.TurnsError](err)
	if !ok {
		return err
	}
	return &formats.Error{At: "--turns " + v.cmd.Turns, Err: none, Hint: "omit --turns to print all of them"}
}

// joinTurns joins --turns and a range that counts from the end, which the parser
// would take for a flag.
func joinTurns(args []string) []string {
	var out []string
	for i := 0; i < len(args); i++ {
		if args[i] == "--" {
			return append(out, args[i:]...)
		}
		out = append(out, args[i])
		if args[i] == "--turns" && i+1 < len(args) && len(args[i+1]) > 1 && args[i+1][0] == '-' && args[i+1][1] >= '0' && args[i+1][1] <= '9' {
			i++
			out[len(out)-1] += "=" + args[i]
		}
	}
	return out
}

// resolveTurns turns a range that counts from the end into one that counts from
// the beginning.
func (v *viewer) resolveTurns(ctx context.Context, decode decodeFunc) (prose.Turns, error) {
	if !v.turns.FromEnd() {
		return v.turns, nil
	}
	last := 0
	for s, err := range decode(ctx, v.view(func(loss.Loss) {})) {
		if err != nil {
			return v.turns, err
		}
		n, err := prose.LastTurn(prose.WithoutBranches(s))
		if err != nil {
			return v.turns, err
		}
		last = max(last, n)
	}
	return v.turns.Resolve(last), ctx.Err()
}
