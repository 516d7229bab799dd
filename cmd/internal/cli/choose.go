package cli

import (
	"bytes"
	"context"
	"errors"
	"io"
	"os"
	"slices"
	"strconv"
	"strings"

	"rehome/cmd/internal/console"
	"rehome/cmd/internal/picker"
	"rehome/cmd/internal/prose"
	"rehome/cmd/internal/screen"
	"rehome/convert/search"
	"rehome/convert/sessions"
	"rehome/formats"
)

// chooser lets the user choose one of the sessions on this machine.
type chooser struct {
	*console.App
	project, client, since string // as for ls
	live                   bool
	query                  *search.Query    // must match a message of the session; nil = all
	options                *continueOptions // In is set to the client that the user chooses

	header func(*sessions.Listing) []screen.Safe            // returns the lines above the list; nil = none
	list   func(context.Context) (*sessions.Listing, error) // nil = as ls does

	paint   screen.Palette
	listing *sessions.Listing // with rows, set when it is loaded
	rows    []*sessions.Listed
	copied  map[*sessions.Listed]bool // those below their originals
	clients map[int][]clientChoice    // by row, as far as they were asked for
}

// clientChoice is a client that can continue a session.
type clientChoice struct {
	in    string // as --in names it; "" = what is the default for the session
	title screen.Safe
}

// choose lets the user choose on the whole terminal. Sessions of the working
// directory come first. If the user quits, the error is silent.
func (ch *chooser) choose() (source, error) {
	tty, paint, _ := ch.Out.Terminal()
	if tty == nil {
		return source{}, console.Usage(&formats.Error{Err: errors.New("SESSION is missing"),
			Hint: "name a session (`rehome ls` lists them), or pass --last for the newest one of this directory"})
	}
	ch.paint = paint
	row, client, err := picker.Pick(ch.Ctx, picker.Options{Loading: "reading sessions…", Action: "continue", Palette: paint, In: os.Stdin,
		Out: tty, Load: ch.load})
	switch {
	case errors.Is(err, picker.ErrCanceled):
		return source{}, console.Silent{Code: console.ExitCode(err)}
	case err != nil:
		return source{}, err
	case row < 0:
		if ch.query != nil {
			return source{}, &formats.Error{Err: errors.New("no session contains these words"), Hint: "try fewer words"}
		}
		return source{}, &formats.Error{Err: errors.New("no sessions to choose from"),
			Hint: "run `rehome ls` to list all sessions, and the places where they are looked for"}
	}
	if list := ch.clientsOf(row); len(list) > 0 {
		ch.options.In = list[client].in
	}
	return pick(ch.App, ch.listing, ch.rows[row].ID, ch.rows[row:row+1])
}

// clientsOf returns the clients that can continue a row, the one that does by default first.
// The others are those that are installed.
func (ch *chooser) clientsOf(row int) []clientChoice {
	if list, ok := ch.clients[row]; ok {
		return list
	}
	own, to, err := route(ch.App, ch.rows[row], source{}, *ch.options)
	if err != nil {
		return nil // continuing it says why
	}
	installed := func(h *formats.Home) bool { return h.Resume != nil && lookProgram(ch.App, h.Resume[0]) != "" }
	title := own.Client
	if to != nil {
		title = to.Home.Title
	}
	list := []clientChoice{{ch.options.In, screen.Visible(title)}}
	if to != nil && to.Home.Code == nil && !installed(to.Home) || to == nil && lookProgram(ch.App, own.Argv[0]) == "" {
		list[0].title += " (not installed)"
	}
	if ch.options.In == "" {
		for _, c := range targets(ch.App) {
			if h := targetOf(ch.App, c).Home; installed(h) && h.Title != title {
				list = append(list, clientChoice{c, screen.Visible(h.Title)})
			}
		}
	}
	ch.clients[row] = list
	return list
}

// actions returns the titles of clientsOf.
func (ch *chooser) actions(row int) (out []screen.Safe) {
	for _, c := range ch.clientsOf(row) {
		out = append(out, c.title)
	}
	return out
}

// load lists the sessions.
func (ch *chooser) load(ctx context.Context) (*picker.List, error) {
	quiet := *ch.App
	quiet.Ctx = ctx
	list := ch.list
	if list == nil {
		list = func(context.Context) (*sessions.Listing, error) {
			return (&lsCmd{Project: ch.project, ReadFlags: console.ReadFlags{Live: ch.live}}).list(&quiet)
		}
	}
	listing, err := list(ctx)
	if err != nil {
		return nil, err
	}
	ch.listing = listing
	filter, err := (&lsCmd{Project: ch.project, Client: ch.client, Since: ch.since}).filter(&quiet, listing)
	if err != nil {
		return nil, err
	}
	found, _ := ch.listing.Select(filter)
	matches, err := ch.matching(ctx, found)
	if err != nil {
		return nil, err
	}
	if ch.query != nil {
		found = slices.DeleteFunc(found, func(s sessions.Listed) bool { return !matches[s.ID] })
	}
	ch.arrange(found)
	out := &picker.List{Count: countSessions(sessions.Count(found)), Line: ch.line, Preview: ch.preview, Actions: ch.actions}
	if ch.header != nil {
		out.Header = ch.header(listing)
	}
	for _, s := range ch.rows {
		out.Search = append(out.Search, strings.Join([]string{s.Title, s.Agent, s.Workspace, s.ID}, " "))
	}
	return out, nil
}

// arrange sets the rows: sessions of the working directory first, each followed by the
// copies that rehome made of it. The newest of them decides where they are, as for ls.
func (ch *chooser) arrange(found []sessions.Listed) {
	original := originals(found, func(s *sessions.Listed) (id, origin, folder string) { return s.ID, s.Origin, s.Workspace })
	families := map[*sessions.Listed][]*sessions.Listed{}
	var order []*sessions.Listed
	for i := range found {
		o := original[&found[i]]
		if families[o] == nil {
			order, families[o] = append(order, o), []*sessions.Listed{o}
		}
		if s := &found[i]; s != o {
			families[o] = append(families[o], s)
		}
	}
	var here, elsewhere []*sessions.Listed
	wd := sessions.NewProject(".")
	for _, o := range order {
		if wd.Contains(o.Workspace) {
			here = append(here, families[o]...)
		} else {
			elsewhere = append(elsewhere, families[o]...)
		}
	}
	ch.rows, ch.copied, ch.clients = append(here, elsewhere...), map[*sessions.Listed]bool{}, map[int][]clientChoice{}
	for i := range found {
		ch.copied[&found[i]] = original[&found[i]] != &found[i]
	}
}

// matching returns the ids of the sessions that the query matches, in a message of
// their own or of a subagent.
func (ch *chooser) matching(ctx context.Context, list []sessions.Listed) (map[string]bool, error) {
	if ch.query == nil {
		return nil, nil
	}
	parents := map[string]string{}
	for _, l := range sessions.Families(list) {
		for _, c := range l.Children {
			parents[c.ID] = l.ID
		}
	}
	matches := map[string]bool{}
	_, err := search.Run(ctx, ch.Reg, list, search.Options{Query: ch.query, First: true, Live: ch.live}, func(h *search.Hit) bool {
		id := h.Session.ID
		if h.Session.Listed == nil && h.Session.Parent != nil { // a subagent that no list names
			id = h.Session.Parent.Session
		}
		for ; id != "" && !matches[id]; id = parents[id] {
			matches[id] = true
		}
		return true
	})
	return matches, err
}

// Widths of the columns, and from which width of the screen there is one for the
// client and one for the folder.
const (
	chooseAgentWidth  = 11
	chooseFolderWidth = 20
	chooseAgeWidth    = 11
	minForAgent       = 45
	minForFolder      = 75
)

// line returns the row of a session: client, title, folder and age.
func (ch *chooser) line(row, width int, selected bool) (out screen.Safe) {
	s, p := ch.rows[row], ch.paint
	room := width - chooseAgeWidth - console.Gap
	if width >= minForAgent {
		out = p.Client(s.Agent, console.PadRight(screen.Cut(screen.Visible(s.Agent), chooseAgentWidth), chooseAgentWidth))
		room -= chooseAgentWidth + console.Gap
	}
	if width >= minForFolder {
		room -= chooseFolderWidth + console.Gap
	}
	title := console.OneLine(s.Title)
	if ch.copied[s] {
		title = "  → " + title
	}
	title = console.PadRight(screen.Cut(title, room), room)
	if selected {
		title = p.Strong(title)
	}
	out += title
	if width >= minForFolder {
		folder := console.ShortPath(console.Machine(ch.Out.Getenv).Home, s.Workspace)
		out += p.Faint(console.PadRight(console.ShortenPath(folder, chooseFolderWidth), chooseFolderWidth))
	}
	return out + p.Faint(console.PadLeft(age(s.When(), ch.Now()), chooseAgeWidth))
}

// preview returns the last turn of a session, as show prints it below its head.
func (ch *chooser) preview(ctx context.Context, row, width int) string {
	var text bytes.Buffer
	env := func(name string) string {
		if name == "COLUMNS" {
			return strconv.Itoa(width)
		}
		return ch.Out.Getenv(name)
	}
	quiet := &console.App{Ctx: ctx, Reg: ch.Reg, Now: ch.Now, Out: console.NewOutput(&limitedWriter{&text, maxPreview}, io.Discard, env,
		console.OutputFlags{Quiet: true, Color: map[screen.Palette]string{true: "always", false: "never"}[ch.paint]})}
	src, err := pick(quiet, ch.listing, ch.rows[row].ID, ch.rows[row:row+1])
	if err == nil {
		v := &viewer{App: quiet, cmd: &showCmd{Tools: "brief"}, format: "text", source: src.path, preview: true}
		if v.turns, err = prose.ParseTurns("-1"); err == nil {
			err = v.show(v.storeDecoder(source{path: src.path, session: ch.rows[row].ID, folder: src.folder}))
		}
	}
	if err != nil && text.Len() == 0 {
		return string(ch.paint.Faint("cannot be read: " + screen.Visible(err.Error())))
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
