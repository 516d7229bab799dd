package sdksession

import (
	"context"
	"io"

	"rehome/formats/internal/transcript"
	"rehome/formats/loss"
	"rehome/formats/session"
	"rehome/formats/store"
)

// transcript looks for the agent's transcript and decides what it is good for.
func (a *assembly) transcript(ctx context.Context) error {
	files := a.store.folder[transcript.Spell(a.agent.id)]
	if len(files) == 0 {
		return nil
	}
	used := -1
	for i, f := range files {
		if !f.Text && used < 0 {
			used = i
		}
	}
	for i, f := range files {
		if i != used {
			if err := a.spare(ctx, f); err != nil {
				return err
			}
		}
	}
	if used < 0 {
		return nil
	}
	r, closer, err := a.store.open(files[used])
	if err != nil {
		return err
	}
	a.closers = append(a.closers, closer)
	if a.survey, err = transcript.NewSurvey(ctx, r, files[used].Path, a.store.Note); err != nil {
		return err
	}
	a.prompts = a.store.matchPrompts(a.plan, a.turns, a.survey.Prompts())
	if a.spine == runSpine && !a.events() && a.survey.Lines > 0 {
		a.spine = transcriptSpine
		a.tally.Add(a.survey.Account)
		a.head.Extras = append(a.head.Extras, a.survey.Extras...)
		return nil
	}
	a.copies.files = append(a.copies.files, files[used])
	a.tally.Add(session.Account{Read: a.survey.Lines, Converted: a.survey.Lines - a.survey.Broken, Unreadable: a.survey.Broken})
	return nil
}

// spare counts the lines of a transcript that is to say nothing that another source
// does not say better; in the old form it is carried where there is no other.
func (a *assembly) spare(ctx context.Context, f transcript.File) error {
	r, closer, err := a.store.open(f)
	if err != nil {
		return err
	}
	a.closers = append(a.closers, closer)
	n, err := transcript.Count(ctx, r)
	if err != nil {
		return err
	}
	if f.Text && a.old == nil && a.spine == runSpine && !a.events() {
		a.old = &oldText{io.NewSectionReader(r, 0, r.Size()), f}
		a.tally.Add(session.Account{Read: n, CarriedRaw: n})
		return nil
	}
	if !f.Text {
		a.copies.files = append(a.copies.files, f)
	}
	a.tally.Add(session.Account{Read: n, Converted: n})
	return nil
}

// oldText is a transcript in the old form: text that people read.
type oldText struct {
	r *io.SectionReader
	f transcript.File
}

// events reports whether any run has any.
func (a *assembly) events() bool {
	for _, r := range a.agent.runs {
		if len(r.events) > 0 {
			return true
		}
	}
	return false
}

// complete fills in what follows from the sources together, and what is missing.
func (a *assembly) complete() {
	h := &a.head
	if a.graph != nil {
		a.graph.Fill(h)
	}
	if h.Graph != nil {
		h.Graph.Partial = true // events can tell more
	}
	for _, r := range a.agent.runs {
		if r.model != "" {
			h.Model = r.model
		}
	}
	if a.doc != nil && a.doc.Mode != "" {
		if h.Mode == "" {
			h.Mode = a.doc.Mode
		} else if h.Mode != a.doc.Mode {
			h.Extras = append(h.Extras, extra("sdkMetadata.initialMode", a.doc.Mode))
		}
	}
	a.branches()
	names := a.store.Names
	state, strangers := a.spine == graphSpine && (a.plan.aside || len(a.plan.before[0]) == 0), false
	began, said, refers, silent := false, a.events(), a.doc != nil && a.doc.Root != "", false
	a.plan.each(func(r *run, turn int) {
		if r == nil {
			began = true
			return
		}
		began, refers = true, refers || r.hasLatest
		_, found := a.prompts[r]
		silent = silent || turn < 0 && !found && !a.plan.known[r]
		strangers = strangers || !r.known
	})
	if a.doc == nil {
		a.missing(names.Catalog)
	}
	alone := a.doc == nil && len(a.agent.runs) == 0 && names.One
	if !alone && (state && len(a.turns) > 0 && len(a.agent.runs) == 0 || strangers) {
		a.missing(names.Runs)
	}
	if !alone && !said && (began || a.survey != nil && a.survey.Lines > 0) {
		a.missing(names.Events)
	}
	if !state && (refers || began || said || a.checkpoints != nil && a.checkpoints.Count > 0 || a.survey != nil || a.old != nil) {
		a.missing(names.State)
	}
	if silent && a.survey == nil {
		a.missing("transcript")
	}
}

// branches lists the runs that are told beside the conversation.
func (a *assembly) branches() {
	if !a.plan.aside {
		return
	}
	for i, runs := range a.plan.before {
		for _, r := range runs {
			a.head.Branches = append(a.head.Branches, session.Branch{Name: r.name(), From: a.graph.Before(i)})
		}
	}
}

// missing tells of a source that is not there. One that holds several kinds of
// documents is told of once.
func (a *assembly) missing(name string) {
	for _, m := range a.head.Missing {
		if m == name {
			return
		}
	}
	a.head.Missing = append(a.head.Missing, name)
	at := store.Addr{File: name, Key: store.TextCell([]byte(a.agent.id))}
	a.store.Note(loss.Loss{Code: loss.SourceMissing, At: at, Args: []string{name}})
}
