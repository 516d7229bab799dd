package prose

import (
	"encoding/json"
	"strings"
	"time"

	"rehome/cmd/rehome/internal/screen"
	"rehome/formats/session"
)

// ending shows the last line of a captured run. From a file it is on the turn's
// record, and so in its heading; on a live pipe that heading is long out, and
// the line is a part of its own. False if the part is none.
func (w *walker) ending(p *session.Opaque) bool {
	sub, ok := strings.CutPrefix(p.Kind, "result/")
	line := members(p.Raw)
	if !ok || line == nil {
		return false
	}
	failed := strings.HasPrefix(sub, "error") || string(line["is_error"]) == "true"
	words := screen.Safe("run ended")
	if failed {
		words = "run failed"
	}
	if ms, ok := whole(line["duration_ms"]); ok && ms > 0 && ms < 1<<40 {
		words += " · " + screen.Span(time.Duration(ms)*time.Millisecond)
	}
	if cost := usage(spent(members(line["usage"]))); cost != "" {
		words += " · " + cost
	}
	w.pen.rule(words)
	if text, _ := plain(line["result"]); failed && strings.TrimSpace(text) != "" {
		w.pen.said(text)
	}
	return true
}

// spent is what such a line says the run cost.
func spent(m map[string]json.RawMessage) *session.Usage {
	u := session.UnknownUsage()
	for name, n := range map[string]*int64{"inputTokens": &u.Input, "outputTokens": &u.Output, "cacheReadTokens": &u.CacheRead} {
		if v, ok := whole(m[name]); ok {
			*n = v
		}
	}
	return &u
}
