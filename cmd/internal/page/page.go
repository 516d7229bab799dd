// Package page writes a session as one static HTML page, which needs nothing but itself:
// no script, no network. Everything foreign on it passes through package markup. It holds
// one message in memory at a time, and a line for each turn.
package page

import (
	"bufio"
	"cmp"
	"crypto/sha256"
	"embed"
	"encoding/base64"
	"io"
	"iter"
	"math"
	"regexp"
	"slices"
	"strings"
	"time"

	"rehome/cmd/internal/page/markdown"
	"rehome/cmd/internal/page/markup"
	"rehome/cmd/internal/prose"
	"rehome/cmd/internal/screen"
	"rehome/formats/session"
)

// files are the fragments that a page is made of, and their stylesheet.
//
//go:embed page.html page.css
var files embed.FS

func file(name string) string {
	b, _ := files.ReadFile(name) // it is part of the program
	return string(b)
}

// Options configure a page.
type Options struct {
	prose.Options
	Full       bool                                               // cut nothing
	NoThinking bool                                               // leave out reasoning; with Thinking, it is not folded
	Child      func(id string) iter.Seq2[*session.Session, error] // decodes a subagent; its result is nil if it is not to be shown
	Client     func(agent string) string                          // names a client
	Losses     func() []screen.Safe                               // what could not be shown, asked at the end
}

// Write writes a page.
func Write(w io.Writer, s *session.Session, o Options) error {
	o.Digests = true
	p := &writer{o: o, output: &output{
		Template: markup.ParseTemplate(file("page.html")), w: bufio.NewWriterSize(w, 64<<10), last: math.MinInt, turn: "conversation", shown: map[string]bool{s.ID: true},
	}}
	if err := p.walk(s); err != nil {
		return err
	}
	p.foot(s)
	return p.Flush()
}

// walk writes the messages of a session. What calls hold is cut here, not there.
func (p *writer) walk(s *session.Session) error {
	o := p.o.Options
	o.NoHints, o.Thinking = true, !p.o.NoThinking
	if o.Tools == prose.Brief {
		o.Tools = prose.Full
	}
	return prose.Walk(prose.Tap(s, func(m *session.Message) { p.at = m.At }), o, p)
}

// writer is the renderer of a page.
type writer struct {
	*output
	o     Options
	depth int // of subagents
	model string
	open  bool          // a turn is open
	plain bool          // it has no heading
	at    session.Stamp // of the message
	day   string        // of the last time that was shown
}

// output is what the writers of a session and of its subagents share.
type output struct {
	markup.Template
	w        *bufio.Writer
	err      error
	last     int             // the highest number of a turn so far
	again    int             // how many turns had another number
	messages int             // that have an id
	shown    map[string]bool // the sessions that are on the page
	outline  []entry         // of the first turns
	prompt   bool            // the last turn has no prompt yet
	turn     markup.HTML     // id of the turn
	changed  []change        // of the first files
	sums     sums
}

// Flush writes what is buffered.
func (p *writer) Flush() error {
	if p.err == nil {
		p.err = p.w.Flush()
	}
	return p.err
}

func (p *output) add(h markup.HTML) {
	if p.err == nil {
		_, p.err = p.w.WriteString(string(h))
	}
}

func (p *output) fill(name string, slots ...markup.HTML) { p.add(p.Fill(name, slots...)) }

// maxTitle limits the length of titles, since some clients use the whole prompt.
const maxTitle = 400

func title(s string) markup.HTML {
	words := screen.Cut(screen.Visible(strings.Join(strings.Fields(s), " ")), maxTitle)
	if words == "" {
		words = "Untitled session"
	}
	return markup.Safe(words)
}

// Head begins the page, or a subagent.
func (p *writer) Head(s *session.Session) {
	p.model = s.Model
	if p.depth > 0 {
		return
	}
	style := file("page.css")
	sum := sha256.Sum256([]byte(style))
	p.fill("head", "title", title(s.Title), "client", markup.Text(p.o.Client(s.Agent)), "facts", p.facts(s, true),
		"css", markup.Trusted(style), "hash", markup.Trusted(base64.StdEncoding.EncodeToString(sum[:])))
}

// home matches the home folder at the beginning of a path.
var home = regexp.MustCompile(`^(/home/[^/]+|/Users/[^/]+|/root|[A-Za-z]:\\Users\\[^\\]+)`)

// facts returns what is known of a session: what is above the conversation, or below it.
func (p *writer) facts(s *session.Session, above bool) (out markup.HTML) {
	about := *s
	about.Workspace, about.Folders = home.ReplaceAllString(s.Workspace, "~"), nil
	for _, f := range s.Folders {
		about.Folders = append(about.Folders, home.ReplaceAllString(f, "~"))
	}
	for _, f := range p.o.Facts(&about) {
		value := markup.Safe(f.Value)
		if f.Name == "digest" {
			value = markup.Safe(prose.HeadDigest(s)) // with the names of folders as they are
		}
		if f.Name == "time" {
			p.day = ""
			from, to := p.stamp(s.Created), p.stamp(s.Updated)
			if value = cmp.Or(from, to) + " UTC"; strings.Contains(string(f.Value), " to ") {
				value = from + " to " + to + " UTC"
			}
		}
		if slices.Contains([]screen.Safe{"folder", "model", "time", "missing"}, f.Name) == above && f.Name != "client" {
			out += p.Fill("fact", "name", markup.Safe(f.Name), "value", value)
		}
	}
	return out
}

// Turn begins a turn.
func (p *writer) Turn(t *session.Turn) {
	p.endTurn()
	p.open, p.plain, p.day = true, false, ""
	facts := p.o.TurnFacts(t, p.model)
	about, n := p.stamp(t.Start), markup.Int(t.Number)
	if t.Start.Known() {
		if facts = facts[1:]; len(facts) > 0 { // the first was this time
			about += " · "
		}
	}
	about += markup.Safe(screen.Join(facts, " · "))
	if p.depth > 0 {
		p.fill("inner-turn", "number", n, "about", about)
	} else {
		id := p.id(t.Number)
		p.fill("turn", "id", id, "number", n, "about", about)
		p.turn = id
		p.sums.turn(t, p.model)
		if p.prompt = len(p.outline) < maxOutline; p.prompt {
			p.outline = append(p.outline, entry{id: id, number: n})
		}
	}
	if t.Error != "" {
		p.fill("error", "text", markup.Text(t.Error))
	}
}

// id returns an id that no other element has: turns of branches have the same numbers.
func (p *output) id(number int) markup.HTML {
	id := "turn-" + markup.Int(number)
	if number > p.last {
		p.last = number
		return id
	}
	p.again++
	return id + "-" + markup.Int(p.again+1)
}

// begin opens a turn for what is before the first one.
func (p *writer) begin() {
	if !p.open {
		p.open, p.plain = true, true
		p.fill("start")
	}
}

func (p *writer) endTurn() {
	if p.open {
		p.open = false
		p.fill("turn-end")
	}
}

// Divider writes a line across the page.
func (p *writer) Divider(words screen.Safe) {
	p.begin()
	p.fill("divider", "text", markup.Safe(words))
}

// Note writes a line about what is not shown.
func (p *writer) Note(words screen.Safe) {
	p.begin()
	p.fill("note", "text", markup.Safe(words))
}

// Digest ends a turn with the digest of its messages.
func (p *writer) Digest(words screen.Safe) {
	p.begin()
	p.fill("digest", "text", markup.Safe(words))
}

// Prompt writes what the user typed, as it was typed.
func (p *writer) Prompt(text string) {
	p.begin()
	if p.depth == 0 && p.prompt {
		p.prompt = false
		p.outline[len(p.outline)-1].text = beginning(text)
	}
	shown, more := p.cutText(strings.Trim(text, "\n"))
	p.fill("prompt", "time", p.time(), "text", fenced(shown))
	p.add(p.more(more))
}

// Answer writes what the model answered.
func (p *writer) Answer(text string) { p.markdown("answer", text, "time", p.time()) }

// Thinking writes the model's reasoning, folded unless it was asked for.
func (p *writer) Thinking(text string) {
	open := markup.HTML("")
	if p.o.Thinking {
		open = ` open=""`
	}
	p.markdown("thinking", text, "open", open)
}

// time returns when a message was sent, once, with a link to it.
func (p *writer) time() markup.HTML {
	at := p.stamp(p.at)
	if at == "" {
		return ""
	}
	p.at = session.Stamp{}
	p.messages++
	return p.Fill("at", "id", markup.Int(p.messages), "time", at)
}

// stamp returns a time, after a tilde if it is inferred: with the day, unless it is that of
// the time before.
func (p *writer) stamp(at session.Stamp) markup.HTML {
	if !at.Known() {
		return ""
	}
	day, shown := at.Time().Format(time.DateOnly), at.Time().Format("15:04")
	if day != p.day {
		p.day, shown = day, day+" "+shown
	}
	if at.Inferred() {
		shown = "~" + shown
	}
	return p.Fill("time", "at", markup.Text(at.Time().Format(time.RFC3339)), "time", markup.Text(shown))
}

// Summary writes the summary of a compaction, folded.
func (p *writer) Summary(text string) {
	p.markdown("summary", text, "begin", markup.Safe(beginning(text)))
}

// File writes the name of a file that the client saved.
func (p *writer) File(f *session.File) {
	p.Note(screen.Visible(home.ReplaceAllString(f.Path, "~")) + ", " + prose.Digest(session.AppendFile(nil, f)))
}

// End writes the todos and the plan.
func (p *writer) End(s *session.Session) {
	if p.depth > 0 {
		return
	}
	p.endTurn()
	items := markup.HTML("")
	for _, t := range s.Todos {
		items += p.Fill("item", "text", markup.Safe(prose.Checkbox(t.Status))+" "+markup.Text(t.Content))
	}
	if items != "" {
		p.fill("todos", "items", items)
	}
	if strings.TrimSpace(s.Plan) != "" {
		shown, more := p.cutText(s.Plan)
		p.fill("plan", "text", markdown.Render(strings.Trim(shown, "\n"), 3))
		p.add(p.more(more))
	}
}
