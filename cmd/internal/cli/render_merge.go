package cli

import (
	"fmt"
	"strings"

	"rehome/cmd/internal/console"
	"rehome/cmd/internal/screen"
	"rehome/convert/merge"
)

func (r mergeResult) Text(p *screen.Page) {
	p.Line(screen.Visible(strings.Join(r.Sources, " + ")) + " -> " + screen.Visible(r.Target))
	count := map[string]int64{}
	for _, s := range r.Sessions {
		count[s.Outcome]++
	}
	total := screen.Plural(int64(len(r.Sessions)), "session")
	if len(r.Sessions) == 0 {
		total = "files"
	}
	var parts []screen.Safe
	for _, part := range []struct{ outcome, text string }{
		{merge.Copied, "from one source"}, {merge.Same, "the same in several"}, {merge.Continued, "continued in one"},
		{merge.Kept, "continued differently"}, {merge.Forked, "new as forks"},
	} {
		if n := count[part.outcome]; n > 0 {
			parts = append(parts, screen.Visible(fmt.Sprintf("%d %s", n, part.text)))
		}
	}
	verb := screen.Safe("merged")
	if r.DryRun {
		verb = "would be merged"
	}
	line := p.OK() + " " + total + " " + verb
	for i, part := range parts {
		line += map[bool]screen.Safe{true: ": ", false: ", "}[i == 0] + part
	}
	if f := r.finishedMerge; f != nil && len(r.Sessions)+len(f.Staged) == 0 && !r.DryRun {
		line = p.Bad() + " nothing merged"
	}
	p.Wrapped("  ", line, screen.Plain)
	for _, s := range r.Sessions {
		if s.Outcome != merge.Forked {
			continue
		}
		p.Line("    fork " + screen.Visible(s.ID) + "  " + console.OneLine(s.Title))
		p.Line(p.Faint("      of " + screen.Visible(s.Of)))
	}
	r.remarks(p)
	r.finished(p)
	if r.Backup != "" {
		p.Line("  old target kept as " + screen.Visible(r.Backup))
	}
	if r.DryRun {
		p.Line("  dry run: nothing was written")
	}
}

// finished prints what --finish adds. Why stores still have conflicts is printed as errors.
func (r mergeResult) finished(p *screen.Page) {
	f := r.finishedMerge
	if f == nil {
		return
	}
	if len(f.Staged) > 0 {
		p.Line("  staged with git add:")
	}
	for _, name := range f.Staged {
		p.Line("    " + screen.Visible(name))
	}
	for _, one := range f.Unresolved {
		switch {
		case one.skipped:
			p.Line("  still has a conflict: " + screen.Visible(one.Path))
		case one.Path != "":
			p.Line("  not a store, resolve it yourself: " + screen.Visible(one.Path))
		}
	}
	next := screen.Safe("  next: ")
	if len(f.Unresolved) > 0 {
		next = "  when no conflict is left: "
	}
	if !r.DryRun {
		p.Line(next + screen.Visible(f.Next))
	}
}

// remarks prints each remark once, with the first of the sessions that it is about.
func (r mergeResult) remarks(p *screen.Page) {
	also := map[string]int64{} // by the text after the session
	var order []string
	for _, remark := range r.Remarks {
		_, text, _ := strings.Cut(remark, ": ")
		if text == "" || r.verbose {
			text = remark
		}
		if also[text]++; also[text] == 1 {
			order = append(order, remark)
		}
	}
	for _, remark := range order {
		of, text, _ := strings.Cut(remark, ": ")
		if n := also[text]; n > 1 {
			remark = fmt.Sprintf("%s and %d more: %s", of, n-1, text)
		}
		p.Wrapped("  ", screen.Visible(remark), screen.Plain)
	}
}
