package prose

import (
	"encoding/json"
	"strings"
	"time"

	"rehome/cmd/internal/screen"
	"rehome/formats/session"
)

// runEnd prints the last line of a captured run. In a file, it is part of the
// turn's record and printed with the turn's heading. On a stream, that heading
// has been printed already, so the line arrives as a part of its own. It
// returns false for any other part.
func (w *walker) runEnd(p *session.Opaque) bool {
	if !isRunEnd(p) {
		return false
	}
	sub, line := strings.TrimPrefix(p.Kind, "result/"), members(p.Raw)
	failed := strings.HasPrefix(sub, "error") || string(line["is_error"]) == "true"
	words := screen.Safe("run ended")
	if failed {
		words = "run failed"
	}
	if ms, ok := intValue(line["duration_ms"]); ok && ms > 0 && ms < 1<<40 {
		words += " · " + screen.Duration(time.Duration(ms)*time.Millisecond)
	}
	if cost := FormatUsage(runUsage(members(line["usage"]))); cost != "" {
		words += " · " + cost
	}
	w.out.Divider(words)
	if text, _ := stringValue(line["result"]); failed && strings.TrimSpace(text) != "" {
		w.out.Answer(text)
	}
	return true
}

func isRunEnd(p *session.Opaque) bool {
	return strings.HasPrefix(p.Kind, "result/") && members(p.Raw) != nil
}

// runUsage returns the token usage in the last line of a run.
func runUsage(m map[string]json.RawMessage) *session.Usage {
	u := session.UnknownUsage()
	for name, n := range map[string]*int64{"inputTokens": &u.Input, "outputTokens": &u.Output, "cacheReadTokens": &u.CacheRead} {
		if v, ok := intValue(m[name]); ok {
			*n = v
		}
	}
	return &u
}
