package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"time"
)

// cost is what one run of a program cost.
type cost struct {
	wall, cpu time.Duration
	peak      int64 // bytes of resident memory at most
}

// race lets the contenders run in turn, A B C A B C, so that a busy minute of
// the machine hits all of them.
func (b *bench) race(ctx context.Context, j job) error {
	costs := make([][]cost, len(j.contenders))
	for round := range b.rounds + 1 {
		for i, c := range j.contenders {
			if c.absent != nil {
				continue
			}
			one, err := b.measure(ctx, c, fmt.Sprintf("target-%d-%d", round, i))
			if err != nil {
				return fmt.Errorf("%s: %w", c.name, err)
			}
			if round > 0 { // the first warms caches
				costs[i] = append(costs[i], one)
			}
		}
	}
	if err := b.sweep(ctx); err != nil {
		return err
	}
	ours := medians(costs[0])
	for i, c := range j.contenders {
		if c.absent != nil {
			printAbsent(j.name, c)
			continue
		}
		printRow(j, c, medians(costs[i]), ours)
	}
	return nil
}

// absent is who could not take part: a table that lacks a row is no result.
func (j job) absent() error {
	var errs []error
	for _, c := range j.contenders {
		if c.absent != nil {
			errs = append(errs, fmt.Errorf("%s: %s: %w", j.name, c.name, c.absent))
		}
	}
	return errors.Join(errs...)
}

// sweep removes the targets of a job and waits: ext4 keeps away from inodes
// that were freed a moment ago, and making files is ten times slower meanwhile.
func (b *bench) sweep(ctx context.Context) error {
	targets, err := filepath.Glob(filepath.Join(b.scratch, "target-*"))
	if err != nil {
		return err
	}
	for _, t := range targets {
		if err := os.RemoveAll(t); err != nil {
			return err
		}
	}
	settle()
	select {
	case <-time.After(30 * time.Second):
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// measure runs a contender once. Its target is always a fresh name, because
// writing over a large file is slower.
func (b *bench) measure(ctx context.Context, c contender, target string) (cost, error) {
	target = filepath.Join(b.scratch, target)
	cmd := command(ctx, c.args(target))
	if c.stdout {
		f, err := os.Create(target)
		if err != nil {
			return cost{}, err
		}
		defer f.Close()
		cmd.Stdout = f
	}
	settle()
	start := time.Now()
	err := cmd.Run()
	wall := time.Since(start)
	if err != nil {
		return cost{}, err
	}
	if _, err := os.Stat(target); err != nil {
		return cost{}, fmt.Errorf("wrote nothing: %w", err)
	}
	s := cmd.ProcessState
	return cost{wall, s.UserTime() + s.SystemTime(), peak(s)}, nil
}

func medians(list []cost) cost {
	return cost{
		wall: median(list, func(c cost) time.Duration { return c.wall }),
		cpu:  median(list, func(c cost) time.Duration { return c.cpu }),
		peak: median(list, func(c cost) int64 { return c.peak }),
	}
}

func median[T time.Duration | int64](list []cost, of func(cost) T) T {
	var all []T
	for _, c := range list {
		all = append(all, of(c))
	}
	slices.Sort(all)
	return (all[(len(all)-1)/2] + all[len(all)/2]) / 2
}

// carryBig carries a store that does not fit the memory we promise, there and
// back, and has somebody else compare the two.
func (b *bench) carryBig(ctx context.Context) error {
	const size = 3000
	state, err := b.vscdb(ctx, size)
	if err != nil {
		return err
	}
	archive, back := b.made("big-archive"), b.made("big.vscdb")
	for _, step := range []struct {
		name, target string
		args         []string
	}{
		{fmt.Sprintf("state.vscdb, %s -> archive", megabytes(state)), archive, b.convert(state, archive, "--to", "archive")},
		{"archive -> state.vscdb, the same", back, b.convert(archive, back)},
	} {
		cmd := command(ctx, step.args)
		settle()
		start := time.Now()
		if err := cmd.Run(); err != nil {
			return fmt.Errorf("%s: %w", step.name, err)
		}
		s := cmd.ProcessState
		once := cost{time.Since(start), s.UserTime() + s.SystemTime(), peak(s)}
		printRow(job{name: step.name}, contender{name: "rehome, once"}, once, once)
	}
	if err := command(ctx, b.python3("careful.py", "same", state, back)).Run(); err != nil {
		return fmt.Errorf("the big store came back different: %w", err)
	}
	return nil
}
