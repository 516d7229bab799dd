package sdkcheck

import (
	"fmt"
	"strings"

	"rehome/formats/internal/sdkdoc"
	"rehome/formats/rule"
	"rehome/formats/store"
)

// Transcripts asks whose the readable copies are, given their paths in the
// store: agent-transcripts/ID/ID.jsonl, or ID.jsonl and ID.txt without a folder.
func (c *Catalog) Transcripts(files []string) {
	if !c.q.Asks(rule.References) || c.Gaps.Agents {
		return
	}
	known := map[string]bool{}
	for _, a := range c.Agents() {
		known[encoded(a.ID)] = true
	}
	for _, path := range files {
		id, _, _ := strings.Cut(strings.TrimPrefix(path, sdkdoc.Transcripts+"/"), "/")
		id = strings.TrimSuffix(strings.TrimSuffix(id, ".jsonl"), ".txt")
		if !known[id] {
			known[id] = true // said once
			c.q.Breach("RH326", store.Addr{File: path}, "")
		}
	}
}

// encoded is an agent's id as its transcript is named: encodeURIComponent with
// _ for %, and no more than 200 characters.
func encoded(id string) string {
	var out strings.Builder
	for _, b := range []byte(id) {
		switch {
		case b >= 'a' && b <= 'z', b >= 'A' && b <= 'Z', b >= '0' && b <= '9', strings.IndexByte("-_.!~*'()", b) >= 0:
			out.WriteByte(b)
		default:
			fmt.Fprintf(&out, "_%02X", b)
		}
	}
	return out.String()[:min(out.Len(), 200)]
}
