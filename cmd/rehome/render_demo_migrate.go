package main

import "rehome/cmd/rehome/internal/screen"

// text shows the session, and the command that would go on with it.
func (r *demoMigrated) text(p *page) {
	p.Line(p.Strong("8. the chat goes on in another client: Claude Code's own session, its own tools"))
	p.Line(p.Cyan("   $ rehome migrate chat/store.db --cwd " + demoApp + " --claude-dir " + demoClaude))
	p.Linef("   %s: %s, %s, %s", visible(r.title), many(r.turns, "turn"), many(r.messages, "message"), size(r.size))
	var tools [][]screen.Safe
	for _, pair := range r.tools {
		tools = append(tools, []screen.Safe{visible(pair[0]), visible(pair[1])})
	}
	p.Table("   ", tools)
	p.Linef("   %s reshaped, worked out or left behind, which rehome migrate lists", many(r.losses, "thing"))
	p.Line("")
	p.Line("   " + p.Strong(visible(r.Continue)))
}
