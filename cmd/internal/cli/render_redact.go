package cli

import (
	"path"
	"slices"

	"rehome/cmd/internal/console"
	"rehome/cmd/internal/screen"
	"rehome/convert"
	"rehome/formats/loss"
)

// redactResult is what was redacted: schema redact-result-1. It never has a value.
type redactResult struct {
	Source  string          `json:"source"`
	Target  string          `json:"target"`
	Placed  bool            `json:"placed"`
	DryRun  bool            `json:"dry_run"`
	Backup  string          `json:"backup,omitempty"`
	Stores  []redactedStore `json:"redacted"`
	keyed   bool            // placeholders are the same in every store
	verbose bool            // list every store
}

type redactedStore struct {
	Path   string                  `json:"path"`
	From   string                  `json:"from"`
	To     string                  `json:"to"`
	Status string                  `json:"status"`
	Rows   int64                   `json:"rows"`
	Bytes  int64                   `json:"bytes"`
	Found  []convert.RedactedCount `json:"found"`
	Losses []loss.Group            `json:"losses"`
	Error  *convert.ErrorReport    `json:"error,omitempty"`
}

func newRedactResult(r *convert.Report, keyed, verbose bool) *redactResult {
	out := &redactResult{Source: r.Source, Target: r.Target, Placed: r.Placed, DryRun: r.DryRun, Backup: r.Backup, keyed: keyed,
		verbose: verbose, Stores: []redactedStore{}}
	for _, s := range r.Stores {
		out.Stores = append(out.Stores, redactedStore{s.Place(), s.From, s.To, s.Status, s.Rows, s.Bytes,
			append([]convert.RedactedCount{}, s.Redacted...), s.Losses, s.Error})
	}
	return out
}

func (r *redactResult) Text(p *screen.Page) {
	p.Linef("%s -> %s", p.Strong(screen.Visible(r.Source)), p.Strong(screen.Visible(r.Target)))
	if len(r.Stores) > 1 && !r.verbose {
		r.summary(p)
	} else {
		for i := range r.Stores {
			r.Stores[i].print(p)
		}
	}
	if !r.keyed && severalCounted(r.Stores) {
		p.Line("  each store counts its own values: the same placeholder in two stores can")
		p.Line("  stand for different ones; with --key it stands for the same")
	}
	if r.Backup != "" {
		p.Linef("  old target kept as %s", screen.Visible(r.Backup))
	}
	if r.DryRun {
		p.Line("  nothing was written: this was a dry run")
	}
}

// print prints one store.
func (s *redactedStore) print(p *screen.Page) {
	format := screen.Visible(s.From)
	if s.To != s.From && s.To != "" {
		format = screen.Sprintf("%s -> %s", format, screen.Visible(s.To))
	}
	if s.Path != "." {
		format = screen.Sprintf("%s: %s", screen.Visible(s.Path), format)
	}
	p.Linef("  %s, %s, %s, %s", format, console.PaintStatus(p, s.Status), screen.Plural(s.Rows, "record"), screen.Size(s.Bytes))
	s.found(p)
	console.PrintFailure(p, "    ", s.Error)
}

// found prints what was redacted and lost.
func (s *redactedStore) found(p *screen.Page) {
	for _, c := range s.Found {
		p.Linef("    %s: %s in %s", screen.Visible(c.Rule), screen.Plural(c.Values, "value"), screen.Plural(c.Places, "place"))
		if len(c.Records) > 0 {
			p.Linef("      first at %s", screen.Visible(c.Records[0]))
		}
	}
	if len(s.Found) == 0 && s.Error == nil {
		p.Line("    nothing to redact")
	}
	console.PrintLosses(p, "    ", s.Losses)
}

// summary prints what all stores have in common, and those that failed.
func (r *redactResult) summary(p *screen.Page) {
	var all redactedStore
	var order []string
	count := map[string]int64{}
	for i := range r.Stores {
		s := &r.Stores[i]
		if count[s.Status]++; count[s.Status] == 1 {
			order = append(order, s.Status)
		}
		all.Rows, all.Bytes, all.Losses = all.Rows+s.Rows, all.Bytes+s.Bytes, loss.Merge(all.Losses, s.Losses)
		for _, c := range s.Found {
			n := slices.IndexFunc(all.Found, func(o convert.RedactedCount) bool { return o.Rule == c.Rule })
			if n < 0 {
				first := convert.RedactedCount{Rule: c.Rule}
				if len(c.Records) > 0 {
					first.Records = []string{path.Join(s.Path, c.Records[0])}
				}
				n, all.Found = len(all.Found), append(all.Found, first)
			}
			all.Found[n].Values += c.Values
			all.Found[n].Places += c.Places
		}
	}
	line := "  " + screen.Plural(int64(len(r.Stores)), "store")
	for _, status := range order {
		line += screen.Sprintf(", %s %s", screen.Grouped(count[status]), console.PaintStatus(p, status))
	}
	p.Linef("%s; %s, %s", line, screen.Plural(all.Rows, "record"), screen.Size(all.Bytes))
	all.found(p)
	for i := range r.Stores {
		if s := &r.Stores[i]; s.Error != nil {
			p.Linef("  %s: %s", screen.Visible(s.Path), console.PaintStatus(p, s.Status))
			console.PrintFailure(p, "    ", s.Error)
		}
	}
	p.Line(p.Faint("  -v lists what was redacted in each store"))
}

// severalCounted reports whether values were found in more than one store.
func severalCounted(all []redactedStore) bool {
	n := 0
	for i := range all {
		if len(all[i].Found) > 0 {
			n++
		}
	}
	return n > 1
}
