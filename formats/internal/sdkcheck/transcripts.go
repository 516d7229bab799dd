package sdkcheck

import (
	"strings"

	"rehome/formats/internal/sdkdoc"
	"rehome/formats/internal/transcript"
	"rehome/formats/rule"
	"rehome/formats/store"
)

// Transcripts asks whose the readable copies are, given their paths in the
// store: agent-transcripts/ID/ID.jsonl, or ID.jsonl and ID.txt without a folder.
func (c *Catalog) Transcripts(files []string) {
	if !c.q.Enabled(rule.References) || c.Gaps.Agents {
		return
	}
	known := map[string]bool{}
	for _, a := range c.Agents() {
		known[transcript.Spell(a.ID)] = true
	}
	for _, path := range files {
		id, _, _ := strings.Cut(strings.TrimPrefix(path, sdkdoc.Transcripts+"/"), "/")
		id = strings.TrimSuffix(strings.TrimSuffix(id, ".jsonl"), ".txt")
		if !known[id] {
			known[id] = true // said once
			c.q.Reportf("RH326", store.Addr{File: path}, "")
		}
	}
}
