package main

import (
	"context"
	"errors"
	"fmt"
	"os"
)

// sdkJobs carry the agents of the Cursor SDK from one of its two stores to the
// other.
func (b *bench) sdkJobs(ctx context.Context) ([]job, error) {
	root, err := b.stateRoot(ctx, b.events)
	if err != nil {
		return nil, err
	}
	lines, small, careful := b.made("lines"), b.made("lines-small"), b.made("lines-careful")
	if err := b.checkSDK(ctx, root, lines, small, careful); err != nil {
		return nil, err
	}
	return []job{
		{name: fmt.Sprintf("SDK state root, %d events, %s -> ndjson", b.events, megabytes(root)), contenders: []contender{
			{name: "rehome", args: func(to string) []string { return b.toLines(root, to) }},
			{name: theLeast, wanted: 8, args: func(to string) []string { return b.python3("sdk_small.py", "dump", root, to) }},
			{name: samePromises, args: func(to string) []string { return b.python3("sdk_careful.py", "dump", root, to) }},
		}},
		{name: fmt.Sprintf("ndjson, %d events, %s -> SDK state root", b.events, megabytes(lines)), contenders: []contender{
			{name: "rehome", args: func(to string) []string { return b.toRoot(lines, to) }},
			{name: theLeast, wanted: 2.5, args: func(to string) []string { return b.python3("sdk_small.py", "load", small, to) }},
			{name: samePromises, args: func(to string) []string { return b.python3("sdk_careful.py", "load", careful, to) }},
		}},
	}, nil
}

// checkSDK makes each program's own lines, for the way back, and lets each be
// judged by what the others made: three programs that agree on every byte of
// the lines, and of what stands in the state roots made from them.
func (b *bench) checkSDK(ctx context.Context, root, lines, small, careful string) error {
	back, smallBack, carefulBack, again := b.made("root"), b.made("root-small"), b.made("root-careful"), b.made("again")
	script := func(args ...string) []string { return b.python3("sdk_careful.py", args...) }
	err := commands(ctx,
		b.toLines(root, lines), b.python3("sdk_small.py", "dump", root, small), script("dump", root, careful),
		script("alike", lines, small), script("alike", lines, careful),
		b.toRoot(lines, back), script("same", root, back),
		b.python3("sdk_small.py", "load", small, smallBack), b.toLines(smallBack, again), script("alike", lines, again),
	)
	if err != nil {
		return err
	}
	if err := os.RemoveAll(again); err != nil {
		return err
	}
	err = commands(ctx, script("load", careful, carefulBack), b.python3("sdk_small.py", "dump", carefulBack, again), script("alike", lines, again))
	return errors.Join(err, os.RemoveAll(back), os.RemoveAll(smallBack), os.RemoveAll(carefulBack), os.RemoveAll(again))
}

// clientJobs race the SDK's own writer of lines, which writes its whole file
// again for every event. What the SDK reads is a store of the same shape.
func (b *bench) clientJobs(ctx context.Context) ([]job, error) {
	root, err := b.stateRoot(ctx, b.appends)
	if err != nil {
		return nil, err
	}
	sdk := contender{name: "Cursor SDK " + sdkVersion + ", its own classes"}
	client, err := b.client(ctx)
	if err != nil {
		sdk.absent = err
	} else {
		sdk.args = func(to string) []string { return client.copy(root, to) }
		lines, theirs := b.made("client-lines"), b.made("client-theirs")
		if err := commands(ctx, b.toLines(root, lines), client.copy(root, theirs), b.python3("sdk_careful.py", "agree", lines, theirs)); err != nil {
			return nil, err
		}
	}
	return []job{{name: fmt.Sprintf("SDK state root, %d events -> ndjson", b.appends), contenders: []contender{
		{name: "rehome", args: func(to string) []string { return b.toLines(root, to) }},
		sdk,
	}}}, nil
}

// Everything the store holds crosses, the keys that clients make for
// themselves too: the scripts and the SDK carry them as well.
func (b *bench) toLines(root, to string) []string {
	return b.convert(root, to, "--to", "cursor-ndjson", "--flat", "--with-secrets")
}

func (b *bench) toRoot(lines, to string) []string {
	return b.convert(lines, to, "--to", "cursor-sdk", "--with-secrets")
}
