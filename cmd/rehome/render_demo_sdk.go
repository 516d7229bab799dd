package main

import (
	"regexp"
	"strings"

	"rehome/cmd/rehome/internal/screen"
)

const (
	excerptRows  = 5  // how much of one line of text the demo shows,
	excerptWidth = 70 // narrower than the page: some letters take two columns
)

// text shows the way of an agent that a program ran with an SDK.
func (r *demoSDK) text(p *page) {
	p.Line(p.Strong("5. an agent of the Cursor SDK: project is what the end of a program leaves"))
	p.files("project/", r.before)
	p.Line(p.Cyan("   $ rehome convert project agents --to cursor-ndjson"))
	p.files("", r.files)
	p.Line("   the agent, and what it was asked:")
	for _, line := range r.lines {
		parts := rows(visible(shortIDs(shortRuns(line))), excerptWidth)
		for i, part := range parts[:min(len(parts), excerptRows)] {
			if i == excerptRows-1 && len(parts) > excerptRows {
				part += "…"
			}
			p.Line("   " + p.Faint(part))
		}
	}
	p.Linef("   %s stayed home. The rest is for git, agents.sidecar.ndjson too", many(r.secrets, "secret"))
	p.Line("")
	p.Line(p.Strong("6. the text as a store, where the SDK looks for it from a checkout elsewhere"))
	p.Line(p.Cyan("   $ rehome convert agents --cwd " + demoCheckout + " --home " + demoHome))
	p.Line("   " + screen.Brief(r.project) + "/")
	p.files(r.project+"/", r.placed)
	p.Linef("   a program that works in %s goes on with", demoCheckout)
	p.Line(p.Cyan(`   Agent.resume("` + visible(r.Agent) + `")`))
	p.Line("")
	p.Line(p.Strong("7. the same with keys, back to where it began, and there again"))
	p.Line(p.Cyan("   $ rehome convert project kept --to cursor-ndjson --with-secrets"))
	p.Line(p.Cyan("   $ rehome convert kept returned --with-secrets"))
	p.Line(p.Cyan("   $ rehome convert returned kept-again --to cursor-ndjson --with-secrets"))
	var sets [][]screen.Safe
	for _, s := range r.sets {
		if strings.HasSuffix(s.File, ".ndjson") { // transcripts go without saying
			sets = append(sets, []screen.Safe{visible(s.File), many(s.Rows, "line"), visible(s.Digest)})
		}
	}
	p.Table("   ", sets)
	p.Linef("   kept and kept-again: %s", p.verdict(r.sameText, "the same, byte for byte, and their sidecars"))
	p.Linef("   project and returned: %s", p.verdict(r.sameStore, "every cell equal"))
}

// shortIDs cuts ids to what tells them apart.
func shortIDs(s string) string {
	id := regexp.MustCompile(`([0-9a-f]{8})(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}`)
	return id.ReplaceAllString(s, "$1…")
}
