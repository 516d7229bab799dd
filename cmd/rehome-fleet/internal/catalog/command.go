package catalog

import (
	"errors"
	"os"
	"strings"

	"rehome/cmd/internal/cli"
	"rehome/cmd/internal/console"
	"rehome/cmd/internal/screen"
	"rehome/cmd/rehome-fleet/internal/tables"
	"rehome/convert"
)

// Command is the command catalog.
type Command struct {
	Src string `arg:"" help:"Store, or folder of stores. Never modified."`
	To  string `arg:"" help:"postgres:// address; ?schema=NAME is the schema (default: rehome). Or a file to create"`

	Machine string `group:"What to include:" placeholder:"NAME" help:"Name of the machine in the catalog (default: its host name)"`
	Unit    string `group:"What to include:" placeholder:"ID" help:"Write this id to the column unit_id"`
	Base    string `group:"What to include:" placeholder:"PATH" help:"Path of SRC in the catalog (default: its absolute path)"`
	console.RedactFlags
	console.ReadFlags
}

// Help is the text that follows the summary of the command.
func (Command) Help() string {
	return `Loads a row for each session into PostgreSQL, with what was lost and what check finds: the tables stores, sessions,
losses and findings of one schema, which is created if it does not exist. There are no prompts, answers or results in it,
but titles and paths.

Each store is loaded in one transaction, which replaces what was loaded of it before. A store is known by its machine
and path, so load it under the same ones: --machine and --base. Loading the same sessions again changes nothing. Stores
that are gone stay in the catalog.

If TO is a file, it gets the same rows as lines of JSON, without machine and unit. The verb catalog of
rehome-fleet plan makes such files, and rehome-fleet load loads them.

Keep the password out of the address: PGPASSWORD, ~/.pgpass and PGSERVICEFILE work as in psql.

Examples:

    # all sessions of this machine's Claude Code
    rehome-fleet catalog ~/.claude/projects postgres://db/team --machine a17

    # tokens by machine and model
    psql postgres://db/team -c "SELECT machine, model, sum(output_tokens)
        FROM rehome.sessions GROUP BY 1, 2"`
}

// Run loads the stores, or writes their rows to a file.
func (c *Command) Run(call *cli.Call) error {
	o := Options{Base: c.Base, Redact: c.Redaction(), Live: c.Live, Jobs: c.Jobs, OnProgress: call.Progress(), OnNotice: call.Remark}
	var rep *Report
	var err error
	if strings.Contains(c.To, "://") {
		if c.Machine == "" { // two machines without a name would replace each other's stores
			if c.Machine, _ = os.Hostname(); c.Machine == "" {
				return convert.Misuse{Err: errors.New("this machine has no name: pass --machine")}
			}
		}
		rep, err = Load(call.Context, call.Registry, c.Src, c.To, tables.Meta{Machine: c.Machine, Unit: c.Unit}, o)
	} else {
		if c.Machine+c.Unit+c.Base != "" {
			return convert.Misuse{Err: errors.New("--machine, --unit and --base have no effect on a file")}
		}
		rep, err = WriteFile(call.Context, call.Registry, c.Src, c.To, o)
	}
	call.EndProgress()
	if err != nil {
		return err
	}
	if missing := rep.missing(); missing != "" {
		return call.PrintFindings(rep, missing)
	}
	return call.Print(rep)
}

// missing says what could not be read; "" is nothing.
func (r *Report) missing() string {
	stores, sessions := r.count(Failed), int64(0)
	for _, s := range r.Stores {
		if s.Status != Failed {
			sessions += int64(s.Failed)
		}
	}
	return tables.Unread(stores, sessions)
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
		if s.Status != Failed && s.Failed > 0 {
			p.Linef("  %s: %s could not be read", screen.Visible(s.Path), screen.Plural(int64(s.Failed), "session"))
		}
		if s.Error == nil {
			continue
		}
		p.Linef("  %s: %s", screen.Visible(s.Path), screen.Visible(s.Error.Message))
		if s.Error.Hint != "" {
			p.Linef("    hint: %s", screen.Visible(s.Error.Hint))
		}
	}
	if n := r.count(Written); n > 0 {
		p.Linef("  %s of %s written", screen.Plural(sessions, "session"), screen.Plural(n, "store"))
		return
	}
	p.Linef("  %s: %s loaded, %s unchanged", screen.Plural(sessions, "session"), screen.Plural(r.count(Loaded), "store"), screen.Grouped(r.count(Unchanged)))
}
