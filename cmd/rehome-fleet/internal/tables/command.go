package tables

import (
	"rehome/cmd/internal/cli"
	"rehome/cmd/internal/console"
	"rehome/cmd/internal/screen"
	"rehome/convert"
)

// Command is the command parquet.
type Command struct {
	Src string `arg:"" help:"Store, or folder of stores. Never modified."`
	Dir string `arg:"" help:"Folder to create for the tables, or to --replace"`

	Machine string `group:"What to include:" placeholder:"NAME" help:"Write this name to the column machine"`
	Unit    string `group:"What to include:" placeholder:"ID" help:"Write this id to the column unit_id"`
	NoText  bool   `group:"What to include:" help:"Omit prompts, answers, arguments, results, titles and paths"`
	console.RedactFlags

	Replace bool `group:"Output:" help:"Replace DIR, keeping the old one as DIR.bak-1 (-2, ...)"`
	console.ReadFlags
}

// Help is the text that follows the summary of the command.
func (Command) Help() string {
	return `Writes the sessions of any client as Parquet tables: sessions, turns, messages, tool_calls, tool_results and losses.
Every row names its session, machine and client. The same sessions give the same files.

The tables cannot be converted back. They lack the content of images and files, snapshots, and what rehome carries
without understanding it. Sessions are read without keys and tokens of the client; --redact also finds those in text.
With --no-text the tables have ids, counts, times, and names of models and tools that rehome knows, but nothing that
somebody wrote: other names become "other", tools of MCP servers "mcp", and ids that somebody chose a number.

Examples:

    # all Claude Code sessions of this machine
    rehome-fleet parquet ~/.claude/projects tables

    # how many turns each model took
    duckdb -c "SELECT model, count(*) FROM 'tables/turns.parquet' GROUP BY 1"

    # numbers only, for a dashboard
    rehome-fleet parquet ~/.cursor/chats numbers --no-text --machine laptop-17`
}

// Run writes the tables.
func (c *Command) Run(call *cli.Call) error {
	rep, err := Write(call.Context, call.Registry, c.Src, c.Dir, Meta{Machine: c.Machine, Unit: c.Unit}, Options{
		NoText: c.NoText, Redact: c.Redaction(), Replace: c.Replace, Live: c.Live, Jobs: c.Jobs,
		OnProgress: call.Progress(), OnNotice: call.Remark,
	})
	call.EndProgress()
	if err != nil {
		return err
	}
	if rep.Complete() {
		return call.Print(rep)
	}
	return call.PrintFindings(rep, rep.missing())
}

// missing says how much is not in the tables.
func (r *Report) missing() string {
	stores, sessions := int64(0), int64(0)
	for _, s := range r.Stores {
		if sessions += int64(len(s.Failed)); s.Error != nil && len(s.Failed) == 0 {
			stores++
		}
	}
	return Unread(stores, sessions)
}

// Unread says how many stores, and sessions of other stores, could not be read; "" is none.
func Unread(stores, sessions int64) string {
	what := screen.Plural(stores, "store")
	switch {
	case stores == 0 && sessions == 0:
		return ""
	case stores == 0:
		what = screen.Plural(sessions, "session")
	case sessions > 0:
		what += " and " + screen.Plural(sessions, "session") + " of others"
	}
	return string(what) + " could not be read"
}

// Text prints the report.
func (r *Report) Text(p *cli.Page) {
	p.Linef("%s -> %s", p.Strong(screen.Visible(r.Source)), p.Strong(screen.Visible(r.Target)))
	rows := [][]screen.Safe{}
	for _, t := range r.Tables {
		rows = append(rows, []screen.Safe{screen.Visible(t.Table), screen.Plural(t.Rows, "row"), screen.Size(t.Bytes)})
	}
	p.Table("  ", rows)
	for _, s := range r.Stores {
		s.print(p)
	}
	for _, c := range r.Redacted {
		p.Linef("  redacted: %s, %s", screen.Visible(c.Rule), screen.Plural(c.Places, "place"))
	}
	if r.NoText {
		p.Line("  without text: no prompts, answers, arguments, results, titles or paths")
	}
	if r.Backup != "" {
		p.Linef("  old tables kept as %s", screen.Visible(r.Backup))
	}
}

// print prints what of a store could not be read.
func (s *StoreReport) print(p *cli.Page) {
	failure := func(at string, e *convert.ErrorReport) {
		if e == nil {
			return
		}
		p.Linef("  %s: %s", screen.Visible(at), screen.Visible(e.Message))
		if e.Hint != "" {
			p.Linef("    hint: %s", screen.Visible(e.Hint))
		}
	}
	if len(s.Failed) == 0 {
		failure(s.Path, s.Error)
	}
	for _, one := range s.Failed {
		failure(s.Path+"#"+one.ID, one.Error)
	}
}
