// Command bench measures rehome against what somebody would write in an
// afternoon, and against the sqlite3 command, in turns on the same machine.
// Ratios are what it is for: absolute times say little on a shared machine.
//
//	go run ./testdata/bench             about half an hour
//	go run ./testdata/bench -only sdk   one group of rows
//	go run ./testdata/bench -big        also one 3 GB store, for its memory
//
// Inputs are generated once and kept in $REHOME_BENCH, or in the user's cache
// folder.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"runtime"
	"slices"
	"syscall"
)

// settings are the sizes of a run. Smaller ones are for trying the bench
// itself: fixed costs weigh more in them.
type settings struct {
	rounds    int
	megabytes int
	stores    int
	events    int
	appends   int
	turns     int
	only      string
	big       bool
}

func main() {
	var s settings
	flag.IntVar(&s.rounds, "rounds", 5, "measured rounds, after one that is not counted")
	flag.IntVar(&s.megabytes, "mb", 300, "size of the state.vscdb")
	flag.IntVar(&s.stores, "stores", 1000, "number of store.db files")
	flag.IntVar(&s.events, "events", 500_000, "number of run events in the SDK's stores")
	flag.IntVar(&s.appends, "appends", 600, "number of run events that the SDK itself writes; twice as many take it four times as long")
	flag.IntVar(&s.turns, "turns", 5000, "turns of the long session, about 100 KB each")
	flag.StringVar(&s.only, "only", "", "one group of rows: state, chats, sdk, client, sessions, ls, ide, check, check-ide, migrate, search, write or redact")
	flag.BoolVar(&s.big, "big", false, "also carry a 3 GB state.vscdb there and back, once")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if err := run(ctx, s); err != nil {
		fmt.Fprintln(os.Stderr, "bench:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, s settings) error {
	if min(s.rounds, s.megabytes, s.stores, s.events, s.appends, s.turns) < 1 {
		return fmt.Errorf("-rounds, -mb, -stores, -events, -appends and -turns are at least 1")
	}
	b, err := prepare(ctx, s)
	if err != nil {
		return err
	}
	defer os.RemoveAll(b.scratch)
	fmt.Printf("%s/%s, %d processors, %s; %s, sqlite3 %s; medians of %d rounds in turn, after one that is not counted\n\n",
		runtime.GOOS, runtime.GOARCH, runtime.NumCPU(), runtime.Version(), b.python, b.sqlite, s.rounds)
	groups := b.groups()
	if s.only != "" {
		groups = slices.DeleteFunc(groups, func(g group) bool { return g.name != s.only })
	}
	if len(groups) == 0 {
		return fmt.Errorf("-only %s: there is no such group", s.only)
	}
	printHead()
	var absent []error
	for _, g := range groups {
		jobs, err := g.jobs(ctx)
		if err != nil {
			return err
		}
		for _, j := range jobs {
			if err := b.race(ctx, j); err != nil {
				return fmt.Errorf("%s: %w", j.name, err)
			}
			absent = append(absent, j.absent())
		}
	}
	if s.big {
		absent = append(absent, b.carryBig(ctx))
	}
	return errors.Join(absent...)
}
