package main

import (
	"context"
	"fmt"
	"path/filepath"
	"strconv"
)

// writeJobs make sessions of Claude Code into agents and chats of Cursor's clients. What was
// written is read again and verified, which is part of the time. The script writes the half
// of a chat that the model sees, and verifies nothing.
func (b *bench) writeJobs(ctx context.Context) ([]job, error) {
	dir, err := b.input(ctx, fmt.Sprintf("claude-%d", b.megabytes/2), func(dir string) []string {
		return []string{"genclaude.py", dir, strconv.Itoa(b.megabytes / 2)}
	})
	if err != nil {
		return nil, err
	}
	source := filepath.Join(dir, "session.jsonl")
	var jobs []job
	for _, to := range []string{"cursor-chat", "cursor-sdk", "cursor-ndjson"} {
		j := job{name: fmt.Sprintf("Claude Code, one session, %s -> %s", megabytes(source), to), bytes: size(source), contenders: []contender{
			{name: "rehome", rate: 40, args: func(target string) []string { return b.convert(source, target, "--to", to) }},
		}}
		if to == "cursor-chat" {
			j.contenders = append(j.contenders, contender{name: theLeast, args: func(target string) []string { return b.python3("claude_small.py", source, target) }})
		}
		jobs = append(jobs, j)
	}
	return jobs, nil
}
