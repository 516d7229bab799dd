package main

import (
	"regexp"
	"strings"
)

const (
	excerptRows  = 5  // how much of one line of text the demo shows,
	excerptWidth = 70 // narrower than the page: some letters take two columns
)

// text shows the way of an agent that a program ran with an SDK.
func (r *demoSDK) text(p *page) {
	p.line(p.strong("5. an agent of the Cursor SDK: project is what the end of a program leaves"))
	p.files("project/", r.before)
	p.line(p.cyan("   $ rehome convert project agents --to cursor-ndjson"))
	p.files("", r.files)
	p.line("   the agent, and what it was asked:")
	for _, line := range r.lines {
		parts := rows(visible(shortIDs(shortRuns(line))), excerptWidth)
		for i, part := range parts[:min(len(parts), excerptRows)] {
			if i == excerptRows-1 && len(parts) > excerptRows {
				part += "…"
			}
			p.line("   " + p.faint(part))
		}
	}
	p.linef("   %s stayed home. The rest is for git, agents.residue.ndjson too", many(r.secrets, "secret"))
	p.line("")
	p.line(p.strong("6. the text as a store, where the SDK looks for it from a checkout elsewhere"))
	p.line(p.cyan("   $ rehome convert agents --cwd " + demoCheckout + " --home " + demoHome))
	p.line("   " + visible(brief(r.project)) + "/")
	p.files(r.project+"/", r.placed)
	p.linef("   a program that works in %s goes on with", demoCheckout)
	p.line(p.cyan(`   Agent.resume("` + visible(r.Agent) + `")`))
	p.line("")
	p.line(p.strong("7. the same with keys, back to where it began, and there again"))
	p.line(p.cyan("   $ rehome convert project kept --to cursor-ndjson --with-secrets"))
	p.line(p.cyan("   $ rehome convert kept returned --with-secrets"))
	p.line(p.cyan("   $ rehome convert returned kept-again --to cursor-ndjson --with-secrets"))
	var sets [][]string
	for _, s := range r.sets {
		if strings.HasSuffix(s.File, ".ndjson") { // transcripts go without saying
			sets = append(sets, []string{s.File, many(s.Rows, "line"), s.Digest})
		}
	}
	p.table("   ", sets)
	p.linef("   kept and kept-again: %s", p.verdict(r.sameText, "the same, byte for byte, and their residue"))
	p.linef("   project and returned: %s", p.verdict(r.sameStore, "every cell equal"))
}

// shortIDs cuts ids to what tells them apart.
func shortIDs(s string) string {
	id := regexp.MustCompile(`([0-9a-f]{8})(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}`)
	return id.ReplaceAllString(s, "$1…")
}
