package cli

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"iter"
	"slices"
	"strconv"
	"time"

	"rehome/cmd/internal/console"
	"rehome/cmd/internal/prose"
	"rehome/cmd/internal/screen"
	"rehome/formats"
	"rehome/formats/loss"
	"rehome/formats/session"
	"rehome/formats/store"
)

type showCmd struct {
	Src []string `arg:"" optional:"" help:"Files, stores, PATH#ID, or sessions on this machine (an id, an id prefix, or words from a title, as rehome ls prints them). Use - to read from stdin."`

	Last    bool   `group:"Which sessions:" help:"Use the newest session of the current directory as SRC"`
	Project string `group:"Which sessions:" placeholder:"DIR" help:"Print the sessions of this folder and its subfolders, of SRC or of this machine"`
	Client  string `group:"Which sessions:" rare:"" aliases:"agent" placeholder:"CLIENT" help:"Print the sessions of this client: cursor-cli, cursor-sdk, cursor-ide, ... (cursor for all three)"`
	Since   string `group:"Which sessions:" rare:"" placeholder:"WHEN" help:"Print the sessions changed since WHEN: 2026-11-01, yesterday, \"3 days\", 12h, ..."`
	Turns   string `group:"Which sessions:" placeholder:"RANGE" help:"Print only these turns: 3, 2-5, 7-, or -3 for the last three"`

	Tools      string `group:"What to include:" enum:"brief,full,none" default:"brief" placeholder:"HOW" help:"Print tool calls and results: brief (default), full or none"`
	Thinking   bool   `group:"What to include:" help:"Also include the model's reasoning; with --format html, unfold it"`
	NoThinking bool   `group:"What to include:" rare:"" help:"With --format html, leave out the model's reasoning (folded by default)"`
	All        bool   `group:"What to include:" help:"Also include internal records of the client: context, snapshots, logs"`
	History    bool   `group:"What to include:" rare:"" aliases:"branches" help:"Also include abandoned turns, as branches"`

	Format  string `group:"Output:" enum:"text,markdown,html,json" default:"text" placeholder:"FORM" help:"Output format: text (default), markdown, html (a page to send), or json (canonical lines)"`
	Out     string `group:"Output:" placeholder:"DIR" help:"Write a Markdown file for each session to this folder; with --format html, a page. FILE.html is the page of one session."`
	Full    bool   `group:"Output:" rare:"" help:"With --format html, do not shorten long texts"`
	Yes     bool   `group:"Output:" rare:"" help:"With --format html, write what looks like a secret"`
	Replace bool   `group:"Output:" rare:"" help:"With --out, overwrite files that differ"`
	NoPager bool   `group:"Output:" help:"Do not use a pager"`

	console.RedactFlags

	Live bool `group:"Advanced:" help:"Read stores that are in use directly, not from a copy (requires their -wal and -shm files)"`
}

func (showCmd) Help() string {
	return `On a terminal, long output goes through $PAGER (default: less), and Markdown in answers is rendered. Control
characters in the session are escaped. A stream from stdin is printed as it arrives. Times are local in text output and
UTC in Markdown. Anything that cannot be read is reported on stderr; -v prints the full list.

--format html writes one page without scripts, which needs no network: to send, to attach to a ticket, to print. As a page
is made to be sent, one that holds what looks like a secret is not written without --redact or --yes.

--json is --format json: each session as lines of JSON (schema canonical-1), its head first, then its messages.

Examples:

    rehome show --last
    rehome show 5d0b2b7e --turns -2 --tools full
    rehome show 5d0b2b7e --redact --out session.html
    rehome show 5d0b2b7e --format markdown > session.md
    rehome show --project . --out notes
    agent -p --output-format stream-json "tidy up" | rehome show -`
}

// Validate rejects combinations of flags that the grammar allows.
func (c *showCmd) Validate() error {
	refuse := func(what, hint string) error { return &formats.Error{Err: errors.New(what), Hint: hint} }
	if _, err := prose.ParseTurns(c.Turns); err != nil {
		return refuse("--turns: "+err.Error(), "try 3, 2-5, 7-, or -3 for the last three")
	}
	if _, err := parseTime(c.Since, time.Unix(0, 0)); err != nil {
		return err
	}
	switch {
	case len(c.Src) == 0 && !c.Last && !c.filtered():
		return refuse("SRC is missing", "name a session, a store or a file, or pass --last; `rehome ls` lists sessions")
	case len(c.Src) > 0 && c.Last:
		return refuse("--last cannot be combined with SRC", "omit one of them")
	case c.Last && c.filtered():
		return refuse("--last cannot be combined with --project, --client or --since", "omit --last, or the others")
	case slices.Contains(c.Src, console.StdinName) && (len(c.Src) > 1 || c.Out != "" && !pageFile(c.Out) || c.filtered()):
		return refuse("- cannot be combined with another SRC, --out or a selection of sessions", "save stdin to a file first")
	case c.Out != "" && c.Format == "json":
		return refuse("--out writes Markdown, not JSON", "omit --format; `rehome convert --to canonical` writes a folder of JSON lines")
	case pageFile(c.Out) && c.Format != "html" && c.Format != "text":
		return refuse("--out FILE.html writes a page", "omit --format, or name a folder")
	case (c.Full || c.Yes) && !c.html():
		return refuse("--full and --yes have no effect without --format html", "omit them; --tools full prints whole results")
	case c.NoThinking && !c.html():
		return refuse("--no-thinking has no effect without --format html", "omit it; only pages have the model's reasoning without --thinking")
	case c.NoThinking && c.Thinking:
		return refuse("--thinking cannot be combined with --no-thinking", "omit one of them")
	case c.Replace && c.Out == "":
		return refuse("--replace has no effect without --out", "omit it, or pass --out DIR")
	}
	return nil
}

// html reports whether the output is a page.
func (c *showCmd) html() bool { return c.Format == "html" || pageFile(c.Out) }

// filtered reports whether flags select the sessions.
func (c *showCmd) filtered() bool { return c.Project+c.Client+c.Since != "" }

// Run prints sessions. From stdin, which cannot be listed first, it prints all of them.
func (c *showCmd) Run(a *console.App) error {
	format := c.Format
	if a.Out.JSON {
		if format == "markdown" || format == "html" || c.Out != "" {
			return console.Usage(&formats.Error{Op: "show", Err: errors.New("--json cannot be combined with Markdown, HTML or --out"),
				Hint: "for show, --json means --format json"})
		}
		format = "json"
	}
	turns, err := prose.ParseTurns(c.Turns)
	if err != nil {
		return err
	}
	if pageFile(c.Out) {
		format = "html"
	}
	v := &viewer{App: a, cmd: c, format: format, turns: turns}
	if slices.Contains(c.Src, console.StdinName) {
		return v.showStdin()
	}
	list, err := c.targets(a)
	if err != nil {
		return err
	}
	switch {
	case format == "html":
		return v.pages(list)
	case c.Out != "":
		return v.export(list)
	}
	return v.showAll(list)
}

// view returns the options for reading a store to print it. Secrets are withheld.
func (v *viewer) view(note loss.Sink) formats.View {
	return formats.View{Secrets: formats.WithholdSecrets, OnOmit: func(store.SidecarItem) {}, OnLoss: note, OnNotice: v.Out.Remark,
		Verbose: v.Out.Verbose, Live: v.cmd.Live}
}

// show prints the decoded sessions, and reports on stderr what could not be read.
func (v *viewer) show(decode decodeFunc) error { return v.page([]decodeFunc{decode}) }

// showAll prints the sessions of several sources.
func (v *viewer) showAll(list []source) error {
	var decoders []decodeFunc
	for _, src := range list {
		decode := v.storeDecoder(src)
		decoders = append(decoders, func(ctx context.Context, view formats.View) iter.Seq2[*session.Session, error] {
			v.source = src.path
			return decode(ctx, view)
		})
	}
	return v.page(decoders)
}

// page prints what some decoders yield, through one pager. An error of one of
// them does not keep the others from being printed.
func (v *viewer) page(decoders []decodeFunc) error {
	ctx, w, done := v.Out.Paged(v.Ctx, v.format != "json" && !v.cmd.NoPager && !v.streaming)
	counting := &countingWriter{w: w}
	shownAny := false
	var err error
	for _, decode := range decoders {
		one := v.print(ctx, counting, decode, &shownAny)
		if err = errors.Join(err, one); one != nil && (ctx.Err() != nil || counting.err != nil) {
			break
		}
	}
	if err == nil {
		err = ctx.Err()
	}
	if err != nil && v.Ctx.Err() == nil && ctx.Err() != nil {
		err = context.Cause(ctx) // the user closed the pager
	}
	if err = done(err); err != nil && counting.n > 0 {
		err = console.Printed(err) // part of the output is on stdout already
	}
	if err == nil && !shownAny {
		return &formats.Error{At: v.source, Err: errors.New("no sessions found")}
	}
	v.losses()
	return err
}

// print prints what a decoder yields.
func (v *viewer) print(ctx context.Context, w *countingWriter, decode decodeFunc, shownAny *bool) error {
	turns, err := v.resolveTurns(ctx, decode)
	if err != nil {
		return err
	}
	for s, err := range decode(ctx, v.view(v.lost.Add)) {
		if err != nil {
			return err
		}
		if w.n > 0 && v.format != "json" {
			if _, err := w.Write([]byte("\n")); err != nil {
				return err
			}
		}
		*shownAny = true
		if err := v.write(w, s, turns); err != nil {
			return err
		}
	}
	return nil
}

// pick returns the selected turns of a session, without branches unless they are wanted.
func (v *viewer) pick(s *session.Session, turns prose.Turns) *session.Session {
	if !v.cmd.History {
		s = prose.WithoutBranches(s)
	}
	return turns.Pick(s)
}

// write prints the selected turns of a session.
func (v *viewer) write(w io.Writer, s *session.Session, turns prose.Turns) error {
	linear := v.format == "html" && turns.All() && !v.cmd.History
	if !linear {
		s = v.pick(s, turns)
	}
	o := prose.Options{
		Tools: prose.Detail(v.cmd.Tools), Thinking: v.cmd.Thinking, All: v.cmd.All, Uncounted: v.preview, Source: v.source,
		Streaming: v.streaming, Partial: !v.turns.All(), Digests: v.digests, Linear: linear,
		Palette: v.Out.Palette, Width: v.width(),
	}
	var err error
	switch v.format {
	case "json":
		err = writeLines(w, s, v.streaming)
	case "markdown":
		err = prose.Markdown(w, s, o) // may be shared, so times are UTC
	case "html":
		err = v.writePage(w, s, o)
	default:
		o.Zone = zone(v.Out.Getenv)
		err = prose.Text(w, s, o)
	}
	return v.turnsError(err)
}

// width returns the width of the terminal or, without one, the value of COLUMNS.
func (v *viewer) width() int {
	if !console.IsTerminal(v.Out.Stdout) {
		if n, err := strconv.Atoi(v.Out.Getenv("COLUMNS")); err == nil && n >= 20 && n <= 10_000 {
			return n
		}
	}
	return console.Columns(v.Out.Stdout)
}

// zone returns the user's time zone.
func zone(getenv func(string) string) *time.Location {
	if name := getenv("TZ"); name != "" {
		if l, err := time.LoadLocation(name); err == nil {
			return l
		}
	}
	return time.Local
}

// maxLosses is how many lines report losses without -v.
const maxLosses = 2

// losses reports what could not be shown, most severe first, and what is left out because its
// client does not send it.
func (v *viewer) losses() {
	list := v.lossLines()
	for i, l := range list {
		if i == maxLosses-1 && len(list) > maxLosses && !v.Out.Verbose {
			v.Out.Remark(fmt.Sprintf("and %d other kinds of loss; -v lists them", len(list)-i))
			return
		}
		v.Out.Remark(l)
	}
	for _, l := range v.lost.Groups() {
		if l.Code == loss.EventUnsent && v.cmd != nil && !v.cmd.History && v.format != "html" {
			v.Out.Remark(fmt.Sprintf("left out: %s %s (%s); --history prints them", screen.Grouped(l.Count), l.What, l.Code))
		}
	}
}

// lossLines returns a line for each kind of what could not be shown, most severe first.
func (v *viewer) lossLines() (out []string) {
	for kind := loss.Unreadable; kind >= loss.Missing; kind-- {
		for _, l := range v.lost.Groups() {
			if l.Kind == kind {
				out = append(out, fmt.Sprintf("%s: %s %s (%s)", l.Kind, screen.Grouped(l.Count), l.What, l.Code))
			}
		}
	}
	return out
}

// countingWriter counts the bytes written, and keeps the first error.
type countingWriter struct {
	w   io.Writer
	n   int64
	err error
}

func (c *countingWriter) Write(b []byte) (int, error) {
	n, err := c.w.Write(b)
	c.n += int64(n)
	c.err = cmp.Or(c.err, err)
	return n, err
}
