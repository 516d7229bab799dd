package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"strconv"
	"time"

	"rehome/cmd/rehome/internal/prose"
	"rehome/cmd/rehome/internal/screen"
	"rehome/convert"
	"rehome/formats"
	"rehome/formats/loss"
	"rehome/formats/session"
	"rehome/formats/store"
)

// Validate refuses what the grammar alone cannot.
func (c *showCmd) Validate() error {
	refuse := func(what, hint string) error { return &formats.Error{Err: errors.New(what), Hint: hint} }
	if _, err := prose.ParseTurns(c.Turns); err != nil {
		return refuse("--turns: "+err.Error(), "try 3, 2-5, 7-, or --turns=-3 for the last three")
	}
	switch {
	case c.Src == "" && !c.Last:
		return refuse("SRC is missing", "name a session, a store or a file, or pass --last; `rehome ls` lists sessions")
	case c.Src != "" && c.Last:
		return refuse("--last cannot be combined with SRC", "omit one of them")
	}
	return nil
}

// Run shows one session. Only a pipe, which cannot be asked what is in it, is
// shown whole.
func (c *showCmd) Run(h *house) error {
	form := c.Format
	if h.out.json {
		if form == "markdown" {
			return usageError{&formats.Error{Op: "show", Err: errors.New("--json and --format markdown cannot be used together"), Hint: "for show, --json means --format json"}}
		}
		form = "json"
	}
	turns, err := prose.ParseTurns(c.Turns)
	if err != nil {
		return err
	}
	what, err := h.meant(c.Src, c.Last, c.Live)
	if err != nil {
		return err
	}
	v := &viewing{house: h, cmd: c, form: form, turns: turns}
	if what.path == stdinName {
		return v.pipe()
	}
	if what.session == "" {
		folder := what.folder
		if what, err = h.lone(what.path, c.Live); err != nil {
			return err
		}
		what.folder = cmp.Or(folder, what.folder)
	}
	v.source = what.path
	return v.show(v.stored(what))
}

// lone is the session that a store holds, where it is the only one.
func (h *house) lone(path string, live bool) (chosen, error) {
	l, err := convert.List(h.ctx, h.reg, convert.ListOptions{Paths: []string{path}, Live: live, Say: h.out.say, Folders: here()})
	if err != nil {
		return chosen{}, err
	}
	switch n := len(l.Sessions); {
	case n > 1:
		var list []*convert.Listed
		for i := range l.Sessions {
			list = append(list, &l.Sessions[i])
		}
		return chosen{}, h.question(l, path, "holds "+string(screen.Many(int64(n), "session"))+": name one as "+path+"#ID", list)
	case n == 1:
		s := &l.Sessions[0]
		return chosen{path: s.Sources[0].Path, session: s.ID, folder: s.Workspace}, nil
	case len(l.Unread) > 0:
		u := l.Unread[0]
		if _, ok := errors.AsType[*formats.Error](u.Err); ok {
			return chosen{}, u.Err
		}
		return chosen{}, h.notYet(u.Format, u.Path, u.Err)
	}
	return chosen{}, &formats.Error{At: path, Err: errors.New("no session found")}
}

// view is how stores are read to be shown: nothing of a secret is.
func (v *viewing) view(note loss.Sink) formats.View {
	return formats.View{Secrets: formats.WithholdSecrets, OnOmit: func(store.SidecarItem) {}, OnLoss: note, OnNotice: v.out.say, Live: v.cmd.Live}
}

// show writes the sessions that are decoded, and says on stderr what of them
// could not be.
func (v *viewing) show(decode decoding) error {
	turns, err := v.counted(decode)
	if err != nil {
		return err
	}
	ctx, w, done := v.out.paged(v.ctx, v.form != "json" && !v.cmd.NoPager && !v.live)
	counting := &counter{w: w}
	shownAny := false
	err = func() error {
		for s, err := range decode(ctx, v.view(v.lost.Add)) {
			if err != nil {
				return err
			}
			if shownAny && v.form != "json" {
				if _, err := counting.Write([]byte("\n")); err != nil {
					return err
				}
			}
			shownAny = true
			if !v.cmd.History {
				s = prose.Live(s)
			}
			if err := v.write(counting, turns.Pick(s)); err != nil {
				return err
			}
		}
		return ctx.Err()
	}()
	if err != nil && v.ctx.Err() == nil && ctx.Err() != nil {
		err = context.Cause(ctx) // the reader has left
	}
	if err = done(err); err != nil && counting.n > 0 {
		err = shown{err} // what was read is on stdout already
	}
	if err == nil && !shownAny {
		return &formats.Error{At: v.source, Err: errors.New("no session found")}
	}
	v.losses()
	return err
}

// counted makes a range that counts from the end one that counts from the
// beginning.
func (v *viewing) counted(decode decoding) (prose.Turns, error) {
	if !v.turns.FromEnd() {
		return v.turns, nil
	}
	last := 0
	for s, err := range decode(v.ctx, v.view(func(loss.Loss) {})) {
		if err != nil {
			return v.turns, err
		}
		n, err := prose.Last(prose.Live(s))
		if err != nil {
			return v.turns, err
		}
		last = max(last, n)
	}
	return v.turns.Of(last), v.ctx.Err()
}

func (v *viewing) write(w *counter, s *session.Session) error {
	o := prose.Options{
		Tools: prose.Detail(v.cmd.Tools), Thinking: v.cmd.Thinking, Source: v.source, Live: v.live, Part: !v.turns.All(),
		Palette: v.out.paint, Width: v.width(),
	}
	switch v.form {
	case "json":
		return writeLines(w, s, v.live)
	case "markdown":
		return prose.Markdown(w, s, o) // for others to read: times are UTC
	}
	o.Zone = zone(v.out.getenv)
	return prose.Text(w, s, o)
}

// width is that of the terminal, else what COLUMNS says.
func (v *viewing) width() int {
	if !isTerminal(v.out.stdout) {
		if n, err := strconv.Atoi(v.out.getenv("COLUMNS")); err == nil && n >= 20 && n <= 10_000 {
			return n
		}
	}
	return columns(v.out.stdout)
}

// zone is that of the person who reads.
func zone(getenv func(string) string) *time.Location {
	if name := getenv("TZ"); name != "" {
		if l, err := time.LoadLocation(name); err == nil {
			return l
		}
	}
	return time.Local
}

// mostLosses is how many reasons are worth a line each.
const mostLosses = 2

// losses says what of a session was not there to be shown, the gravest first.
func (v *viewing) losses() {
	var list []loss.Group
	for kind := loss.Unreadable; kind >= loss.Missing; kind-- {
		for _, l := range v.lost.Groups() {
			if l.Kind == kind {
				list = append(list, l)
			}
		}
	}
	for i, l := range list {
		if i == mostLosses-1 && len(list) > mostLosses && !v.out.verbose {
			v.out.say(fmt.Sprintf("and %d other kinds of loss; -v lists them", len(list)-i))
			return
		}
		v.out.say(fmt.Sprintf("%s: %s %s (%s)", l.Kind, screen.Grouped(l.Count), l.What, l.Code))
	}
}

// counter knows whether anything was written.
type counter struct {
	w interface{ Write([]byte) (int, error) }
	n int64
}

func (c *counter) Write(b []byte) (int, error) {
	n, err := c.w.Write(b)
	c.n += int64(n)
	return n, err
}
