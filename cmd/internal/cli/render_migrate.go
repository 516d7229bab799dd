package cli

import (
	"cmp"
	"errors"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"rehome/cmd/internal/console"
	"rehome/cmd/internal/screen"
	"rehome/convert"
	"rehome/formats"
	"rehome/formats/loss"
	"rehome/formats/session"
	"rehome/internal/shell"
)

// Text prints a line for each session if there are few, what the model will not see,
// and how to continue. Failures come last, by their reasons.
func (r *migrateResult) Text(p *screen.Page) {
	few, all := len(r.Migrated) <= maxSessionRows, console.LossTotals{}
	var done []migrated // in this run, with --losses also before
	count := map[string]int{}
	for _, m := range r.Migrated {
		count[m.Status]++
		if few && m.Status != convert.Failed {
			r.headline(p, m)
		}
		asked := r.losses && m.Agent != r.agent // also about what an earlier run lost
		if m.Status != convert.Failed && (m.Status != convert.Same && m.Status != convert.Continued || asked) {
			done = append(done, m)
			all.AddSession(m.Migrated, len(r.Migrated) == 1)
		}
	}
	r.skipped(p)
	if len(r.Migrated) > max(1, count[convert.Failed]) {
		r.totals(p, count)
	}
	r.redacted(p, done)
	r.lost(p, done, all)
	r.heavy(p, done)
	var servers []mcpServer
	var rules []*allowed
	for _, m := range done {
		for _, s := range m.MCP {
			if !slices.Contains(servers, s) {
				servers = append(servers, s)
			}
		}
		if m.Allowed != nil && !slices.ContainsFunc(rules, func(a *allowed) bool { return reflect.DeepEqual(a, m.Allowed) }) {
			rules = append(rules, m.Allowed)
		}
	}
	printServers(p, r.client, servers)
	printRules(p, r.client, rules)
	r.howTo(p, count[convert.Checked] > 0)
	r.failures(p)
}

// redacted prints how many places were redacted in all sessions.
func (r *migrateResult) redacted(p *screen.Page, done []migrated) {
	var sums []convert.RedactedCount
	for _, m := range done {
		sums = convert.AddRedacted(sums, m.Redacted)
	}
	console.PrintRedacted(p, sums)
}

// headline prints what became of a session.
func (r *migrateResult) headline(p *screen.Page, m migrated) {
	title, client := console.OneLine(cmp.Or(m.Title, m.ID)), screen.Visible(r.client)
	lead, rest := screen.Safe("✓ "), " → "+client+"   "+r.size(m)
	switch {
	case m.Status == convert.Same && r.back:
		lead, rest = "No new turns: ", ""
	case m.Status == convert.Same && m.Agent == r.agent:
		lead, rest = "Already a session of "+client+": ", ""
	case m.Status == convert.Continued:
		lead, rest = "Already migrated, and continued since: ", ""
	case m.Status == convert.Same:
		lead, rest = "Already migrated, unchanged: ", ""
	case r.DryRun:
		lead = "Would migrate: "
	}
	if r.width > 0 {
		title = screen.Cut(title, max(minTitle, r.width-screen.Cells(lead+rest)))
	}
	if rest != "" {
		rest = " → " + p.Client(r.agent, client) + "   " + p.Faint(r.size(m))
	}
	p.Line(screen.ReplaceAll(lead, "✓", p.OK()) + p.Strong(title) + rest)
}

// minTitle is how much of a title is printed on the narrowest terminal.
const minTitle = 16

// size returns how long a session is.
func (r *migrateResult) size(m migrated) screen.Safe {
	out := screen.Plural(m.Turns, "turn") + ", " + screen.Plural(m.Messages, "message")
	if m.Subagents > 0 {
		out += ", " + screen.Plural(int64(m.Subagents), "subagent")
	}
	if m.Status == convert.Updated {
		out += " (updated)"
	}
	return out
}

func (r *migrateResult) skipped(p *screen.Page) {
	if r.Empty > 0 {
		p.Line(screen.Plural(int64(r.Empty), "empty session") + " skipped")
	}
	if r.Histories > 0 {
		p.Line(screen.Plural(int64(r.Histories), "prompt history session") + " skipped: no answers (rehome show prints the prompts)")
	}
}

// totals prints how many sessions had each outcome.
func (r *migrateResult) totals(p *screen.Page, count map[string]int) {
	var totals []screen.Safe
	for _, t := range []struct{ status, word string }{
		{convert.Placed, "migrated"}, {convert.Checked, "would be migrated"}, {convert.Updated, "updated"}, {convert.Same, "unchanged"},
		{convert.Continued, "continued since"}, {convert.Failed, "failed"},
	} {
		if n := count[t.status]; n > 0 {
			totals = append(totals, screen.Grouped(int64(n))+" "+screen.Visible(t.word))
		}
	}
	p.Line(screen.Join(totals, ", ") + p.Faint(", in "+screen.Visible(r.Dir)))
}

// lost prints in one line what the model does not see and what the client cannot do,
// or all losses, if that is asked for.
func (r *migrateResult) lost(p *screen.Page, done []migrated, all console.LossTotals) {
	if len(done) == 0 || len(all) == 0 {
		return
	}
	if r.losses {
		printLossDetails(p, all)
		for _, m := range done {
			p.Line(p.Faint("  " + screen.Visible(m.File)))
		}
		return
	}
	printLossSummary(p, all, "The model sees the whole conversation", cmp.Or(r.width, screen.PageWidth))
}

// printLossSummary prints the losses in one line by their consequences, or that none matters.
func printLossSummary(p *screen.Page, all []loss.Group, none screen.Safe, width int) {
	var parts []screen.Safe
	brief := loss.Brief(all)
	for i, g := range brief {
		if i == maxBrief && len(brief) > maxBrief+1 {
			parts = append(parts, screen.Plural(int64(len(brief)-i), "other kind")+" of loss")
			break
		}
		parts = append(parts, screen.Grouped(g.Count)+" "+screen.Visible(g.What))
	}
	line := cmp.Or(screen.Join(parts, ", "), none)
	if len(parts) > 0 && !slices.ContainsFunc(brief, func(g loss.Group) bool {
		return g.Consequence == loss.Unseen &&
			g.Code != loss.SystemPromptUnsent
	}) {
		line = "The model sees every message; " + line
	}
	for _, part := range screen.WrapWords(line+"; details: --losses", width-2) {
		p.Line("  " + part)
	}
}

// maxBrief is how many losses one line names.
const maxBrief = 4

// lossHeadings introduce the losses with a consequence.
var lossHeadings = map[loss.Consequence]screen.Safe{
	loss.Unseen:     "The model does not see:",
	loss.Changed:    "The model sees in another form:",
	loss.ClientOnly: "Missing for you, not for the model:",
	loss.None:       "Without effect on the conversation:",
}

// printLossDetails lists losses by their consequences, with the first places. Places are
// not wrapped, so that they can be copied.
func printLossDetails(p *screen.Page, all []loss.Group) {
	for _, c := range loss.Consequences() {
		heading := lossHeadings[c]
		for _, l := range all {
			if l.Consequence != c {
				continue
			}
			if heading != "" {
				p.Line("  " + heading)
				heading = ""
			}
			code := "(" + screen.Visible(string(l.Code)) + ")"
			p.Wrapped("    ", screen.Grouped(l.Count)+" "+screen.Visible(l.What)+" "+code,
				func(s screen.Safe) screen.Safe { return screen.ReplaceAll(s, code, p.Faint(code)) })
			places := slices.Compact(slices.Clone(l.Places))
			for _, at := range places[:min(len(places), maxPlaces)] {
				p.Line(p.Faint("      " + screen.Visible(at)))
			}
		}
	}
}

// maxPlaces is how many places of a loss are listed.
const maxPlaces = 3

// heavy names the sessions that are too long for the client to continue as they are.
func (r *migrateResult) heavy(p *screen.Page, done []migrated) {
	var heavy []migrated
	for _, m := range done {
		if r.tokens > 0 && m.Tokens > r.tokens {
			heavy = append(heavy, m)
		}
	}
	switch len(heavy) {
	case 0:
	case 1:
		p.Linef("  About %s tokens: %s will summarize the session first", roundTokens(heavy[0].Tokens), screen.Visible(r.client))
	default:
		p.Linef("  %s have more than %s tokens: %s will summarize them first", screen.Plural(int64(len(heavy)), "session"),
			roundTokens(r.tokens), screen.Visible(r.client))
	}
}

// roundTokens returns an estimate in thousands, as 340k, to two digits.
func roundTokens(n int64) screen.Safe {
	unit := int64(1000)
	for n >= 100*unit {
		unit *= 10
	}
	return screen.Grouped((n+unit/2)/unit*unit/1000) + "k"
}

// howTo prints how to continue, or that a dry run wrote nothing. Each of several
// sessions is continued in its folder.
func (r *migrateResult) howTo(p *screen.Page, dry bool) {
	var dirs []string
	var one *migrated
	for i, m := range r.Migrated {
		if m.Launch != nil && !slices.Contains(dirs, m.Cwd) {
			dirs, one = append(dirs, m.Cwd), &r.Migrated[i]
		}
	}
	for _, m := range r.Migrated {
		if m.Code != "" && len(r.Migrated) <= maxSessionRows {
			p.Line("  Continue:  " + p.Strong(screen.Visible(m.Code)))
		}
	}
	defer r.howToUndo(p)
	switch {
	case dry:
		p.Line(p.Faint("  Nothing was written: this was a dry run."))
	case one == nil:
	case len(r.Migrated) == 1:
		p.Line("  Continue:  " + p.Strong(screen.Visible(one.Continue)))
		if one.Status == convert.Continued {
			p.Line(p.Faint("  New copy:  " + screen.Visible(r.anew(one.ID))))
		}
	case one.Launch.Import != nil && len(r.Migrated) <= maxSessionRows: // each is imported by itself
		for _, m := range r.Migrated {
			if m.Continue != "" {
				p.Line("  Continue:  " + p.Strong(screen.Visible(m.Continue)))
			}
		}
	case one.Launch.Import != nil:
		p.Linef("  Continue:  %s, with the id of a session", p.Strong(screen.Visible(r.again("ID"))))
	case len(dirs) == 1:
		all := *one.Launch
		all.Argv = all.Argv[:len(all.Argv)-1] // the client offers all sessions of the folder
		p.Line("  Continue:  " + p.Strong(screen.Visible(all.shell())))
	default:
		p.Linef("  Continue:  %s, in the folder of a session", p.Strong(screen.Visible(strings.Join(one.Launch.Argv[:len(one.Launch.Argv)-1],
			" "))))
	}
}

// anew returns the command that migrates a session once more.
func (r *migrateResult) anew(id string) string {
	argv := []string{"rehome", "migrate", id, "--again"}
	if r.agent != session.ClaudeCode {
		argv = append(argv, "--to", r.agent)
	}
	return shell.Command(argv...)
}

// again returns the command of rehome that imports a session and starts its client.
func (r *migrateResult) again(id string) string {
	command := shell.Command("rehome", "continue", id, "--in", r.agent)
	if r.home != "" {
		command += " --home " + r.home
	}
	return command
}

// howToUndo prints how to undo each migration that has a record, which those of one store
// can share.
func (r *migrateResult) howToUndo(p *screen.Page) {
	records := map[int]bool{}
	for _, m := range r.Migrated {
		if known := records[m.Undo]; !known && m.Undo > 0 && len(records) < maxSessionRows {
			records[m.Undo] = true
			command := "rehome undo " + strconv.Itoa(m.Undo)
			if r.home != "" {
				command += " --home " + r.home
			}
			p.Line(p.Faint("  Undo:      " + screen.Visible(command)))
		}
	}
}

// maxFailures is how many sessions are listed for one reason.
const maxFailures = 5

// failures prints the sessions that failed, by their reasons.
func (r *migrateResult) failures(p *screen.Page) {
	type reason struct{ what, hint string }
	var reasons []reason
	of := map[reason][]migrated{}
	for _, m := range r.Migrated {
		if m.Status != convert.Failed {
			continue
		}
		why := reason{m.Error.Message, m.Error.Hint}
		if e, ok := errors.AsType[*formats.Error](m.Err()); ok && e.Err != nil {
			why.what = e.Err.Error() // without the place
		}
		if of[why] == nil {
			reasons = append(reasons, why)
		}
		of[why] = append(of[why], m)
	}
	for _, why := range reasons {
		list := of[why]
		p.Line(p.Bad() + " " + screen.Plural(int64(len(list)), "session") + " failed: " + p.Red(screen.Visible(why.what)))
		for i, m := range list {
			if i == maxFailures && len(list) > maxFailures+1 {
				p.Linef("    and %s more", screen.Grouped(int64(len(list)-i)))
				break
			}
			row := screen.Visible(m.ID)
			if m.Title != "" {
				row += "  " + console.OneLine(m.Title)
			}
			p.Line("    " + screen.Cut(row, cmp.Or(r.width, screen.PageWidth)-4))
		}
		if why.hint != "" {
			p.Line(p.Faint("  hint: " + screen.Visible(why.hint)))
		}
	}
}
