package main

import (
	"context"
	"fmt"
	"path/filepath"
	"strconv"
)

// redactJobs redact a session of Claude Code in which one token was pasted, and one with a
// token in each line. The script knows ten rules instead of 220, looks into no base64, and reads
// nothing again.
func (b *bench) redactJobs(ctx context.Context) ([]job, error) {
	var jobs []job
	for _, tokens := range []string{"one", "each"} {
		dir, err := b.input(ctx, fmt.Sprintf("claude-%s-%d", tokens, b.megabytes/3), func(dir string) []string {
			return []string{"genclaude.py", dir, strconv.Itoa(b.megabytes / 3), tokens}
		})
		if err != nil {
			return nil, err
		}
		source := filepath.Join(dir, "session.jsonl")
		jobs = append(jobs, job{name: fmt.Sprintf("Claude Code, %s, tokens: %s -> redacted", megabytes(source), tokens), bytes: size(source), contenders: []contender{
			{name: "rehome", args: func(target string) []string { return []string{b.rehome, "redact", source, target, "--quiet"} }},
			{name: theLeast, args: func(target string) []string { return b.python3("redact_small.py", source, target) }},
		}})
	}
	return jobs, nil
}
