package cli

import (
	"context"
	"errors"
	"runtime/debug"
	"slices"
	"time"

	"rehome/cmd/internal/console"
	"rehome/cmd/internal/screen"
	"rehome/convert/sessions"
	"rehome/formats/session"
	"rehome/internal/shell"
)

// welcomeResult is what `rehome` without a command prints: what is on this
// machine, and what to try. Its schema is welcome-result-1.
type welcomeResult struct {
	Sessions   int              `json:"sessions"`
	Subagents  int              `json:"subagents"`
	Clients    []welcomeClient  `json:"clients"` // with sessions, most recently used first
	Kept       []keptClient     `json:"kept,omitempty"`
	Unreadable int              `json:"unreadable"` // stores
	Places     []string         `json:"places"`     // that were searched
	Absent     []string         `json:"absent"`     // places that do not exist
	Try        []welcomeCommand `json:"try"`

	home  string
	now   time.Time
	width int
}

type welcomeClient struct {
	Client   string `json:"client"`
	Sessions int    `json:"sessions"`
	ID       string `json:"newest"` // of the newest session
	Title    string `json:"title,omitempty"`
	Updated  string `json:"updated,omitempty"`

	updated session.Stamp
}

type welcomeCommand struct {
	Command string `json:"command"`
	Purpose string `json:"purpose"`
}

// welcome prints what is on this machine, and what to try. On a terminal, it first
// lets the user choose a session to continue.
func welcome(a *console.App) error {
	if console.Machine(a.Out.Getenv).Home == "" {
		return console.NoHomeError("run `rehome help` to list the commands")
	}
	listed := startListing(a, noticeable)
	if tty, _, captured := a.Out.Terminal(); tty != nil && !captured && !a.Out.JSON && !listed.empty() {
		header := func(*sessions.Listing) []screen.Safe { return listed.welcome.header() }
		o := continueOptions{}
		src, err := (&chooser{App: a, header: header, list: listed.wait, options: &o}).choose()
		if err == nil {
			return (&continueCmd{}).open(a, src, o)
		}
		if !errors.As(err, new(console.Silent)) || !listed.complete() {
			return err
		}
	}
	if _, err := listed.wait(a.Ctx); err != nil {
		return err
	}
	w := listed.welcome
	for i := range w.Try {
		w.Try[i].Command = a.Out.Own(w.Try[i].Command)
	}
	w.home, w.now, w.width = console.Machine(a.Out.Getenv).Home, a.Now(), min(console.Columns(a.Out.Stdout), screen.PageWidth)
	return a.Out.Print(a.Ctx, w)
}

// noticeable is how long a terminal may stay as it is before the first screen. Most
// homes are listed by then, so that one without sessions has no list to choose from.
const noticeable = 150 * time.Millisecond

// pendingListing is the listing of this machine, which may still be in the making.
type pendingListing struct {
	done    chan struct{} // closed when the rest is set
	listing *sessions.Listing
	welcome *welcomeResult
	err     error
}

// startListing lists the sessions on this machine. It returns when that is done, or
// after some time.
func startListing(a *console.App, most time.Duration) *pendingListing {
	l := &pendingListing{done: make(chan struct{})}
	go func() {
		defer close(l.done)
		// Most of the memory that listing allocates is soon garbage.
		defer debug.SetMemoryLimit(console.SetMemoryLimit(a.Out.Getenv, lsMemoryLimit))
		if l.listing, l.err = listAll(a, false); l.err == nil {
			l.welcome = newWelcome(l.listing)
			l.welcome.Kept = survey(a, l.listing)
		}
	}()
	select {
	case <-l.done:
	case <-time.After(most):
	}
	return l
}

// complete reports whether the listing is complete.
func (l *pendingListing) complete() bool {
	select {
	case <-l.done:
		return true
	default:
		return false
	}
}

// empty reports whether the listing is complete, but has no sessions.
func (l *pendingListing) empty() bool {
	return l.complete() && (l.err != nil || l.welcome.Sessions == 0)
}

// wait returns the listing when it is complete.
func (l *pendingListing) wait(ctx context.Context) (*sessions.Listing, error) {
	select {
	case <-l.done:
		return l.listing, l.err
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

// header returns what is above the list of sessions.
func (w *welcomeResult) header() []screen.Safe {
	var clients []screen.Safe
	for _, c := range w.Clients {
		clients = append(clients, screen.Grouped(int64(c.Sessions))+" "+screen.Visible(c.Client))
	}
	out := []screen.Safe{screen.Join(clients, ", ")}
	for i := range w.Kept[:min(len(w.Kept), maxUnlisted)] {
		out = append(out, w.Kept[i].line())
	}
	if more := len(w.Kept) - maxUnlisted; more > 0 {
		out = append(out, "and "+screen.Plural(int64(more), "more client")+" (rehome ls)")
	}
	return append(out, "Choose a session to continue, or Esc for other commands.", "")
}

func newWelcome(l *sessions.Listing) *welcomeResult {
	w := &welcomeResult{Clients: []welcomeClient{}, Unreadable: len(l.Unread), Places: console.NonNil(l.Places),
		Absent: console.NonNil(l.Absent)}
	found, _ := l.Select(sessions.Filter{})
	w.Sessions, w.Subagents = sessions.Count(found)
	for i := range found {
		s := &found[i]
		at := slices.IndexFunc(w.Clients, func(c welcomeClient) bool { return c.Client == s.Agent })
		if at < 0 {
			at = len(w.Clients)
			row := newLsSession(s)
			c := welcomeClient{Client: s.Agent, ID: s.ID, Title: s.Title, Updated: formatStamp(row.updated), updated: row.updated}
			w.Clients = append(w.Clients, c)
		}
		w.Clients[at].Sessions++
	}
	w.Try = commandsToTry(l, found)
	return w
}

// commandsToTry returns three commands for the sessions that were found, with the
// newest one of the working directory as the example if it has any.
func commandsToTry(l *sessions.Listing, found []sessions.Listed) []welcomeCommand {
	if len(found) == 0 {
		return []welcomeCommand{
			{"rehome demo", "see what rehome does, on a sample chat"},
			{"rehome ls PATH", "list the sessions in another folder, such as a backup"},
			{"rehome help", "list all commands"},
		}
	}
	example := &found[0]
	for _, dir := range console.WorkingDirs() {
		if here, _ := l.Select(sessions.Filter{Project: dir, Limit: 1}); len(here) > 0 {
			example = &here[0]
		}
	}
	return []welcomeCommand{
		{"rehome ls", "list them"},
		{shell.Command("rehome", "show", typedName(l, true, example.Sources[0].Path, example.ID)),
			"read one, by its id or by words from its title"},
		{"rehome continue", "choose one and continue it"},
		{"rehome help", "list all commands"},
	}
}

func (w *welcomeResult) Text(p *screen.Page) {
	if w.Sessions == 0 {
		w.nothing(p)
	} else {
		p.Line(p.Strong(countSessions(w.Sessions, w.Subagents) + " on this machine"))
		p.Line("")
		w.clients(p)
	}
	for i := range w.Kept {
		if i == 0 {
			p.Line("")
		}
		console.PrintProse(p, w.Kept[i].line())
	}
	if w.Unreadable > 0 {
		p.Line("")
		p.Line(screen.Plural(int64(w.Unreadable), "store") + " cannot be read; `rehome ls` says why")
	}
	p.Line("")
	p.Line(p.Strong("Try:"))
	width := 0
	for _, c := range w.Try {
		width = max(width, screen.Cells(screen.Visible(c.Command)))
	}
	for _, c := range w.Try {
		for i, part := range screen.WrapWords(screen.Visible(c.Purpose), p.Width-2-width-console.Gap) {
			lead := screen.Visible(c.Command)
			if i > 0 {
				lead = ""
			}
			p.Line("  " + console.PadRight(lead, width) + p.Faint(part))
		}
	}
}

// clients prints a row for each client: how many sessions it has, and the newest.
func (w *welcomeResult) clients(p *screen.Page) {
	var rows [][]screen.Safe
	for _, c := range w.Clients {
		row := []screen.Safe{screen.Visible(c.Client), screen.Grouped(int64(c.Sessions)), age(c.updated, w.now),
			screen.Trim(screen.Visible(c.Title), " ")}
		if row[3] == "" {
			row[3] = screen.Visible(c.ID)
		}
		rows = append(rows, row)
	}
	width := screen.ColumnWidths(rows)
	for i, row := range rows {
		lead := console.PadLeft(row[1], width[1]) + "  " + console.PadRight(row[2], width[2])
		room := w.width - 4 - width[0] - screen.Cells(lead)
		p.Line("  " + p.Client(w.Clients[i].Client, console.PadRight(row[0], width[0])) + lead + p.Faint(screen.Cut(row[3], room)))
	}
}

// nothing says where sessions were looked for.
func (w *welcomeResult) nothing(p *screen.Page) {
	p.Line("No sessions found on this machine. rehome looked in:")
	for _, dir := range w.Places {
		p.Line("  " + console.ShortPath(w.home, dir))
	}
	for _, dir := range w.Absent {
		p.Line("  " + console.ShortPath(w.home, dir) + p.Faint(" (does not exist)"))
	}
}
