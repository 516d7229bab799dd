package cli

import (
	"strings"

	"rehome/cmd/internal/screen"
)

func (r *demoResult) Text(p *screen.Page) {
	printStep(p, "1. A chat of the Cursor CLI", "show chat/store.db")
	printOutput(p, fromFirstPrompt(r.chat))
	p.Line("")
	printStep(p, "2. Continue it in Claude Code", "migrate chat/store.db --cwd my-app --claude-dir claude")
	p.Linef("   %s %s, %s; %s, all reported", p.Green("✓"), screen.Plural(r.turns, "turn"), screen.Plural(r.messages, "message"),
		screen.Plural(r.losses, "change"))
	p.Line("   " + p.Strong(screen.Visible(r.Continue)))
	p.Line("")
	printStep(p, "3. Keep it in git: exact text, readable diffs", "convert chat/store.db text --to archive", "convert text restored/store.db")
	printCheckmark(p, r.Equal, "the restored store gives the same text, byte for byte", "the restored store gives different text")
	p.Line(p.Cyan("   $ rehome show chat/store.db > session.txt") + p.Faint("   # one turn later, git diff shows:"))
	printOutput(p, r.diff)
	p.Line("")
	printStep(p, "4. Catch a broken commit")
	p.Line(p.Cyan("   $ rm text/blobs.ndjson"))
	p.Line(p.Cyan("   $ rehome check text"))
	printOutput(p, r.report)
	printCheckmark(p, r.Caught, "caught, with exit status 4", "not caught")
	p.Line("")
	p.Linef("Everything is in %s. To see your own sessions: %s", screen.Visible(r.Folder), p.Strong("rehome ls"))
}

// printStep prints a heading, followed by commands.
func printStep(p *screen.Page, title screen.Safe, commands ...screen.Safe) {
	p.Line(p.Strong(title))
	for _, c := range commands {
		p.Line(p.Cyan("   $ rehome " + c))
	}
}

// printCheckmark prints whether an expectation was met.
func printCheckmark(p *screen.Page, ok bool, good, bad screen.Safe) {
	if ok {
		p.Line("   " + p.Green("✓ "+good))
		return
	}
	p.Line("   " + p.Red("✗ "+bad))
}

// printOutput prints the output of a command without its empty lines.
func printOutput(p *screen.Page, lines []string) {
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
		p.Line("   " + paint(screen.Visible(l)))
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
