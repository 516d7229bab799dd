package cli

import (
	"cmp"
	"errors"
	"fmt"
	"path/filepath"
	"runtime/debug"
	"slices"
	"strings"
	"time"

	"rehome/cmd/internal/console"
	"rehome/convert"
	"rehome/convert/sessions"
	"rehome/formats"
	"rehome/formats/clients"
	"rehome/formats/session"
	"rehome/internal/closest"
)

type lsCmd struct {
	Paths []string `arg:"" optional:"" name:"path" help:"Files or folders to search (default: where the clients keep their sessions)"`

	Project string `group:"Which sessions:" placeholder:"DIR" help:"Include only sessions of this folder and its subfolders"`
	Client  string `group:"Which sessions:" aliases:"agent" placeholder:"NAME" help:"Include only sessions of this client: cursor-cli, cursor-sdk, cursor-ide, ... (cursor for all three)"`
	Since   string `group:"Which sessions:" placeholder:"WHEN" help:"Include only sessions changed since WHEN: 2026-11-01, yesterday, \"3 days\", 12h, ..."`
	Limit   *int   `group:"Which sessions:" placeholder:"N" help:"Include only the newest N sessions; 0 for all (default: on a terminal, what fits on the screen)"`
	All     bool   `group:"Which sessions:" help:"Also list empty sessions, and files that are not stores"`

	Long bool `group:"Advanced:" help:"Read sessions to fill in unknown columns, and print where each is stored"`
	console.ReadFlags
}

func (lsCmd) Help() string {
	return `On a terminal: the newest sessions that fit on the screen, those of the current directory first, then the others.
Copies that rehome made are listed below their originals, subagents below their parents. "–" means unknown;
--long (or -v) reads the sessions to find out. "~" marks the time of a file, where the session has none.

To a pipe or a file: every session on a line of its own, with the columns

    id  title  client  updated  turns  bytes  project  store  parent

separated by tabs, never shortened, without a header. Unknown values are empty, times are UTC. The parent of a
subagent is its session; that of a copy is its original.

Examples:

    rehome ls --project . --since 3d
    rehome ls --client cursor-sdk --json
    rehome ls ~/backup/.cursor --long
    rehome ls | fzf | cut -f1`
}

// lsResult is the result of ls: schema ls-result-1.
type lsResult struct {
	Sessions []lsSession `json:"sessions"`
	Unread   []lsUnread  `json:"unread"`
	// Unrecognized are files that look like sessions but have no known format.
	Unrecognized []string     `json:"unrecognized"`
	Hidden       lsHidden     `json:"hidden"`
	Places       []string     `json:"places"`
	Kept         []keptClient `json:"kept,omitempty"`

	Lost []sessions.Lost `json:"lost,omitempty"` // folders that no longer exist

	listing *sessions.Listing
	long    bool
	all     bool
	home    string
	now     time.Time
	width   int    // of the terminal, 0 if stdout is none
	height  int    // of the screen that the list is cut to, 0 if it is not
	here    string // the current directory
}

type lsSession struct {
	Agent    string      `json:"agent"`
	ID       string      `json:"id"`
	Title    string      `json:"title,omitempty"`
	Mark     string      `json:"mark,omitempty"`
	Project  string      `json:"project,omitempty"`
	Created  string      `json:"created,omitempty"`
	Updated  string      `json:"updated,omitempty"`
	Turns    *int64      `json:"turns,omitempty"`
	Bytes    *int64      `json:"bytes,omitempty"`
	Parent   string      `json:"parent,omitempty"`
	Origin   string      `json:"origin,omitempty"`
	Kind     string      `json:"kind,omitempty"`
	Sources  []lsSource  `json:"sources"`
	Children []lsSession `json:"children,omitempty"`

	updated session.Stamp
	prompt  string // the first prompt, if it is known
}

type lsSource struct {
	Format string `json:"format"`
	Path   string `json:"path"`
}

type lsUnread struct {
	Path   string `json:"path"`
	Format string `json:"format,omitempty"`
	Reason string `json:"reason"`
	Hint   string `json:"hint,omitempty"`
}

// lsHidden counts what is not listed.
type lsHidden struct {
	Empty   int `json:"empty"`
	Other   int `json:"other"`
	Older   int `json:"older"`
	Foreign int `json:"foreign"`
}

// lsMemoryLimit is the memory limit while listing.
const lsMemoryLimit = 32 << 20

// Validate rejects invalid values of flags.
func (c *lsCmd) Validate() error {
	if c.Limit != nil && *c.Limit < 0 {
		return errors.New("--limit: must not be negative")
	}
	_, err := parseTime(c.Since, time.Unix(0, 0))
	return err
}

// Run lists the sessions on this machine, or below the given paths.
func (c *lsCmd) Run(a *console.App) error {
	// Most of the memory that listing allocates is soon garbage.
	defer debug.SetMemoryLimit(console.SetMemoryLimit(a.Out.Getenv, lsMemoryLimit))
	listing, err := c.list(a)
	if err != nil {
		return err
	}
	filter, err := c.filter(a, listing, clients.Names()...)
	if err != nil {
		return err
	}
	wanted, hidden := listing.Select(filter)
	res := &lsResult{
		Sessions: []lsSession{}, Unread: []lsUnread{}, Places: console.NonNil(listing.Places), listing: listing,
		Unrecognized: console.NonNil(listing.Unrecognized), all: c.All,
		Hidden: lsHidden{Empty: hidden.Empty, Other: hidden.Other, Older: hidden.Older},
		long:   c.Long, home: console.Machine(a.Out.Getenv).Home, now: a.Now(), here: cmp.Or(append(console.WorkingDirs(), "")...),
	}
	if len(c.Paths) == 0 && c.Project == "" && c.Since == "" {
		res.Kept = slices.DeleteFunc(survey(a, listing), func(k keptClient) bool { return c.Client != "" && c.Client != k.Client })
	}
	if len(c.Paths) == 0 {
		res.Lost = sessions.LostFolders(wanted, res.home)
	}
	width, height, tty := a.Out.TerminalSize()
	if tty && !a.Out.JSON && !c.Long {
		sessions.Measure(a.Ctx, res.onScreen(wanted, height), sessions.Options{Live: c.Live, Jobs: c.Jobs})
	}
	for i := range wanted {
		res.Sessions = append(res.Sessions, newLsSession(&wanted[i]))
	}
	for _, u := range listing.Unread {
		res.Unread = append(res.Unread, newLsUnread(u))
	}
	if c.All {
		for _, u := range listing.Foreign {
			res.Unread = append(res.Unread, newLsUnread(u))
		}
	} else {
		res.Hidden.Foreign = len(listing.Foreign)
	}
	if tty {
		res.width = width
		if c.Limit == nil && !c.All {
			res.height = height
		}
	} else if !a.Out.JSON {
		for _, l := range res.remarks() {
			a.Out.Remark(l)
		}
	}
	if err := a.Out.Print(a.Ctx, res); err != nil {
		return err
	}
	if len(c.Paths) > 0 && len(listing.Unread) > 0 && len(res.Sessions) == 0 {
		return console.Silent{Code: 1} // what could not be read was printed
	}
	return nil
}

// filter returns what the flags select of a listing. more are clients that it lacks.
func (c *lsCmd) filter(a *console.App, listing *sessions.Listing, more ...string) (f sessions.Filter, err error) {
	since, err := parseTime(c.Since, a.Now())
	if err != nil {
		return f, err
	}
	known := listing.Agents()
	for _, name := range more {
		if !slices.Contains(known, name) {
			known = append(known, name)
		}
	}
	if c.Client != "" && !slices.Contains(known, c.Client) {
		return f, console.Usage(&formats.Error{At: "--client", Err: fmt.Errorf("unknown client %q", c.Client),
			Hint: closest.Hint(c.Client, known, "use one of "+strings.Join(known, ", "))})
	}
	if project := sessions.NewProject(c.Project); c.Project != "" && !console.Exists(c.Project) &&
		!slices.ContainsFunc(listing.All(), func(s *sessions.Listed) bool { return project.Contains(s.Workspace) }) {
		err := errors.New("no such folder, and no client has sessions of it")
		return f, console.Usage(&formats.Error{At: c.Project, Err: err, Hint: "run `rehome ls --all` for the folders of all sessions"})
	}
	f = sessions.Filter{Project: c.Project, Agent: c.Client, Empty: c.All}
	if c.Limit != nil {
		f.Limit = *c.Limit
	}
	if !since.IsZero() {
		f.Since = since.UnixMilli()
	}
	return f, nil
}

func (c *lsCmd) list(a *console.App) (*sessions.Listing, error) {
	o := sessions.Options{Paths: c.Paths, Machine: console.Machine(a.Out.Getenv), Long: c.Long, Live: c.Live, Jobs: c.Jobs}
	if len(c.Paths) == 0 && o.Machine.Home == "" {
		return nil, console.NoHomeError("name files or folders to search")
	}
	for i, at := range o.Paths {
		o.Paths[i] = newestSnapshot(a, at)
	}
	o.Folders, o.Copies = candidates(a), convert.Copies(convert.UndoDir(o.Machine))
	if c.Project != "" {
		if abs, err := filepath.Abs(c.Project); err == nil {
			o.Folders = o.Folders.With(abs)
		}
	}
	return sessions.List(a.Ctx, a.Reg, o)
}

func newLsSession(s *sessions.Listed) lsSession {
	out := lsSession{
		Agent: s.Agent, ID: s.ID, Title: s.Title, Mark: s.Mark, Project: s.Workspace,
		Created: formatStamp(s.Created), Updated: formatStamp(s.Updated), updated: s.When(),
		Turns: optional(s.Turns), Bytes: optional(s.Bytes), Sources: []lsSource{}, Origin: s.Origin, prompt: s.Prompt,
	}
	if s.Parent != nil {
		out.Parent, out.Kind = s.Parent.Session, s.Parent.Kind
	}
	for _, src := range s.Sources {
		out.Sources = append(out.Sources, lsSource{src.Format, src.Path})
	}
	for _, c := range s.Children {
		out.Children = append(out.Children, newLsSession(c))
	}
	return out
}

// newLsUnread returns a row for a store that could not be read. It removes the
// path and the format from the reason, since the row has them already.
func newLsUnread(u sessions.Unread) lsUnread {
	reason := u.Err.Error()
	for _, lead := range []string{u.Format + ": ", u.Path + ": ", filepath.ToSlash(u.Path) + ": "} {
		reason = strings.TrimPrefix(reason, lead)
	}
	return lsUnread{u.Path, u.Format, cmp.Or(reason, "cannot be read"), formats.Hint(u.Err)}
}

func optional(n int64) *int64 {
	if n < 0 {
		return nil
	}
	return &n
}

// formatStamp returns a time as canonical text has it. A tilde marks inferred
// times, here those of files.
func formatStamp(s session.Stamp) string {
	if !s.Known() {
		return ""
	}
	text := session.AppendStamp(nil, s)
	return string(text[1 : len(text)-1]) // without quotes
}
