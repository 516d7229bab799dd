package cli

import (
	"errors"
	"fmt"
	"path/filepath"
	"runtime"
	"slices"
	"strings"

	"rehome/cmd/internal/console"
	"rehome/cmd/internal/screen"
	"rehome/convert"
	"rehome/convert/doctor"
	"rehome/convert/sessions"
	"rehome/formats"
)

type doctorCmd struct {
	Paths []string `arg:"" optional:"" name:"path" help:"Stores, or folders that hold stores (default: where the clients keep their sessions)"`

	FailOn string `enum:",drift" default:"" placeholder:"drift" help:"Exit with 4 if stores hold something that this version of rehome does not know"`
	console.ReadFlags
}

func (doctorCmd) Help() string {
	return `Reads all sessions, and reports which clients wrote them, whether those versions were tested, and what in their stores
this version of rehome does not know: fields, types of records, tools, tables. "raw" is the share of fields that only
their own client understands: exact conversions keep them, other clients do not get them.

The report contains no content: no text, no values, and no names that are not identifiers. Paste the output of
rehome doctor --json into an issue when a client has changed.

Examples:

    rehome doctor
    rehome doctor ~/.claude --verbose
    rehome doctor agents --fail-on drift`
}

// doctorResult is the result of doctor: schema doctor-result-1.
type doctorResult struct {
	Rehome  string         `json:"rehome"`
	System  string         `json:"system"`
	Clients []doctorClient `json:"clients"`
	Unread  int            `json:"unread"`
	Drift   int            `json:"drift"`

	Sessions  int `json:"sessions"`
	Subagents int `json:"subagents"`
	Lost      int `json:"lost,omitempty"` // sessions in folders that no longer exist

	Kept []keptClient `json:"kept,omitempty"`

	absent  []string // formats of clients that have no stores here
	failed  []sessions.Unread
	verbose bool
	width   int // 0: not a terminal
}

type doctorClient struct {
	Format   string           `json:"format"`
	Places   []string         `json:"places,omitempty"`
	Stores   int              `json:"stores"`
	Unread   int              `json:"unread"`
	Sessions int              `json:"sessions"`
	Bytes    int64            `json:"bytes"`
	RawBytes int64            `json:"rawBytes"`
	Records  doctorShare      `json:"records"`
	Fields   doctorShare      `json:"fields"`
	Versions []doctor.Version `json:"versions"`
	Tested   []string         `json:"tested"`
	Drift    []doctor.Drift   `json:"drift"`
	More     int64            `json:"more,omitempty"`

	newer bool // a version is newer than those tested
}

// doctorShare is how much of what was read is carried raw.
type doctorShare struct {
	Read int64 `json:"read"`
	Raw  int64 `json:"raw"`
}

// errDrift means that there is drift, with --fail-on.
var errDrift = fmt.Errorf("drift: %w", console.ErrFindings)

// Run examines the stores of this machine, or below the given paths.
func (c *doctorCmd) Run(a *console.App) error {
	o := doctor.Options{Paths: c.Paths, Machine: console.Machine(a.Out.Getenv), Live: c.Live, Jobs: c.Jobs, OnProgress: a.Out.Progress()}
	if len(c.Paths) == 0 && o.Machine.Home == "" {
		return console.NoHomeError("name files or folders to examine")
	}
	report, err := doctor.Run(a.Ctx, a.Reg, o)
	a.Out.EndProgress()
	if err != nil {
		return err
	}
	res := newDoctorResult(a, report, c.Paths, o.Machine)
	if listing, err := (&lsCmd{Paths: c.Paths, ReadFlags: c.ReadFlags}).list(a); err == nil {
		found, _ := listing.Select(sessions.Filter{})
		if res.Sessions, res.Subagents = sessions.Count(found); len(c.Paths) == 0 {
			res.Kept = survey(a, listing)
			res.Lost = lostSessions(sessions.LostFolders(found, ""))
		}
		for i := range res.Kept {
			res.Kept[i].Places = nil // they may name projects
		}
	}
	if console.IsTerminal(a.Out.Stdout) {
		res.width = console.Columns(a.Out.Stdout)
	}
	if err := a.Out.Print(a.Ctx, res); err != nil {
		return err
	}
	switch {
	case c.FailOn == "":
		return nil
	case res.Unread > 0:
		var errs []error
		for _, u := range report.Unread {
			errs = append(errs, u.Err)
		}
		return console.Printed(console.Summarize(fmt.Sprintf("could not read %s", screen.Plural(int64(res.Unread), "store")), sameKind(errs)))
	case res.Drift > 0:
		return console.Printed(console.Summarize(fmt.Sprintf("drift: %s unknown to this version", screen.Plural(int64(res.Drift), "name")),
			errDrift))
	}
	return nil
}

func newDoctorResult(a *console.App, r *doctor.Report, given []string, m formats.Machine) *doctorResult {
	res := &doctorResult{
		Rehome: version(), System: runtime.GOOS + "/" + runtime.GOARCH, Clients: []doctorClient{},
		Unread: len(r.Unread), Drift: r.Drifted(), failed: r.Unread, verbose: a.Out.Verbose,
	}
	found := map[*formats.Format]bool{}
	for _, c := range r.Clients {
		found[c.Format] = true
		res.Clients = append(res.Clients, newDoctorClient(c, given, m))
	}
	for _, f := range a.Reg.All() {
		if f.Home != nil && len(f.Home.Roots(m)) > 0 && len(given) == 0 && !found[f] {
			res.absent = append(res.absent, f.Name)
		}
	}
	return res
}

func newDoctorClient(c *doctor.Client, given []string, m formats.Machine) doctorClient {
	out := doctorClient{
		Format: c.Format.Name, Stores: c.Stores, Unread: c.Unread, Sessions: c.Sessions, Bytes: c.Bytes, RawBytes: c.RawBytes,
		Records: doctorShare{c.Account.Read, c.Account.CarriedRaw}, Fields: doctorShare{c.Account.Members, c.Account.MembersRaw},
		Versions: console.NonNil(c.Versions), Tested: console.NonNil(c.Tested), Drift: console.NonNil(c.Drift), More: c.More, newer: c.Newer(),
	}
	for _, p := range c.Places {
		// A path that the user named says more than where a client keeps its stores.
		if p = belowHome(m.Home, p); len(given) == 0 && !slices.Contains(out.Places, p) {
			out.Places = append(out.Places, p)
		}
	}
	return out
}

// belowHome returns a client's folder as a path below the home folder, without the
// name of a project.
func belowHome(home, p string) string {
	at := console.HomePath(home, p)
	if at == p {
		return "(not below the home folder)"
	}
	if above, _, of := strings.Cut(at, "/projects/"); of {
		return above + "/projects/…"
	}
	return at
}

// detectCmd is what doctor was before it read sessions. It is hidden.
type detectCmd struct {
	Paths []string `arg:"" name:"path" help:"Files or folders to identify. Folders are searched for stores."`
}

func (detectCmd) Help() string {
	return `Prints each format that recognizes a path, with a score and the evidence, best match first. Only the beginning of a
file is read.

Examples:

    rehome detect store.db
    rehome detect ~/.cursor/chats --json`
}

// detectResult lists the formats of each path: schema detect-result-1. A folder
// of stores has one row per store.
type detectResult struct {
	Paths []detectedPath `json:"paths"`
}

type detectedPath struct {
	Path    string        `json:"path"`
	Matches []formatMatch `json:"matches"`
	Error   *pathError    `json:"error,omitempty"`
}

type formatMatch struct {
	Format   string   `json:"format"`
	Title    string   `json:"title"`
	Score    int      `json:"score"`
	Evidence []string `json:"evidence"`
}

type pathError struct {
	Message string `json:"message"`
	Hint    string `json:"hint,omitempty"`
}

// Run identifies every path, and continues after one that fails.
func (c *detectCmd) Run(a *console.App) error {
	res := &detectResult{Paths: []detectedPath{}}
	var failed []error
	for _, path := range c.Paths {
		rows, err := detect(a, path)
		res.Paths = append(res.Paths, rows...)
		if err != nil {
			row := detectedPath{Path: path, Matches: []formatMatch{}}
			row.Error = &pathError{err.Error(), formats.Hint(err)}
			res.Paths = append(res.Paths, row)
			failed = append(failed, err)
		}
	}
	if err := a.Ctx.Err(); err != nil {
		return err
	}
	if err := a.Out.Print(a.Ctx, res); err != nil {
		return err
	}
	if len(failed) > 0 {
		return console.Printed(errors.Join(failed...))
	}
	return nil
}

// detect identifies the stores at and below a path.
func detect(a *console.App, path string) ([]detectedPath, error) {
	var rows []detectedPath
	for found, err := range convert.Stores(a.Ctx, a.Reg, path, "", nil) {
		if err != nil {
			return rows, err
		}
		row := detectedPath{Path: filepath.Join(path, found.Rel), Matches: []formatMatch{}}
		if found.Rel == "." {
			row.Path = path
		}
		for _, d := range found.Detected {
			row.Matches = append(row.Matches, formatMatch{d.Format.Name, d.Format.Title, d.Score, console.NonNil(d.Evidence)})
		}
		rows = append(rows, row)
	}
	return rows, nil
}
