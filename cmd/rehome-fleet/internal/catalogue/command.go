package catalogue

import (
	"rehome/cmd/internal/cli"
	"rehome/cmd/internal/screen"
	"rehome/cmd/rehome-fleet/internal/tables"
)

// Command is the command catalogue.
type Command struct {
	Src string `arg:"" help:"Store, or folder of stores. Never modified."`
	To  string `arg:"" help:"postgres:// address; ?schema=NAME is the schema (default: rehome)"`

	Machine string `group:"What to include:" placeholder:"NAME" help:"Name of the machine in the catalogue"`
	Unit    string `group:"What to include:" placeholder:"ID" help:"Write this id to the column unit_id"`
	Base    string `group:"What to include:" placeholder:"PATH" help:"Path of SRC in the catalogue (default: its absolute path)"`
	cli.RedactFlags
	cli.ReadFlags
}

// Help is the text that follows the summary of the command.
func (Command) Help() string {
	return `Loads a row for each session into PostgreSQL, with what was lost and what check finds: the tables stores, sessions,
losses and findings of one schema, which is created if it does not exist. There are no prompts, answers or results in it,
but titles and paths.

Each store is loaded in one transaction, which replaces what was loaded of it before. A store is known by its machine
and path, so load it under the same ones: --machine and --base. Loading the same sessions again changes nothing. Stores
that are gone stay in the catalogue.

Keep the password out of the address: PGPASSWORD, ~/.pgpass and PGSERVICEFILE work as in psql.

Examples:

    # all sessions of this machine's Claude Code
    rehome-fleet catalogue ~/.claude/projects postgres://db.example/team --machine laptop-17

    # tokens by machine and model
    psql -c 'SELECT machine, model, sum(output_tokens) FROM rehome.sessions GROUP BY 1, 2' postgres://db.example/team`
}

// Run loads the stores.
func (c *Command) Run(call *cli.Call) error {
	rep, err := Load(call.Context, call.Registry, c.Src, c.To, tables.Meta{Machine: c.Machine, Unit: c.Unit}, Options{
		Base: c.Base, Redact: tables.Redaction(c.RedactFlags), Live: c.Live, Jobs: c.Jobs, OnProgress: call.Progress(), OnNotice: call.Remark,
	})
	call.EndProgress()
	if err != nil {
		return err
	}
	if failed := rep.count(Failed); failed > 0 {
		return call.PrintFindings(rep, string(screen.Plural(failed, "store"))+" could not be read")
	}
	return call.Print(rep)
}

func (r *Report) count(status string) (n int64) {
	for _, s := range r.Stores {
		if s.Status == status {
			n++
		}
	}
	return n
}

// Text prints the report.
func (r *Report) Text(p *cli.Page) {
	p.Linef("%s -> %s", p.Strong(screen.Visible(r.Source)), p.Strong(screen.Visible(r.Target)))
	sessions := int64(0)
	for _, s := range r.Stores {
		sessions += int64(s.Sessions)
		if s.Error == nil {
			continue
		}
		p.Linef("  %s: %s", screen.Visible(s.Path), screen.Visible(s.Error.Message))
		if s.Error.Hint != "" {
			p.Linef("    hint: %s", screen.Visible(s.Error.Hint))
		}
	}
	p.Linef("  %s: %s loaded, %s unchanged", screen.Plural(sessions, "session"), screen.Plural(r.count(Loaded), "store"), screen.Grouped(r.count(Unchanged)))
}
