package main

import (
	"bytes"
	"context"
	"errors"
	"io"
	"os"
	"strconv"
	"strings"

	"rehome/cmd/rehome/internal/picker"
	"rehome/cmd/rehome/internal/prose"
	"rehome/cmd/rehome/internal/screen"
	"rehome/convert/sessions"
	"rehome/formats"
)

// choice says which sessions a.choose offers.
type choice struct {
	project, client, since string // as for ls
	live                   bool
	wanted                 func(*sessions.Listed) bool // nil = all
	header                 []screen.Safe               // lines above the list
}

// choose lets the user choose one of the sessions on this machine, on the whole
// terminal. Sessions of the working directory come first.
func (a *app) choose(c choice) (source, error) {
	paint, tty := a.out.palette, a.out.stdout
	if !isTerminal(tty) { // $(rehome continue --print)
		paint, tty = a.out.errPalette, a.out.stderr
	}
	if !isTerminal(os.Stdin) || !isTerminal(tty) || a.out.getenv("TERM") == "dumb" {
		return source{}, usageError{&formats.Error{Err: errors.New("SESSION is missing"), Hint: "name a session (`rehome ls` lists them), or pass --last for the newest one of this directory"}}
	}
	ch := &chooser{app: a, paint: paint}
	row, err := picker.Pick(a.ctx, picker.Options{
		Header: c.header, Noun: "session", Action: "continue", Palette: paint, In: os.Stdin, Out: tty,
		Load: func(ctx context.Context) (*picker.List, error) { return ch.load(ctx, c) },
	})
	switch {
	case errors.Is(err, picker.ErrCanceled):
		return source{}, silent{exitCode(err)}
	case err != nil:
		return source{}, err
	case row < 0:
		return source{}, &formats.Error{Err: errors.New("no sessions to choose from"), Hint: "run `rehome ls` to list all sessions, and the places where they are looked for"}
	}
	return a.pick(ch.listing, ch.rows[row].ID, ch.rows[row:row+1])
}

// chooser is one invocation of choose.
type chooser struct {
	*app
	paint   screen.Palette
	listing *sessions.Listing
	rows    []*sessions.Listed
}

// load lists the sessions.
func (ch *chooser) load(ctx context.Context, c choice) (*picker.List, error) {
	quiet := *ch.app
	quiet.ctx = ctx
	listing, err := (&lsCmd{Project: c.project, Live: c.live}).list(&quiet)
	if err != nil {
		return nil, err
	}
	filter := sessions.Filter{Project: c.project, Agent: c.client}
	if since, err := parseTime(c.since, ch.now()); err != nil {
		return nil, err
	} else if !since.IsZero() {
		filter.Since = since.UnixMilli()
	}
	found, _ := listing.Select(filter)
	ch.listing = listing
	var here, elsewhere []*sessions.Listed
	wd := sessions.NewProject(".")
	for i := range found {
		switch s := &found[i]; {
		case c.wanted != nil && !c.wanted(s):
		case wd.Contains(s.Workspace):
			here = append(here, s)
		default:
			elsewhere = append(elsewhere, s)
		}
	}
	ch.rows = append(here, elsewhere...)
	list := &picker.List{Line: ch.line, Preview: ch.preview}
	for _, s := range ch.rows {
		list.Search = append(list.Search, strings.Join([]string{s.Title, s.Agent, s.Workspace, s.ID}, " "))
	}
	return list, nil
}

// Widths of the columns, and from which width of the screen there is one for the
// client and one for the folder.
const (
	chooseAgentWidth  = 11
	chooseFolderWidth = 20
	chooseAgeWidth    = 10
	minForAgent       = 45
	minForFolder      = 75
)

// line returns the row of a session: client, title, folder and age.
func (ch *chooser) line(row, width int, selected bool) (out screen.Safe) {
	s, p := ch.rows[row], ch.paint
	room := width - chooseAgeWidth - gap
	if width >= minForAgent {
		out = p.Cyan(padRight(screen.Cut(visible(s.Agent), chooseAgentWidth), chooseAgentWidth))
		room -= chooseAgentWidth + gap
	}
	if width >= minForFolder {
		room -= chooseFolderWidth + gap
	}
	title := padRight(screen.Cut(oneLine(s.Title), room), room)
	if selected {
		title = p.Strong(title)
	}
	out += title
	if width >= minForFolder {
		folder := (&lsResult{home: machine(ch.out.getenv).Home}).shortPath(s.Workspace)
		out += p.Faint(padRight(shortenPath(folder, chooseFolderWidth), chooseFolderWidth))
	}
	age, at := unknown, s.Updated
	if !at.Known() {
		at = s.Created
	}
	if at.Known() {
		age = visible(relativeTime(at.Time(), ch.now()))
	}
	return out + p.Faint(padLeft(age, chooseAgeWidth))
}

// oneLine returns a title without the line ends and the indent that it may have.
func oneLine(title string) screen.Safe {
	if title = strings.Join(strings.Fields(title), " "); title == "" {
		return unknown
	}
	return visible(title)
}

// preview returns the last turn of a session, as show prints it below its head.
func (ch *chooser) preview(ctx context.Context, row, width int) string {
	var text bytes.Buffer
	env := func(name string) string {
		if name == "COLUMNS" {
			return strconv.Itoa(width)
		}
		return ch.out.getenv(name)
	}
	quiet := &app{ctx: ctx, reg: ch.reg, now: ch.now, out: &output{
		quiet: true, stdout: &limitedWriter{&text, maxPreview}, stderr: io.Discard, palette: ch.paint, getenv: env, remarks: map[string]bool{},
	}}
	src, err := quiet.pick(ch.listing, ch.rows[row].ID, ch.rows[row:row+1])
	if err == nil {
		v := &viewer{app: quiet, cmd: &showCmd{Tools: "brief"}, format: "text", source: src.path}
		if v.turns, err = prose.ParseTurns("-1"); err == nil {
			err = v.show(v.storeDecoder(source{path: src.path, session: ch.rows[row].ID, folder: src.folder}))
		}
	}
	if err != nil && text.Len() == 0 {
		return string(ch.paint.Faint("cannot be read: " + visible(err.Error())))
	}
	_, turns, _ := strings.Cut(text.String(), "\n\n") // the row shows what is above
	return turns
}

// maxPreview is how much of a preview is made, in bytes.
const maxPreview = 64 << 10

// limitedWriter fails once it has written more than left bytes.
type limitedWriter struct {
	w    io.Writer
	left int
}

func (l *limitedWriter) Write(b []byte) (int, error) {
	if l.left -= len(b); l.left < 0 {
		return 0, io.ErrShortWrite
	}
	return l.w.Write(b)
}
