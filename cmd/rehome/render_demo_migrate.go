package main

// text shows the session, and the command that would go on with it.
func (r *demoMigrated) text(p *page) {
	p.line(p.strong("8. the chat goes on in another client: Claude Code's own session, its own tools"))
	p.line(p.cyan("   $ rehome migrate chat/store.db --cwd " + demoApp + " --claude-dir " + demoClaude))
	p.linef("   %s: %s, %s, %s", visible(r.title), many(r.turns, "turn"), many(r.messages, "message"), size(r.size))
	p.table("   ", r.tools)
	p.linef("   %s reshaped, worked out or left behind, which rehome migrate lists", many(r.losses, "thing"))
	p.line("")
	p.line("   " + p.strong(visible(r.Continue)))
}
