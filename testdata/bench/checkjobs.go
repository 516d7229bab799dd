package main

import (
	"context"
	"fmt"
)

// checkJobs ask the rules of chats and of the SDK's agents. What the first two
// layers do with chats, reading and hashing each file on one processor does the
// least part of: they hash every blob, follow every reference and look at every
// page.
func (b *bench) checkJobs(ctx context.Context) ([]job, error) {
	chats, err := b.chats(ctx, b.stores)
	if err != nil {
		return nil, err
	}
	root, err := b.stateRoot(ctx, b.events)
	if err != nil {
		return nil, err
	}
	lines := b.made("checked-lines")
	if err := commands(ctx, b.toLines(root, lines)); err != nil {
		return nil, err
	}
	check := func(at string, more ...string) func(string) []string {
		return func(string) []string { return append([]string{b.rehome, "check", at, "--fail-on", "error"}, more...) }
	}
	all := func(what, at string) job {
		return job{name: fmt.Sprintf("check of %s, %s: all layers but secrets", what, megabytes(at)), bytes: size(at), contenders: []contender{
			{name: "rehome", rate: 50, stdout: true, args: check(at)},
		}}
	}
	return []job{
		{name: fmt.Sprintf("check of %d store.db, %s: container, references", b.stores, megabytes(chats)), bytes: size(chats), contenders: []contender{
			{name: "rehome", stdout: true, args: check(chats, "--layer", "container,references")},
			{name: "Python, reading and hashing the files", wanted: 1.4, stdout: true, args: func(string) []string { return b.python3("hash_all.py", chats) }},
			{name: "sha256sum of the files", wanted: 1.4, stdout: true, args: func(string) []string {
				return []string{"find", chats, "-type", "f", "-exec", "sha256sum", "{}", "+"}
			}},
		}},
		all(fmt.Sprintf("%d store.db", b.stores), chats),
		all(fmt.Sprintf("an SDK state root, %d events", b.events), root),
		all(fmt.Sprintf("the same as ndjson, %d events", b.events), lines),
	}, nil
}
