package cli

import (
	"cmp"
	"path/filepath"
	"slices"
	"strconv"

	"rehome/cmd/internal/console"
	"rehome/cmd/internal/screen"
	"rehome/convert/mv"
)

// Text prints each session with its new path, then what stays, then what to do next.
func (r *mvResult) Text(p *screen.Page) {
	p.Line(p.Strong(screen.Visible(r.Old)) + " → " + p.Strong(screen.Visible(r.New)))
	if r.Missing && !r.Remove {
		p.Wrapped("  ", "this folder does not exist yet: move the project there, so that its sessions can be continued", screen.Plain)
	}
	if r.Stays && !r.Remove {
		p.Wrapped("  ", "the old folder still exists; sessions that you start there stay there", screen.Plain)
	}
	if r.Remove && len(r.Sessions)+len(r.Left) == 0 {
		p.Line("  the originals were removed already")
	}
	for i := range r.Sessions {
		r.session(p, &r.Sessions[i])
	}
	for _, l := range r.Left {
		what := screen.Safe(": not moved: ")
		if r.Remove {
			what = ": not removed: "
		}
		p.Line("  - " + screen.Visible(r.clients[l.Client]) + ": " + screen.Visible(l.Path) + what + screen.Visible(l.Why))
		if l.Hint != "" {
			p.Line(p.Faint("    hint: " + screen.Visible(l.Hint)))
		}
	}
	r.next(p)
}

func (r *mvResult) session(p *screen.Page, s *mv.Session) {
	mark, what := p.OK(), console.OneLine(cmp.Or(s.Title, s.ID, filepath.Base(s.From)))
	verb := map[string]screen.Safe{mv.Planned: "to copy", mv.Moved: "copied", mv.Same: "already there", mv.Removed: "removed",
		mv.Failed: "not copied"}[s.Status]
	at := s.To
	if r.Remove {
		at = s.From
		verb = screen.ReplaceAll(verb, "copy", "remove")
		verb = screen.ReplaceAll(verb, "copied", "removed")
	}
	if s.From == s.To || s.InPlace {
		verb = map[string]screen.Safe{mv.Planned: "to change", mv.Moved: "changed", mv.Same: "already there", mv.Failed: "not changed"}[s.Status]
	}
	if s.Status == mv.Failed {
		mark = p.Bad()
	}
	if s.InPlace && s.Status == mv.Planned {
		verb += " in place"
		if s.Bytes > 0 {
			verb += " (" + screen.Size(s.Bytes) + ")"
		}
	}
	if s.Untested && s.Status != mv.Failed {
		verb += ", not verified"
	}
	p.Line("  " + mark + " " + p.Client(s.Client, screen.Visible(r.clients[s.Client])) + "  " + p.Strong(what) + "  " + verb)
	if s.Error == nil {
		p.Line(p.Faint("      " + screen.Visible(at)))
		return
	}
	p.Line("      " + p.Red(screen.Visible(s.Error.Message)))
	if s.Error.Hint != "" {
		p.Line(p.Faint("      hint: " + screen.Visible(s.Error.Hint)))
	}
}

// next prints what can be done next.
func (r *mvResult) next(p *screen.Page) {
	for _, n := range r.Undo {
		p.Line(p.Faint("  Undo:  rehome undo " + screen.Visible(strconv.Itoa(n))))
		if !r.Remove {
			break // it undoes all of the move
		}
	}
	if slices.ContainsFunc(r.Sessions, func(s mv.Session) bool { return s.Untested && s.Status != mv.Failed }) {
		p.Wrapped("  ", "not verified: no release of this client was seen to list what was changed; look there, and undo it if something is missing", screen.Plain)
	}
	switch {
	case r.DryRun && len(r.Sessions) > 0:
		p.Line(p.Faint("  Nothing was written: this was a dry run."))
	case !r.Remove && slices.ContainsFunc(r.Sessions, func(s mv.Session) bool {
		return s.From != s.To && !s.InPlace &&
			s.Status != mv.Failed
	}):
		p.Wrapped("  ", "the originals stay; when all works, remove them with --remove-old", screen.Plain)
	}
}
