package cli

import (
	"strings"

	"rehome/cmd/internal/screen"
)

func (r *demoResult) text(p *page) {
	p.step("1. A chat of the Cursor CLI", "show chat/store.db")
	p.outputLines(fromFirstPrompt(r.chat))
	p.Line("")
	p.step("2. Continue it in Claude Code", "migrate chat/store.db --cwd my-app --claude-dir claude")
	p.Linef("   %s %s, %s; %s, all reported", p.Green("✓"), plural(r.turns, "turn"), plural(r.messages, "message"), plural(r.losses, "change"))
	p.Line("   " + p.Strong(visible(r.Continue)))
	p.Line("")
	p.step("3. Keep it in git: exact text, readable diffs", "convert chat/store.db text --to archive", "convert text restored/store.db")
	p.checkmark(r.Equal, "the restored store gives the same text, byte for byte", "the restored store gives different text")
	p.Line(p.Cyan("   $ rehome show chat/store.db > session.txt") + p.Faint("   # one turn later, git diff shows:"))
	p.outputLines(r.diff)
	p.Line("")
	p.step("4. Catch a broken commit")
	p.Line(p.Cyan("   $ rm text/blobs.ndjson"))
	p.Line(p.Cyan("   $ rehome check text"))
	p.outputLines(r.report)
	p.checkmark(r.Caught, "caught, with exit status 4", "not caught")
	p.Line("")
	p.Linef("Everything is in %s. To see your own sessions: %s", visible(r.Folder), p.Strong("rehome ls"))
}

// step prints a heading, followed by commands.
func (p *page) step(title screen.Safe, commands ...screen.Safe) {
	p.Line(p.Strong(title))
	for _, c := range commands {
		p.Line(p.Cyan("   $ rehome " + c))
	}
}

// checkmark prints whether an expectation was met.
func (p *page) checkmark(ok bool, good, bad screen.Safe) {
	if ok {
		p.Line("   " + p.Green("✓ "+good))
		return
	}
	p.Line("   " + p.Red("✗ "+bad))
}

// outputLines prints the output of a command without its empty lines.
func (p *page) outputLines(lines []string) {
	for _, l := range lines {
		if strings.Trim(l, "+- ") == "" {
			continue
		}
		paint := screen.Plain
		switch word := strings.TrimSpace(l); {
		case strings.HasPrefix(word, ">"), strings.HasPrefix(word, "+"):
			paint = p.Green
		case strings.HasPrefix(word, "-"), strings.HasPrefix(word, "error "):
			paint = p.Red
		case strings.HasPrefix(word, "@@"):
			paint = p.Faint
		}
		p.Line("   " + paint(visible(l)))
	}
}

// fromFirstPrompt returns the lines of a printed session from its first prompt on.
func fromFirstPrompt(lines []string) []string {
	for i, l := range lines {
		if strings.HasPrefix(l, ">") {
			return lines[i:]
		}
	}
	return lines
}
