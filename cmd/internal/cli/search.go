package cli

import (
	"errors"
	"slices"
	"time"

	"rehome/cmd/internal/console"
	"rehome/cmd/internal/screen"
	"rehome/convert/search"
	"rehome/convert/sessions"
	"rehome/formats"
)

type searchCmd struct {
	Words []string `arg:"" optional:"" name:"word" help:"Words to find; a message must contain all of them. Quote a phrase."`

	Regexp     []string `short:"e" sep:"none" group:"What to find:" placeholder:"REGEX" help:"Also require a match of this regular expression (repeatable)"`
	IgnoreCase bool     `short:"i" group:"What to find:" help:"Ignore case (by default, only terms without capital letters do)"`
	Request    string   `group:"What to find:" placeholder:"ID" help:"Find the turn with this request id, as clients show it in error messages"`
	Context    bool     `group:"What to find:" rare:"" help:"Also search what clients add to a session: system prompts, rules, the state of the editor"`

	Path    []string `sep:"none" group:"Where to search:" rare:"" placeholder:"PATH" help:"Search the stores at this path instead of those of this machine (repeatable)"`
	Project string   `group:"Where to search:" placeholder:"DIR" help:"Search only sessions of this folder and its subfolders"`
	Client  string   `group:"Where to search:" aliases:"agent" placeholder:"CLIENT" help:"Search only sessions of this client: cursor-cli, cursor-sdk, cursor-ide, ... (cursor for all three)"`
	Since   string   `group:"Where to search:" placeholder:"WHEN" help:"Search only sessions changed since WHEN: 2026-11-01, yesterday, \"3 days\", 12h, ..."`

	Sessions bool `short:"l" group:"Output:" help:"Print only the sessions that match, not the matches"`
	All      bool `group:"Output:" help:"Print all matches of each session (default on a terminal: the first 5)"`
	Limit    int  `group:"Output:" placeholder:"N" help:"Stop after N matches"`

	console.ReadFlags
}

func (searchCmd) Help() string {
	return `Finds words in titles, prompts, answers, reasoning, tool calls and their results, in the sessions of every client on
this machine. There is no index to build or to update. Pass the id that a match is listed under to rehome show or
rehome continue. In a pipe, each match is a line of fields separated by tabs: session id, title, client, turn, kind,
text; with -l: session id, title, client.

Exits with 1 if nothing matches.

Examples:

    rehome search flaky socket
    rehome search "connection reset" --project . --since "2 weeks"
    rehome search -e 'ENOSPC|EDQUOT' --client cursor
    rehome search --request 0b0ad6a8-2d5c-4f4c-9d0a-6f5f3f0c8a11`
}

// Validate rejects combinations of flags that the grammar allows.
func (c *searchCmd) Validate() error {
	_, err := c.query()
	if err == nil && c.Limit < 0 {
		err = errors.New("--limit: must be at least 1")
	}
	if err == nil {
		_, err = parseTime(c.Since, time.Unix(0, 0))
	}
	return err
}

func (c *searchCmd) query() (*search.Query, error) {
	terms := len(c.Words) + len(c.Regexp)
	switch {
	case c.Request != "" && terms > 0:
		return nil, &formats.Error{Err: errors.New("--request cannot be combined with words"), Hint: "omit one of them"}
	case c.Request != "":
		return search.NewRequestQuery(c.Request)
	case terms == 0:
		return nil, &formats.Error{Err: errors.New("nothing to search for"), Hint: "name words, or pass -e REGEX or --request ID"}
	}
	how := search.SmartCase
	if c.IgnoreCase {
		how = search.IgnoreCase
	}
	return search.NewQuery(c.Words, c.Regexp, how)
}

// Run searches sessions and prints each match as soon as it is found.
func (c *searchCmd) Run(a *console.App) error {
	query, err := c.query()
	if err != nil {
		return err
	}
	within := lsCmd{Paths: c.Path, Project: c.Project, Client: c.Client, Since: c.Since, ReadFlags: c.ReadFlags}
	listing, err := within.list(a)
	if err != nil {
		return err
	}
	filter, err := within.filter(a, listing)
	if err != nil {
		return err
	}
	wanted, _ := listing.Select(filter)
	res := &searchResult{Sessions: []*searchSession{}, Unread: []lsUnread{}, cmd: c, listing: listing,
		home: console.Machine(a.Out.Getenv).Home,
		now:  a.Now(), width: console.Columns(a.Out.Stdout)}
	ctx, w, done := a.Out.Paged(a.Ctx, !a.Out.JSON)
	if p, ok := w.(*console.Pager); ok {
		p.Eager, res.grouped = true, true
	}
	res.grouped = res.grouped || console.IsTerminal(a.Out.Stdout)
	p := screen.NewPage(w, a.Out.Palette)
	report, err := search.Run(ctx, a.Reg, wanted, search.Options{
		Query: query, Context: c.Context, First: c.Sessions, Live: c.Live, Jobs: c.Jobs, OnNotice: a.Out.Remark, OnProgress: a.Out.Progress(),
		Verbose: a.Out.Verbose,
	}, func(h *search.Hit) bool {
		res.add(h)
		if !a.Out.JSON {
			a.Out.EndProgress() // matches show how far it is
			res.printNew(p)
		}
		return p.Err() == nil && (c.Limit == 0 || res.Matches < c.Limit)
	})
	a.Out.EndProgress()
	for _, u := range slices.Concat(listing.Unread, report.Unread) {
		res.Unread = append(res.Unread, newLsUnread(u))
	}
	if a.Out.JSON && err == nil {
		err = console.WriteJSON(w, res)
	} else if err == nil {
		res.printEnd(p)
		err = p.Err()
	}
	if err != nil && a.Ctx.Err() == nil && ctx.Err() != nil {
		err = console.ErrPagerQuit
	}
	if err = done(err); err != nil {
		return console.Printed(err)
	}
	if !res.grouped {
		res.remarkUnread(a)
	}
	switch {
	case len(listing.Sessions) == 0:
		return console.Printed(&formats.Error{Err: console.Summarize("no sessions found", errNoMatches),
			Hint: "run `rehome ls` to list the places where they are looked for"})
	case res.Matches == 0:
		return console.Printed(console.Summarize("no matches in "+string(countSessions(sessions.Count(wanted))), errNoMatches))
	}
	return nil
}

// errNoMatches means that a search found nothing.
var errNoMatches = errors.New("no matches")

// searchResult is the result of search: schema search-result-1.
type searchResult struct {
	Sessions []*searchSession `json:"sessions"`
	Matches  int              `json:"total"`
	Unread   []lsUnread       `json:"unread"`

	cmd     *searchCmd
	listing *sessions.Listing
	home    string
	now     time.Time
	width   int
	grouped bool // by session, for people; else a line for each match
	current *search.Session
	shown   int // matches in the text of the current session,
	hidden  int // and of these, those that are not printed
}

type searchSession struct {
	Agent   string      `json:"agent"`
	ID      string      `json:"id"`
	Title   string      `json:"title,omitempty"`
	Project string      `json:"project,omitempty"`
	Updated string      `json:"updated,omitempty"`
	Parent  string      `json:"parent,omitempty"`
	Source  lsSource    `json:"source"`
	Matches []searchHit `json:"matches"`

	session *search.Session
}

type searchHit struct {
	Kind    string   `json:"kind"`
	Turn    int      `json:"turn,omitempty"`
	Branch  string   `json:"branch,omitempty"`
	Message string   `json:"message,omitempty"`
	At      string   `json:"at,omitempty"`
	Text    string   `json:"text"`
	Ranges  [][2]int `json:"ranges"`

	cut [2]bool
}

// add adds a match. Only JSON needs those that are printed already.
func (r *searchResult) add(h *search.Hit) {
	if h.Session != r.current {
		s := &searchSession{Agent: h.Session.Agent, ID: h.Session.ID, Title: h.Session.Title, Project: h.Session.Workspace,
			Updated: formatStamp(h.Session.Updated), Source: lsSource{h.Session.Format, h.Session.Path}, session: h.Session}
		if h.Session.Parent != nil {
			s.Parent = h.Session.Parent.Session
		}
		r.Sessions, r.current = append(r.Sessions, s), h.Session
	}
	s := r.Sessions[len(r.Sessions)-1]
	s.Matches = append(s.Matches, searchHit{Kind: string(h.Kind), Turn: h.Turn, Branch: h.Branch, Message: h.Message, At: formatStamp(h.At),
		Text: h.Text, Ranges: append([][2]int{}, h.Matches...), cut: h.Cut})
	r.Matches++
}
